"""Proves that each source a page cites has one entry in the bibliography, and that the list holds them all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pybtex.database import BibliographyData, parse_file

DOCS = Path(__file__).parents[1] / "docs"
ARXIV = re.compile(r"arxiv\.org/abs/(\d{4}\.\d{4,5}|[a-z-]+/\d{7})")


@pytest.fixture(scope="module")
def entries() -> BibliographyData:
    found: BibliographyData = parse_file(str(DOCS / "reference/references.bib"))
    return found


def test_every_cited_paper_has_an_entry(entries: BibliographyData) -> None:
    known = {entry.fields["eprint"] for entry in entries.entries.values() if "eprint" in entry.fields}
    cited = {
        (number, path.relative_to(DOCS).as_posix())
        for path in DOCS.rglob("*.md")
        for number in ARXIV.findall(path.read_text(encoding="utf-8"))
    }
    assert cited
    assert {(number, page) for number, page in cited if number not in known} == set()


def test_a_source_has_one_entry(entries: BibliographyData) -> None:
    addresses = [entry.fields["url"] for entry in entries.entries.values()]
    titles = [entry.fields["title"].lower() for entry in entries.entries.values()]
    assert len(set(addresses)) == len(addresses)
    assert len(set(titles)) == len(titles)


def test_the_page_lists_the_entries_and_no_other(entries: BibliographyData) -> None:
    text = (DOCS / "reference/references.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- (.+?) \[([^\]]+)\]\((\S+?)(?: \"[^\"]+\")?\)\. (\d{4})\. `(\w+)`$", text, re.MULTILINE)
    assert {key for *_, key in listed} == set(entries.entries)
    for authors, title, url, year, key in listed:
        fields = entries.entries[key].fields
        assert (title, year, url) == (fields["title"].strip("{}"), fields["year"], fields["url"]), key
        named = entries.entries[key].persons["author"][0].last_names[-1].strip("{}")
        assert named in authors, key
