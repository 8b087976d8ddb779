"""What of a page's form would be published as it stands, or skipped without a word, whatever its numbers say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidence.links import Page
from evidence.project import Problem

TRAP = re.compile(r"<!--[-\s]*pytest|-+8<-+")
TABLE = re.compile(r"^[^\n]*\|[^\n]*\n[ \t>|:]*-[ \t>|:-]*(?:\n[^\n]*\|[^\n]*)*", re.MULTILINE)


def problems(page: Page) -> Iterator[Problem]:
    """What would be published as it stands, or skipped without a word."""
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
