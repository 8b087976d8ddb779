"""Proves that pages have the anatomy a reader relies on: a question, a takeaway, addresses, a place in the index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from evidence.links import FRONT_MATTER, Page

ROOT = Path(__file__).parents[1]
ASIDE = {"authors", "about", "reference"}  # folders that answer no symptom of a model
PATHS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))


def read(path: str) -> Page:
    return Page(path, (ROOT / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", PATHS)
def test_front_matter(path: str) -> None:
    """It is YAML (a bare colon in a description would make all of it vanish) and says what search engines show."""
    head = FRONT_MATTER.match(read(path).text)
    assert head, "no front matter"
    meta = yaml.safe_load(head[0].strip("-\n"))
    assert set(meta) >= {"title", "description", "section"}
    assert 40 <= len(meta["description"]) <= 160, len(meta["description"])
    assert re.fullmatch(r"\d+(\.\d+)*", str(meta["section"]))


@pytest.mark.parametrize("path", PATHS)
def test_anatomy(path: str) -> None:
    body = FRONT_MATTER.sub("", read(path).text).strip()
    heading, question, takeaway, *_ = body.split("\n\n")
    assert re.fullmatch(r"# .+ \{#[a-z0-9-]+\}", heading)
    assert question.endswith("?")
    assert "\n" not in question
    assert takeaway.startswith("> **Takeaway.** ")


@pytest.mark.parametrize("path", PATHS)
def test_headings_have_addresses_of_their_own(path: str) -> None:
    """Without an explicit id, correcting a number in a heading would break every link to it."""
    page = read(path)
    inside = [range(fence.line, fence.end + 1) for fence in page.fences]
    lines = enumerate(page.text.split("\n"), 1)
    headings = [line for number, line in lines if line.startswith("#") and not any(number in one for one in inside)]
    ids = [re.search(r"\{#([a-z0-9-]+)\}$", heading) for heading in headings]
    assert all(ids), [heading for heading, found in zip(headings, ids, strict=True) if not found]
    names = [found[1] for found in ids if found]
    assert len(set(names)) == len(names)


def test_every_chapter_page_is_in_the_index_by_symptom() -> None:
    index = {link.path for link in read("docs/symptoms.md").links}
    chapters = [path for path in PATHS if path.count("/") == 2 and path.split("/")[1] not in ASIDE]
    assert chapters
    assert set(chapters) <= index


def test_every_page_is_linked_from_the_home_page() -> None:
    linked = {link.path for link in read("docs/index.md").links} | {"docs/index.md"}
    assert set(PATHS) <= linked


def test_each_section_of_the_article_is_found_by_its_number() -> None:
    """One row a section, that leads to a heading that exists."""
    page = read("docs/sections.md")
    rows = re.findall(r"^\| section (\d\.\d) \|.*$", page.text, re.MULTILINE)
    assert rows == [
        f"{chapter}.{part}" for chapter, parts in enumerate((3, 4, 4, 4, 3, 4, 4), 1) for part in range(1, parts + 1)
    ]
    for link in page.links:
        assert link.path, link
        heading = link.target.partition("#")[2]
        assert (ROOT / link.path).is_file(), link.target
        assert not heading or f"{{#{heading}}}" in read(link.path).text, link.target
