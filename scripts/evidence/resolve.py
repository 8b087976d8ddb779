"""Writes each page out in full: its snippets' code, their output, and an assertion for each stated number.

The resolved chapters are what pytest-codeblocks extracts and runs, and what a reader's "check it yourself" copies.
Beside each lies a line map, so that a failure is reported where a person can mend it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evidence.check import Claim, Findings
from evidence.links import Fence, Page
from evidence.project import Project
from evidence.record import Record
from evidence.snippet import Snippet, name_of

HEADING = "# Stated numbers"


@dataclass
class Chapter:
    """A resolved page. `origin` has for each of its lines the file and line it comes from."""

    page: str
    lines: list[str] = field(default_factory=list)
    origin: list[tuple[str, int]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def add(self, lines: Iterable[str], path: str, first: int, step: int = 1) -> None:
        for offset, line in enumerate(lines):
            self.lines.append(line)
            self.origin.append((path, first + step * offset))


def assertions(claims: Iterable[Claim], snippet: str) -> list[tuple[str, Claim]]:
    """One line of Python for each claim that rests on the snippet's own variables."""
    found = []
    for claim in claims:
        if claim.source != f"snippets/{snippet}.py" or not claim.verdict.assertion:
            continue
        link, test = claim.link, claim.verdict.assertion
        where = f"{link.page}:{link.line}"
        if claim.verdict.kind == "condition":
            message = repr(f"{where} states: {' '.join(link.text.split())}")
            found.append((f"assert {test}, {message}", claim))
        else:
            name = claim.link.fragment.partition("/")[0]
            said = " ".join(link.text.split()).replace("{", "{{").replace("}", "}}")
            message = "f" + repr(f"{where} states {said}; {name} is {{{name}}}")
            found.append((f"assert {test}, {message}", claim))
    return found


def chapter(page: Page, found: Findings, snippets: Mapping[str, Snippet], records: Mapping[str, Record]) -> Chapter:
    """The page with its embedded snippets in place; those it only cites follow at the end."""
    result = Chapter(page.path)
    claims = found.of(page.path)
    cited = [name_of(claim.source) for claim in claims if claim.source.endswith(".py")]
    starts: dict[int, str | Fence] = {fence.line: fence for fence in page.fences}
    for link in page.links:
        if link.role == "snippet" and link.path:
            name = name_of(link.path)
            if name in snippets and name not in starts.values():
                starts[link.line] = name
    source = page.text.split("\n")
    number = 1
    while number <= len(source):
        here = starts.get(number)
        if isinstance(here, Fence):
            info = "text" if here.reason else here.info
            marks = _marks(here.code)
            block = [marks + info, *here.code.split("\n")[:-1], marks]
            result.add(["", *block, ""], page.path, number - 1)
            number = here.end
        elif here is not None:
            _embed(result, here, claims, snippets, records)
        else:
            result.add([source[number - 1]], page.path, number)
        number += 1
    for name in dict.fromkeys(cited):
        if name in snippets and name not in starts.values():
            _embed(result, name, claims, snippets, records)
    return result


def _embed(
    result: Chapter,
    name: str,
    claims: Iterable[Claim],
    snippets: Mapping[str, Snippet],
    records: Mapping[str, Record],
) -> None:
    script = snippets[name]
    source = script.source.rstrip("\n")
    marks = _marks(source)
    result.add(["", f"{marks}python"], script.rel, 1, 0)
    result.add(source.split("\n"), script.rel, 1)
    result.add([marks, ""], script.rel, 1, 0)
    asserted = assertions(claims, name)
    if asserted:  # right below the code: a block in between, its output for example, would take them instead
        result.add(["<!--pytest-codeblocks:cont-->", "```python", HEADING], script.rel, 1, 0)
        for line, claim in asserted:
            result.add([line], claim.link.page, claim.link.line)
        result.add(["```", ""], script.rel, 1, 0)
    if name in records:
        output = records[name].output.rstrip("\n")
        marks = _marks(output)
        result.add([f"{marks}text", *output.split("\n"), marks, ""], script.rel, 1, 0)


def _marks(content: str) -> str:
    """The backticks of a fence that nothing in its content closes."""
    return "`" * max(3, 1 + max(map(len, re.findall(r"`{3,}", content)), default=0))


def write_all(
    project: Project, found: Findings, snippets: Mapping[str, Snippet], records: Mapping[str, Record]
) -> list[Path]:
    """Writes every resolved chapter and its line map below `.cache/resolved/`, and removes those of pages now gone."""
    folder = project.cache / "resolved"
    written = []
    for page in found.pages.values():
        resolved = chapter(page, found, snippets, records)
        path = folder / Path(page.path).relative_to("docs")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(resolved.text, encoding="utf-8")
        path.with_suffix(".lines.json").write_text(json.dumps(resolved.origin), encoding="utf-8")
        written.append(path)
    for path in sorted(folder.rglob("*.md")):
        if path not in written:
            path.unlink()
            path.with_suffix(".lines.json").unlink(missing_ok=True)
    return written
