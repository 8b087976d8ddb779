"""A page's front matter is read as MkDocs reads it, and its place is a number, or it is refused with its line."""

from __future__ import annotations

import pytest

from evidence import form
from evidence.links import Page


def said(head: str) -> list[str]:
    return [str(problem) for problem in form.problems(Page("docs/a.md", f"---\ntitle: A\n{head}\n---\n\n# A\n"))]


@pytest.mark.parametrize("place", ["4", "4.2", "20.10.1", '"4.10"', "'4'", "4.2 "])
def test_a_place_is_a_number_with_points(place: str) -> None:
    assert said(f"section: {place}") == []


@pytest.mark.parametrize("place", ["abc", '""', "20.x", "2026-01-01", "4.", ".4", "4,2", ""])
def test_any_other_place_is_refused(place: str) -> None:
    told = f"section: {place!r} is no place among the pages; write for example 'section: 4.2'"
    assert said(f"section: {place}") == [f"docs/a.md:3: {told}"]


def test_only_the_front_matter_has_a_place() -> None:
    assert list(form.problems(Page("docs/a.md", "# A\n\nsection: abc\n"))) == []


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("---\ntitle: A: B\n---\n", 2, "that is no YAML: mapping values are not allowed here"),
        ("---\ntitle: A\ntags: *b\n---\n", 3, "that is no YAML: found undefined alias 'b'"),
        ("---\ntitle: A\nday: 2026-13-45\n---\n", 1, "that is no YAML: month must be in 1..12"),
        (
            "---\ntitle: \x01\n---\n",
            1,
            "that is no YAML: unacceptable character #x0001: special characters are not allowed",
        ),
        ("---\n- title\n---\n", 1, "is made of lines like 'title: Growth'"),
        ("---\n\n---\n", 1, "is made of lines like 'title: Growth'"),
        ("---\ntitle: A\n\n# A\n", 1, "begins and ends with a line that is --- and no more"),
        ("--- \ntitle: A\n---\n", 1, "begins and ends with a line that is --- and no more"),
    ],
)
def test_front_matter_that_would_be_printed_is_refused(text: str, line: int, told: str) -> None:
    assert [str(problem) for problem in form.problems(Page("docs/a.md", text))] == [
        f"docs/a.md:{line}: front matter {told}"
    ]


@pytest.mark.parametrize(
    "text", ["# A\n", "# A\n\n---\n\nB\n", "---\ntitle: A\n---\n", '---\ntitle: "A: B"\ntags:\n- a\n---\n']
)
def test_other_text_is_not(text: str) -> None:
    assert list(form.problems(Page("docs/a.md", text))) == []
