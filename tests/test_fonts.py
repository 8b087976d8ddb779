"""Proves that the math font, of which only a part is shipped, has every character that a formula of the site shows."""

from __future__ import annotations

import html
import re
from pathlib import Path

from fontTools.ttLib import TTFont

from browsing import ROOT

MATH = re.compile(r"<math.*?</math>", re.DOTALL)
VARIABLE = re.compile(r"<mi>(.)</mi>")  # a single letter is set in the italic of its own code point
UNSEEN = {" ", "\n", "\xa0", "\u2061", "\u2062", "\ufe00", "\u200b"}  # spaces and function application have no glyph

LACKING = {"∼", "𝒩", "𝟏"}  # not in the font as it is packaged for the web; the reader's own fonts have them


def italic(letter: str) -> str:
    if letter == "h":
        return "\u210e"
    for first, last, start in (("A", "Z", 0x1D434), ("a", "z", 0x1D44E), ("α", "ω", 0x1D6FC)):
        if first <= letter <= last:
            return chr(start + ord(letter) - ord(first))
    return letter


def test_the_math_font_has_all_that_formulas_show(site: Path) -> None:
    font = TTFont(ROOT / "docs/assets/fonts/stix-two-math-subset.woff2").getBestCmap()
    formulas = [formula for path in site.rglob("*.html") for formula in MATH.findall(path.read_text("utf-8"))]
    assert formulas
    shown = {character for formula in formulas for character in html.unescape(re.sub(r"<[^>]+>", "", formula))}
    shown |= {italic(letter) for formula in formulas for letter in VARIABLE.findall(html.unescape(formula))}
    assert sorted(character for character in shown - UNSEEN - LACKING if ord(character) not in font) == []
