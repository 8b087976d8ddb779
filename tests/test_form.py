"""A page's place among the others is a number, or the page is refused with its line."""

from __future__ import annotations

import pytest

from evidence import form
from evidence.links import Page


def said(head: str) -> list[str]:
    return [str(problem) for problem in form.problems(Page("docs/a.md", f"---\ntitle: A\n{head}\n---\n\n# A\n"))]


@pytest.mark.parametrize("place", ["4", "4.2", "20.10.1", '"4.10"', "'4'", "4.2 "])
def test_a_place_is_a_number_with_points(place: str) -> None:
    assert said(f"section: {place}") == []


@pytest.mark.parametrize("place", ["abc", '""', "20.x", "2026-01-01", "4.", ".4", '"4', "4,2", ""])
def test_any_other_place_is_refused(place: str) -> None:
    told = f"section: {place!r} is no place among the pages; write for example 'section: 4.2'"
    assert said(f"section: {place}") == [f"docs/a.md:3: {told}"]


def test_only_the_front_matter_has_a_place() -> None:
    assert list(form.problems(Page("docs/a.md", "# A\n\nsection: abc\n"))) == []
