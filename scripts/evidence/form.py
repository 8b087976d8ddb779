"""What of a page's form would be published as it stands, or skipped without a word, whatever its numbers say."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from evidence.links import FRONT_MATTER, Page
from evidence.project import Problem

TRAP = re.compile(r"<!--[-\s]*pytest|-+8<-+")
TABLE = re.compile(r"^[^\n]*\|[^\n]*\n[ \t>|:]*-[ \t>|:-]*(?:\n[^\n]*\|[^\n]*)*", re.MULTILINE)

SECTION = re.compile(r"^section:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
PLACE = re.compile(r"(['\"]?)\d+(?:\.\d+)*\1")


def problems(page: Page) -> Iterator[Problem]:
    """What would be published as it stands, or skipped without a word."""
    yield from _front_matter(page)
    for fence in page.fences:
        if fence.reason is not None:
            if not fence.reason:
                yield Problem(page.path, fence.line, "an illustration needs a reason: <!-- illustration: why -->")
        elif fence.looks_python and not fence.collected:
            yield Problem(
                page.path,
                fence.line,
                f"pytest-codeblocks would skip this Python block ({fence.marks}{fence.info}) without a word; open it "
                "with ```python, or mark it: <!-- illustration: reason -->",
            )
        elif fence.looks_python and "__name__" in fence.code:
            yield Problem(page.path, fence.line, "tests __name__: the guarded part would pass without being run")
        elif fence.info in {"sh", "bash"}:
            yield Problem(page.path, fence.line, "pytest-codeblocks would run this in a shell; open it with ```console")
        if fence.end > page.text.count("\n") + 1:
            yield Problem(page.path, fence.line, f"{fence.marks}{fence.info} is never closed, and swallows the rest")
    for match in TRAP.finditer(page.text):
        line = page.line(match.start())
        if not any(fence.line < line < fence.end for fence in page.fences) or "8<" in match[0]:
            yield Problem(
                page.path,
                line,
                f"{match[0]}: blocks are skipped, joined or left out by this; link the snippet",
            )
    text = page.prose
    for match in re.finditer(r"\]\(", text):
        linked = any(link.start <= match.start() < link.end for link in page.links)
        if not linked:
            yield Problem(page.path, page.line(match.start()), "a link that would not render: an unmatched ](")
    for rows in TABLE.finditer(page.text):
        yield from _cells(page, rows)
        for link in page.links:
            if rows.start() <= link.start < rows.end() and re.search(r"(?<!\\)\|", page.text[link.start : link.end]):
                yield Problem(page.path, link.line, "a | inside a link breaks the table row; write \\|")


def _front_matter(page: Page) -> Iterator[Problem]:
    """MkDocs prints what it cannot read as text, and the page then has no title and no place, without a word."""
    if not page.text.startswith("---"):
        return
    head = FRONT_MATTER.match(page.text)
    if not head:
        yield Problem(page.path, 1, "front matter begins and ends with a line that is --- and no more")
        return
    try:
        read = yaml.safe_load(head[0][4:-4])
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        said = str(getattr(error, "problem", None) or error).splitlines()[0]
        yield Problem(page.path, 2 + mark.line if mark else 1, f"front matter that is no YAML: {said}")
        return
    if not isinstance(read, dict):
        yield Problem(page.path, 1, "front matter is made of lines like 'title: Growth'")
        return
    for match in SECTION.finditer(head[0]):
        if not PLACE.fullmatch(match[1]):
            told = f"section: {match[1]!r} is no place among the pages; write for example 'section: 4.2'"
            yield Problem(page.path, page.line(match.start()), told)


def _cells(page: Page, rows: re.Match[str]) -> Iterator[Problem]:
    """Cells beyond those of the head are dropped, and a | in a formula cuts its cell, both without a word."""
    if any(fence.line <= page.line(rows.start()) <= fence.end for fence in page.fences):
        return
    for start, formula in page.formulas:
        if rows.start() <= start < rows.end() and re.search(r"(?<!\\)\|", formula):
            yield Problem(page.path, page.line(start), f"a | in the formula {formula} cuts the cell; write \\vert")
    lines = page.prose[rows.start() : rows.end()].split("\n")
    counts = [len(re.findall(r"(?<!\\)\|", line.strip().strip("|"))) for line in lines]
    for number, count in enumerate(counts):
        if count != counts[0]:
            line = page.line(rows.start()) + number
            yield Problem(page.path, line, f"a row of {count + 1} cells in a table of {counts[0] + 1} columns")
