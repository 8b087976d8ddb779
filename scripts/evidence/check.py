"""Judges every statement of every page against the records. Runs nothing."""

from __future__ import annotations

import csv
import math
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from evidence import beside, form, ledger, markup, record, snippet, tables
from evidence.links import Link, Page
from evidence.project import NOT_UTF8, Problem, Project
from evidence.record import Damaged, Record
from evidence.snippet import Snippet
from evidence.statement import Malformed, Verdict, judge, lookup, numerals

SOURCES = {  # where a definition may be taken from: papers, and the documentation or code that defines it
    "aclanthology.org", "arxiv.org", "cs.toronto.edu", "docs.nvidia.com", "docs.pytorch.org", "doi.org", "github.com",
    "huggingface.co", "ieeexplore.ieee.org", "jmlr.org", "numpy.org", "openreview.net", "papers.nips.cc",
    "proceedings.mlr.press", "proceedings.neurips.cc", "pytorch.org", "w3.org",
}  # fmt: skip
SHOWN_WITH = {"assets", "overrides"}  # folders of docs/ whose files the pages are shown with


class Unrecorded(Exception):
    """A link to a snippet that has no usable record; whoever loads the records says so."""


@dataclass(frozen=True)
class Claim:
    """A stated number or phrase with what was measured. `measured` is None for a definition."""

    link: Link
    evidence: str
    verdict: Verdict

    @property
    def source(self) -> str:
        """The file that bears it out, without the variable in it."""
        return self.evidence.partition("#")[0]

    def to_json(self) -> dict[str, Any]:
        v = self.verdict
        return {
            "page": self.link.page,
            "line": self.link.line,
            "text": self.link.text,
            "stated": v.stated,
            "kind": v.kind,
            "evidence": self.evidence,
            "measured": v.measured,
            "tolerance": v.tolerance,
            "used": v.used if v.used is None or math.isfinite(v.used) else None,
        }


@dataclass
class Findings:
    """What a check of the whole project found."""

    pages: dict[str, Page] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    quotable: set[str] = field(default_factory=set)

    @cached_property
    def _by_page(self) -> dict[str, list[Claim]]:
        found: dict[str, list[Claim]] = {page: [] for page in self.pages}
        for claim in self.claims:
            found[claim.link.page].append(claim)
        return found

    def of(self, page: str) -> list[Claim]:
        """The claims of a page; to be asked when all are in."""
        return self._by_page.get(page, [])


def committed(project: Project, snippets: Mapping[str, Snippet]) -> tuple[dict[str, Record], list[Problem]]:
    """The records as they stand in the checkout, and what is wrong with them: missing, damaged, stale, orphaned."""
    records: dict[str, Record] = {}
    problems = []
    for name, script in snippets.items():
        folder, again = project.snippets / name, f"run: python3 scripts/dev.py run {name}"
        try:
            found = record.load(folder)
        except FileNotFoundError:
            problems.append(Problem(script.rel, 0, f"has no record; {again}"))
            continue
        except Damaged as error:
            problems.append(Problem(project.rel(folder / "record.json"), 0, f"{error}; {again}"))
            continue
        records[name] = found
        try:
            current = record.inputs(project, script)
        except OSError:
            continue  # a missing input is said by the snippet's own problems
        if found.name != name or dict(found.inputs) != current:
            problems.append(Problem(script.rel, 0, f"was changed after its record was made; {again}"))
    for path in sorted(project.snippets.rglob("record.json")):
        name = path.parent.relative_to(project.snippets).as_posix()
        if name.removesuffix(".old") not in snippets:  # a swap cut short is mended by the next refresh
            problems.append(Problem(project.rel(path), 0, "a record without its snippet; delete the folder"))
    return records, problems


def check(project: Project, snippets: Mapping[str, Snippet], records: Mapping[str, Record]) -> Findings:
    """Every page against the given records (those committed, or those of a build that is still to be accepted)."""
    found = Findings(problems=ledger.problems(project), quotable=ledger.quotable(project))
    for script in snippets.values():
        found.problems += script.problems(project)
    for path in sorted(project.docs.rglob("*")):
        rel = project.rel(path)
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            found.problems.append(Problem(rel, 0, "would be published unchecked; a page is a file, and no link to one"))
        elif path.is_file() and path.suffix not in {".md", ".bib"} and rel.split("/")[1] not in SHOWN_WITH:
            found.problems.append(Problem(rel, 0, "would be published unchecked; a page ends in .md"))
    for path in filter(Path.is_file, project.pages()):
        content = path.read_bytes()
        try:
            text = content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            found.problems.append(Problem(project.rel(path), line, f"{NOT_UTF8} ({error})"))
            continue
        judge_page(project, Page(project.rel(path), text), snippets, records, found)
    return found


def judge_page(
    project: Project, page: Page, snippets: Mapping[str, Snippet], records: Mapping[str, Record], found: Findings
) -> None:
    """Adds the page, its claims and its problems to what was found."""
    found.pages[page.path] = page
    found.problems += [*form.problems(page), *markup.problems(page)]
    for link in page.links:
        try:
            claim = _claim(project, link, snippets, records)
        except Unrecorded:
            continue  # one problem of the snippet, not one for each number it bears
        except Malformed as error:
            found.problems.append(Problem(link.page, link.line, f"[{link.text}]({link.target}): {error}"))
            continue
        if claim:
            found.problems += _altered(page, claim)
            found.claims.append(claim)
            if not claim.verdict.holds:
                found.problems.append(_refuted(claim, snippets))


def _altered(page: Page, claim: Claim) -> Iterator[Problem]:
    """Digits, signs, scales or a % that touch the link change the number that a reader sees."""
    link = claim.link
    if claim.verdict.kind in {"condition", "definition"} or isinstance(claim.verdict.stated, str):
        return
    if beside.alters(page.text, link.start, link.end):
        yield Problem(
            page.path, link.line, f"[{link.text}]: the text that touches this link changes its value; link all of it"
        )


def _claim(
    project: Project, link: Link, snippets: Mapping[str, Snippet], records: Mapping[str, Record]
) -> Claim | None:
    """The claim a link makes, if it makes one; raises `Malformed` for a link that leads nowhere."""
    path, role = link.path, link.role
    if role == "plain":
        kind = posixpath.splitext(path or "")[1]
        # what is published under data/ is made by the build, which finds a dead link to it
        ours = path is not None and kind in {".py", ".csv", ".svg"} and not path.startswith("docs/data/")
        missing = ours and not (project.root / str(path)).is_file()
        if missing or ("snippets/" in link.target and "://" not in link.target):
            up = "../" * link.page.count("/")
            raise Malformed(f"does not lead into snippets/; from this page the path begins {up}snippets/")
        if link.image:
            raise Malformed("an image is a figure that a snippet wrote, in snippets/")
        return None
    if role == "definition":
        source = (link.title or "").partition(":")[2].strip()
        if not source:
            raise Malformed('a definition names its source: "definition: Ba et al. 2016, Eq. 4"')
        if not re.match(r"https?://[^/]", link.target):
            raise Malformed("a definition links to its source, https://…")
        host = urlsplit(link.target).netloc.lower().removeprefix("www.")
        if host not in SOURCES:
            known = ", ".join(sorted(SOURCES))
            raise Malformed(f"{host} is not among the places a definition is taken from ({known})")
        stated = link.text if len(numerals(link.text)) != 1 else numerals(link.text)[0][0]
        return Claim(link, link.target, Verdict("definition", stated, None, None, None, True, ""))
    assert path is not None
    values, cited = _evidence(project, path, snippets, records)
    if cited and values is not None and role in {"statement", "table"} and not _says_where_from(project.root / path):
        raise Malformed(f"{path} does not say where it is from; do so above its head, in lines that begin with #")
    if role == "file" and (link.title or "").split(":")[0] == "table":
        raise Malformed("a table stands in a paragraph of its own")
    if role == "figure":
        _figure(link, path, records)
    if role == "table":
        _table(link, path, values)
    if role != "statement":
        return None
    if values is None:
        raise Malformed(f"{path} holds no values; a number links to a .py or .csv file")
    return Claim(link, f"{path}#{link.fragment}", judge(link.text, link.title, link.fragment, values, cited))


def _evidence(
    project: Project, path: str, snippets: Mapping[str, Snippet], records: Mapping[str, Record]
) -> tuple[dict[str, Any] | None, bool]:
    """The values to look up, and whether they are cited; raises `Malformed` if there is nothing."""
    inner = path.removeprefix("snippets/")
    if path.endswith(".py"):
        name = inner[:-3]
        if name not in snippets:
            raise Malformed(f"there is no snippet {path}{snippet.meant(name, snippets)}")
        if name not in records:
            raise Unrecorded(name)
        return dict(records[name].values), False
    folder, file = posixpath.split(inner)
    if folder in snippets:  # a file that a snippet wrote
        if folder not in records:
            raise Unrecorded(folder)
        if file not in records[folder].files:
            has = ", ".join(sorted(records[folder].files))
            raise Malformed(f"snippets/{folder}.py wrote no {file} (it has: {has})")
        content, cited = records[folder].files[file], False
    else:
        if not (project.root / path).is_file():
            raise Malformed(f"there is no file {path}")
        content, cited = (project.root / path).read_bytes(), True
    try:
        return tables.by_key(content.decode("utf-8-sig")) if path.endswith(".csv") else None, cited
    except (UnicodeDecodeError, csv.Error) as error:
        raise Malformed(f"{path} is no CSV in UTF-8: {error}") from None


def _says_where_from(path: Path) -> bool:
    return any(tables.citation(path.read_text(encoding="utf-8-sig")))


def _table(link: Link, path: str, values: dict[str, Any] | None) -> None:
    if values is None:
        raise Malformed(f"{path} holds no rows; a table is made of a .csv file or of a snippet's variable")
    if path.endswith(".py"):
        tables.of_value(lookup(values, link.fragment)[0], tables.heads(link.title))
    elif link.fragment:
        raise Malformed("a table shows the whole file; leave out the #")
    elif values:
        row = next(iter(values.values()))
        tables.chosen([list(row[0] if isinstance(row, list) else row)], tables.heads(link.title))


def _figure(link: Link, path: str, records: Mapping[str, Record]) -> None:
    if not path.endswith(".svg"):
        raise Malformed("a figure is an SVG that a snippet wrote")
    if not link.text.strip():
        raise Malformed("a figure needs an alt text that states its conclusion")
    folder, file = posixpath.split(path.removeprefix("snippets/"))
    if folder not in records:
        raise Malformed("a figure is an SVG that a snippet wrote, not a drawing")
    drawn = (link.title or "").startswith("diagram: ")  # shows how parts are joined, so there is no data
    if not drawn and file[:-4] + ".csv" not in records[folder].files:
        raise Malformed(f"the snippet writes no {file[:-4]}.csv: the data of a figure stands beside it")


def _refuted(claim: Claim, snippets: Mapping[str, Snippet]) -> Problem:
    v, link = claim.verdict, claim.link
    path = claim.source
    name = snippet.name_of(path)
    name = name if name in snippets else posixpath.dirname(name)
    if v.kind == "condition":
        said = f"[{link.text}] does not hold: {claim.evidence} is False"
    else:
        band = f"tolerance {v.tolerance:g}" if v.tolerance else "must be equal"
        share = f", {v.used:.0%} of it used" if v.used is not None and math.isfinite(v.used) else ""
        percent = f" ({v.stated:g})" if "%" in link.text else ""  # what is compared
        said = f"states {link.text}{percent}, measured {_digits(v)} ({band}{share}), from {claim.evidence}"
    again = f"run: python3 scripts/dev.py run {name}" if name in snippets else f"compare {path} with its source"
    return Problem(link.page, link.line, f"{said}; mend the sentence or the code, and {again}")


def _digits(verdict: Verdict) -> str:
    """The measured value with a few more digits than were stated."""
    return f"{verdict.measured:.7g}" if isinstance(verdict.measured, float) else repr(verdict.measured)


def load(project: Project) -> tuple[dict[str, Snippet], dict[str, Record], Findings]:
    """Snippets, committed records, and every page judged by them."""
    snippets = snippet.load_all(project)
    records, problems = committed(project, snippets)
    found = check(project, snippets, records)
    found.problems += problems
    return snippets, records, found
