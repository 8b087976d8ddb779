"""Whether the text around a linked number changes the value that a reader sees: a sign, a scale, a unit."""

from __future__ import annotations

import html
import re
import unicodedata

BEFORE = re.compile(
    r"[\d.]$|\d,$|(?:^|[^\w)\]}])[-−–+]\$?$|√\s?\(?$|(?<![\w-])(?:[Mm]inus|[Nn]egative|log|ln|sqrt|root of)\s\(?$"
)
AFTER = re.compile(
    r"\d|[.,]\d|[eE^]\d|[kKMGTB]\b|!|\)?\s?(?:[%‰]|×\s?10|\^)|[\s-](?:per[\s-]?(?:cent|mille)\b|hundred|thousand|"
    r"million|billion|trillion|tenth|hundredth)|\[[\d.]"
)
UNSEEN = re.compile(r"<[^<>]*>|[*_~`\\]+|\{[^{}]*\}")  # what a reader does not see
NEAR = 80  # characters, with their markup


def alters(text: str, start: int, end: int) -> bool:
    """Whether what touches the link from `start` to `end` changes its number."""
    before, after = text[max(0, start - NEAR) : start], text[end : end + NEAR]
    return bool(BEFORE.search(_shown(before)) or AFTER.match(_shown(after)))


def _shown(text: str) -> str:
    """The text as a reader sees it: entities read, without emphasis and tags."""
    return unicodedata.normalize("NFKC", html.unescape(UNSEEN.sub("", text)))
