"""Proves that the authors' tutorial does what it says: its page holds, its mistake goes red with the words it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Tiny
from evidence import check, compare, record
from evidence.links import Page
from evidence.project import Project

ROOT = Path(__file__).parents[1]
NAME = "authors/gaussian_norm"


@pytest.fixture
def tutorial() -> Page:
    return Page("docs/authors/tutorial.md", (ROOT / "docs/authors/tutorial.md").read_text(encoding="utf-8"))


def shown(page: Page, info: str) -> str:
    return next(fence.code for fence in page.fences if fence.info == info)


@pytest.fixture
def project(tiny: Tiny, tutorial: Page) -> Tiny:
    """A project that followed the tutorial: its snippet with the committed record, and its page."""
    tiny.write(f"snippets/{NAME}.py", (ROOT / f"snippets/{NAME}.py").read_text(encoding="utf-8"))
    record.save(record.load(ROOT / "snippets" / NAME), tiny.project.snippets / NAME, tiny.project.cache / "parts")
    tiny.page(shown(tutorial, "markdown"), "docs/authors/my-page.md")
    return tiny


def test_the_page_it_shows_holds(project: Tiny) -> None:
    assert project.problems() == []
    assert project.unbound() == []
    assert [claim.verdict.kind for claim in project.found().claims] == ["setting", "statistical", "condition"]


def test_the_mistake_it_makes_goes_red_in_its_words(project: Tiny, tutorial: Page) -> None:
    page = shown(tutorial, "markdown").replace("[8.0]", "[9.0]")
    assert page != shown(tutorial, "markdown")
    project.page(page, "docs/authors/my-page.md")
    assert project.problems() == shown(tutorial, "text").splitlines()


def test_a_number_without_its_link_is_refused(project: Tiny, tutorial: Page) -> None:
    link = next(link for link in Page("docs/x.md", shown(tutorial, "markdown")).links if link.text == "8.0")
    page = shown(tutorial, "markdown")
    project.page(page[: link.start] + link.text + page[link.end :], "docs/authors/my-page.md")
    assert [text for _, text in project.unbound()] == ["8.0"]


def test_the_diff_it_shows_is_far_below_any_tolerance(tutorial: Page) -> None:
    old, new = (float(line.split(":")[1].strip(", ")) for line in shown(tutorial, "diff").splitlines())
    real = record.load(ROOT / "snippets" / NAME)
    assert real.values["mean_norm"] == old
    assert old != new
    assert compare.close(old, new)


def test_every_kind_is_shown_live() -> None:
    """The grammar page shows each kind of statement once for real, and the source beside it is the same."""
    page = Page("docs/authors/links.md", (ROOT / "docs/authors/links.md").read_text(encoding="utf-8"))
    _, _, found = check.load(Project(ROOT))
    kinds = {claim.verdict.kind for claim in found.of(page.path)}
    assert kinds == {"exact", "rounded", "statistical", "ratio", "cited", "setting", "definition", "condition"}
    text = " ".join(page.text.split())
    examples = [fence.code for fence in page.fences if fence.info == "markdown" and "chapter/" not in fence.code]
    assert len(examples) == len(kinds)
    for example in examples:
        sentence = " ".join(example.split()).rstrip(".")
        assert text.count(sentence) == 2, f"shown as source but not live: {sentence}"
