"""What MkDocs or a browser would show otherwise than the checks read it: front matter, HTML, comments, characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

import yaml

from evidence.links import FRONT_MATTER, Page
from evidence.project import Problem

FIELD = re.compile(r"(?P<key>[A-Za-z_][\w-]*):(?P<value> .*)?| +[A-Za-z_][\w-]*: .*")  # or one below it
HEAD = re.compile(r"[A-Za-z0-9_-]+:[ \t]*\S")  # what MkDocs takes for front matter though no --- is around it
PLACE = re.compile(r"(['\"]?)\d+(?:\.\d+)*\1")
TAG = re.compile(r"<(?P<name>[A-Za-z][\w:-]*)(?P<rest>(?:[\s/][^<>]*)?)>")
HTML = {"br", "details", "div", "kbd", "p", "q", "sub", "summary", "sup"}
ATTRIBUTES = re.compile(r"(?:\s+(?:class|id|markdown|open|role|data-[a-z-]+)(?:=\"[^\"]*\")?)*\s*/?")
COMMENT = re.compile(r"<!--(?:-?>)|--!>|^(?: {4}| *\t)[ \t]*<!--(?!\s*illustration:)", re.MULTILINE)
READ = re.compile("[¼-¾⅐-⅞↉①-⓿❶-➓₀-₉⁰¹²³⁴-⁹]")  # numerals beyond ASCII that the checks list
PERCENT = {"‱", "٪", "﹪"}  # per ten thousand, and what looks like %
BLANK = {"\u115f", "\u1160", "\u2800", "\u3164", "\uffa0"}  # letters that show nothing


def problems(page: Page) -> Iterator[Problem]:
    """What would be shown without having been read."""
    yield from _front_matter(page)
    for match in TAG.finditer(page.prose):
        known = match["name"].lower() in HTML and ATTRIBUTES.fullmatch(match["rest"])
        if not known and not match[0].startswith(("<http:", "<https:", "<mailto:")):
            told = (
                f"{' '.join(match[0].split())} is no HTML that is read here ({', '.join(sorted(HTML))}); write Markdown"
            )
            yield Problem(page.path, page.line(match.start()), told)
    for match in COMMENT.finditer(page.text):
        line = page.line(match.start())
        if not any(fence.line < line < fence.end for fence in page.fences):
            yield Problem(
                page.path, line, f"{match[0].strip()} would be shown, or end before it is read to; <!-- … -->"
            )
    for match in re.finditer(r"[^\x00-\x7f]", page.text):
        if why := _odd(match[0]):
            name = unicodedata.name(match[0], "without a name")
            yield Problem(page.path, page.line(match.start()), f"U+{ord(match[0]):04X} ({name}) {why}")


def _odd(sign: str) -> str | None:
    if sign in BLANK or unicodedata.category(sign) in {"Cc", "Cf", "Co", "Cn", "Zl", "Zp"}:
        return "is not seen, or moves what is; leave it out"
    if sign in PERCENT:
        return "is not read; write %"
    if not READ.match(sign) and unicodedata.category(sign) in {"Nl", "No", "Lo"} and sign.isnumeric():
        return "is a numeral that is not read; write digits"
    return None


def _front_matter(page: Page) -> Iterator[Problem]:
    """MkDocs prints what it cannot read as text, and the page then has no title and no place, without a word."""
    if not page.text.startswith("---"):
        if HEAD.match(page.text):
            yield Problem(page.path, 1, "MkDocs would take this line for front matter; begin with --- or with text")
        return
    head = FRONT_MATTER.match(page.text)
    if not head:
        yield Problem(page.path, 1, "front matter begins and ends with a line that is --- and no more")
        return
    lines = head[0].split("\n")[1:-2]
    try:
        read = yaml.safe_load("\n".join(lines))
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        said = str(getattr(error, "problem", None) or error).splitlines()[0]
        yield Problem(page.path, 2 + mark.line if mark else 1, f"front matter that is no YAML: {said}")
        return
    for number, line in enumerate(lines, 2):
        field = FIELD.fullmatch(line)
        if not field:
            yield Problem(page.path, number, "front matter is made of lines like 'title: Growth', one for each")
        elif field["key"]:
            value = (field["value"] or "").strip()
            if told := _field(field["key"], value, read):
                yield Problem(page.path, number, told)


def _field(key: str, value: str, read: Any) -> str | None:
    """What is wrong with one line of the front matter."""
    if key == "section" and not PLACE.fullmatch(value):
        return f"section: {value!r} is no place among the pages; write for example 'section: 4.2'"
    if key in {"title", "description"}:
        said = read.get(key)
        if not isinstance(said, str) or not said or said not in value or re.search(r"[<>\"&]", said):
            return f"{key}: a text on one line, without < > & and quotes in it, as it is to be shown"
    return None
