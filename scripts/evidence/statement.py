"""A statement: a number (or a phrase) in a sentence, linked to the value that must bear it out.

What the link's title may say:

    (none)              an int must be equal (exact), a float must round to the digits as written (rounded)
    ±0.002  or  ±2%     a band around the number as written
    1.5 to 2.5          a band with two ends
    n=200 ±0.01         over many seeds (statistical): n must be the length of the snippet's `seeds`
    ratio 1.5 to 2.5    a ratio of two timings of one run
    setting             a parameter: equal to the variable
    definition: source  not measured: stated by the source that the link points to
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_RAISED = r"(?:(?P<super>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)|\^\{?(?P<caret>[+\-−]?\d+)\}?)"
NUMERAL = re.compile(
    r"(?<![\w.])(?<![A-Z][-‑])(?P<sign>[+\-−]?)(?P<digits>\d{1,3}(?:[,_]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    rf"(?:[eE](?P<exponent>[+\-−]?\d+))?(?:\s?(?:[×·]|\\times|\\cdot)\s?10{_RAISED})?(?!\d|\.\d)"
)
POWER = re.compile(rf"(?<![\w.])(?P<base>10|2){_RAISED}")
EMPHASIS = re.compile(r"(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")
WORDS = {
    "zero": 0, "once": 1, "one": 1, "twice": 2, "double": 2, "doubles": 2, "doubled": 2, "two": 2, "triple": 3,
    "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12,
}  # fmt: skip
PARTS = {"half": 2, "halves": 2, "halved": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10, "hundredth": 100}
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_COUNT = "|".join(WORDS)
IN_WORDS = re.compile(
    rf"\b(?:(?:(?P<count>{_COUNT})[\s-]+)?(?:(?P<part>{'|'.join(PARTS)})|(?P<scale>{'|'.join(SCALES)}))s?|"
    rf"(?P<word>{_COUNT})(?:-?fold)?)\b",
    re.IGNORECASE,
)
ALTERS = re.compile(  # what would change a number's value, beside its digits
    r"\b(?:hundred|thousand|[mbtr]+illion|dozen|half|third|quarter|tenth|hundredth|thousandth|magnitude|twice|double|"
    r"less|fewer|more|most|least|below|under|above|over|up to|bounded|never|not|minus)s?\b|"
    r"[<>&%‰％√≠≤≥－]",
    re.IGNORECASE,
)
PERCENT = re.compile(r"\s?\\?%|[\s-]per ?cent(?:age)?\b")
TITLE = re.compile(
    r"(?:(?P<setting>setting)|(?P<ratio>ratio\s+)?(?:n\s*=\s*(?P<n>[\d,]+),?\s+)?"
    r"(?:±\s?(?P<band>[\d.,]+(?:e[+-]?\d+)?)(?P<percent>\s?%)?|(?P<low>\S+)\s+to\s+(?P<high>\S+)))"
)
NOISE = 1e-6  # a float32 result below this may be rounding noise: a relative band around it means nothing


class Malformed(ValueError):
    """A statement that cannot be judged; the message says why and what to write instead."""


@dataclass(frozen=True)
class Number:
    """`value` as written, `unit` that of the last written digit (for 0.88: 0.01), `whole` if it has no decimals."""

    value: float
    unit: float
    whole: bool


@dataclass(frozen=True)
class Verdict:
    """What a statement came to. `used` is the share of the tolerance; above 1 the statement does not hold."""

    kind: str
    stated: float | str | bool
    measured: Any
    tolerance: float | None
    used: float | None
    holds: bool
    assertion: str  # Python, over the snippet's live variables


def numerals(text: str) -> list[re.Match[str]]:
    """The numerals of a text. Digits inside names (GPT-2, fp16, x_1) are none."""
    text = EMPHASIS.sub(lambda match: " " * len(match[0]), text)
    every = list(NUMERAL.finditer(text))
    scientific = [range(*match.span()) for match in every if match["super"] or match["caret"]]
    powers = [m for m in POWER.finditer(text) if not any(m.start() in span for span in scientific)]
    inside = [range(*match.span()) for match in powers]
    numbers = [m for m in every if not any(m.start() in span for span in inside)]
    return sorted(powers + numbers, key=lambda match: match.start())


def number(text: str) -> Number:
    """The one number that a link's text states, in digits or in words. A following % divides by a hundred.

    Raises `Malformed` if there is none, or more than one, or one that could be read in two ways.
    """
    found = numerals(text)
    if not found:
        return _in_words(text)
    if len(found) != 1:
        raise Malformed(f"a link states one number, and {text!r} has {len(found)}; link each by itself")
    match = found[0]
    if re.search(r"(?:(?<![A-Za-z])[-−–—‐‑]|\bminus|\bnegative)\s*$", text[: match.start()], re.IGNORECASE):
        raise Malformed(f"{text!r}: is that a negative number? write the minus right before the digits, as in -0.5")
    if re.match(r"[\^⁻⁰¹²³⁴⁵⁶⁷⁸⁹¼-¾⅐-⅞]", text[match.end() :]):
        raise Malformed(f"{text!r} cannot be read as a number; write its value in digits")
    exponent = (match["super"] or "").translate(SUPERSCRIPTS) or (match["caret"] or "").replace("−", "-")
    try:
        if "base" in match.re.groupindex:
            value = Decimal(match["base"]) ** int(exponent)
            whole, unit = int(exponent) >= 0, value if match["base"] == "10" else value / 1000
        else:
            value = Decimal(re.sub("[,_]", "", match["digits"])) * (-1 if match["sign"] in {"-", "−"} else 1)
            decimals = Decimal(1).scaleb(int(value.as_tuple().exponent))
            scale = Decimal(10) ** (int((match["exponent"] or "0").replace("−", "-")) + int(exponent or 0))
            whole = decimals == 1 and scale == 1
            value, unit = value * scale, decimals * scale
    except ArithmeticError:
        raise Malformed(f"{text!r} is beyond any number a run could give") from None
    if PERCENT.match(text, match.end()):
        value, unit, whole = value / 100, unit / 100, False
    percent = PERCENT.match(text, match.end())
    beside = ALTERS.search(text[: match.start()] + " " + text[percent.end() if percent else match.end() :])
    if beside or re.match(r"\s?[kKMGT]\b", text[match.end() :]):
        raise Malformed(f"{text!r}: what stands beside the digits changes what they say; link the digits alone")
    if not math.isfinite(value) or bool(value) != bool(float(value)):
        raise Malformed(f"{text!r} is beyond any number a run could give")
    return Number(float(value), float(unit), whole)


def _in_words(text: str) -> Number:
    """`half`, `two thirds`, `three`, `five percent`, `a thousand`. The unit of a fraction is a twentieth."""
    found = list(IN_WORDS.finditer(text))
    if len(found) != 1:
        raise Malformed(f"a link states one number, and {text!r} has {len(found)}; link each by itself")
    match = found[0]
    count = WORDS[(match["count"] or match["word"] or "one").lower()]
    part, scale = PARTS.get((match["part"] or "").lower(), 1), SCALES.get((match["scale"] or "").lower(), 1)
    share = 100 if PERCENT.match(text, match.end()) else 1
    return Number(count * scale / part / share, (scale if part == 1 else 0.05) / share, part == share == 1)


def lookup(values: dict[str, Any], fragment: str) -> tuple[Any, str]:
    """The value a fragment names (`norms/0`, `gain/pre`) and the Python expression for it.

    Raises `Malformed` for a variable that the snippet does not have.
    """
    name, *steps = (unquote(step) for step in fragment.split("/"))
    if name not in values:
        near = difflib.get_close_matches(name, values, n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else f"; it has: {', '.join(sorted(values)) or 'none'}"
        raise Malformed(f"the snippet has no recorded variable {name!r}{hint} (a tensor is none: take its .item())")
    value, expression = values[name], name
    for step in steps:
        try:
            key = next(key for key in value if str(key) == step) if isinstance(value, dict) else int(step)
            value, expression = value[key], f"{expression}[{key!r}]"
        except (StopIteration, ValueError, IndexError, TypeError):
            keys = f"; it has: {', '.join(map(str, list(value)[:12]))}" if isinstance(value, dict) else ""
            raise Malformed(f"{expression} has no entry {step!r}{keys}") from None
    return value, expression


def judge(text: str, title: str | None, fragment: str, values: dict[str, Any], cited: bool = False) -> Verdict:
    """Holds the linked `text` against the value that `fragment` names in `values`.

    Raises `Malformed` if the link states nothing that could be refuted.
    """
    value, expression = lookup(values, fragment)
    if isinstance(value, bool):
        if title:
            raise Malformed(f"{expression} is a condition; it takes no title")
        return Verdict("condition", True, value, 0, 0.0 if value else math.inf, value, expression)
    if isinstance(value, str):
        if title:
            raise Malformed(f"{expression} is a text; it takes no title")
        plain = " ".join(text.split()).strip("`*_ ")
        holds = plain == value
        return Verdict("exact", plain, value, 0, 0.0 if holds else math.inf, holds, f"{expression} == {plain!r}")
    if isinstance(values.get("seeds"), list) and len(values["seeds"]) < 2 and not (title or "").startswith("setting"):
        raise Malformed("a single seed proves nothing; give `seeds` more than one, and state n=… with a band")
    if not isinstance(value, (int, float)):
        raise Malformed(f"{expression} is a {type(value).__name__}; a link names one number, condition or text")
    if not math.isfinite(value):
        raise Malformed(f"{expression} is {value}; state it as a condition, for example `overflows = not isfinite(x)`")
    said = number(text)
    kind, band, n = _band(said, title, value)
    if n is not None:
        seeds = values.get("seeds")
        if not isinstance(seeds, list) or len(seeds) != n:
            have = f"{len(seeds)}" if isinstance(seeds, list) else "no list `seeds`"
            raise Malformed(f"the title says n={n}, the snippet has {have}")
    if band is None:
        zero = said.whole and said.value == 0  # 0.4 would round to it
        if kind == "setting" or cited or zero or (isinstance(value, int) and said.whole):
            kind = "setting" if kind == "setting" else "cited" if cited else "exact"
            holds = said.value == value
            shown = int(said.value) if said.whole else said.value
            return Verdict(kind, shown, value, 0, 0.0 if holds else math.inf, holds, f"{expression} == {shown!r}")
        band = said.unit / 2
    return _within(kind, said.value, value, band, expression)


def _within(kind: str, stated: float, value: float, band: float | tuple[float, float], expression: str) -> Verdict:
    """`band` is a half-width, or two ends. The arithmetic is the assertion's: page and test cannot disagree."""
    difference = value - stated
    if isinstance(band, tuple):
        low, high = band
        tolerance = high - stated if difference >= 0 else stated - low
        holds, test = low <= value <= high, f"{low!r} <= {expression} <= {high!r}"
    else:
        tolerance = _tidy(band)
        holds, test = abs(difference) <= tolerance, f"abs({expression} - {stated!r}) <= {tolerance!r}"
    used = abs(difference) / tolerance if tolerance else 0.0
    used = min(used, 1.0) if holds else max(used, math.nextafter(1, 2)) if tolerance else math.inf
    return Verdict(kind, stated, value, _tidy(tolerance), used, holds, test)


def _band(said: Number, title: str | None, value: float) -> tuple[str, float | tuple[float, float] | None, int | None]:
    """Kind; half-width or two ends (None: the digits as written); and n."""
    if title is None:
        return "rounded", None, None
    match = TITLE.fullmatch(title.strip())
    try:
        if not match:
            raise ValueError
        if match["setting"]:
            return "setting", None, None
        n = int(match["n"].replace(",", "")) if match["n"] else None
        if match["band"]:
            band = float(match["band"].replace(",", ""))
            if match["percent"]:
                if min(abs(said.value), abs(value)) < NOISE:
                    raise Malformed(
                        f"a relative band around {said.value:g}, a number near zero, means nothing; write ±…"
                    )
                band = abs(said.value) * band / 100
            low, high = said.value - band, said.value + band
        else:
            low, high = number(match["low"]).value, number(match["high"]).value
    except Malformed:
        raise
    except ValueError:
        raise Malformed(
            f"malformed title {title!r}; a title is ±0.01, ±2%, 1.5 to 2.5, any of them after n=200 or ratio, "
            "or setting, or definition: source"
        ) from None
    if not low < high or not low <= said.value <= high:
        raise Malformed(f"the band {low:g} to {high:g} does not hold the stated {said.value:g}")
    kind = "ratio" if match["ratio"] else "statistical" if n is not None else "rounded"
    wide = max(high - said.value, said.value - low)
    if kind == "ratio":
        if low <= 0 or high > 2.5 * low:
            raise Malformed(
                f"the band {low:g} to {high:g} says nothing about a ratio: its ends differ by over 2.5 times"
            )
    elif said.value and wide >= 10 ** math.floor(math.log10(abs(said.value))) / 2:
        raise Malformed(f"the band ±{wide:g} is wide enough to accept another leading digit of {said.value:g}")
    elif not said.value and wide >= 2 * said.unit:
        raise Malformed(f"the band ±{wide:g} is wider than the digits of a stated zero; write more or fewer digits")
    return kind, band if match["band"] else (low, high), n


def _tidy(number: float) -> float:
    """Without the last bits of binary arithmetic, so that the reader's assertion shows 0.0005."""
    return float(f"{number:.12g}")
