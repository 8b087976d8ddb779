"""What MkDocs or a browser would show otherwise than the checks read it is refused, with its line."""

from __future__ import annotations

import pytest

from evidence import markup
from evidence.links import Page


def said(head: str) -> list[str]:
    return [str(problem) for problem in markup.problems(Page("docs/a.md", f"---\ntitle: A\n{head}\n---\n\n# A\n"))]


@pytest.mark.parametrize("place", ["4", "4.2", "20.10.1", '"4.10"', "'4'", "4.2 "])
def test_a_place_is_a_number_with_points(place: str) -> None:
    assert said(f"section: {place}") == []


@pytest.mark.parametrize("place", ["abc", '""', "20.x", "2026-01-01", "4.", ".4", "4,2", ""])
def test_any_other_place_is_refused(place: str) -> None:
    told = f"section: {place!r} is no place among the pages; write for example 'section: 4.2'"
    assert said(f"section: {place}") == [f"docs/a.md:3: {told}"]


def test_only_the_front_matter_has_a_place() -> None:
    assert list(markup.problems(Page("docs/a.md", "# A\n\nsection: abc\n"))) == []


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("---\ntitle: A: B\n---\n", 2, "that is no YAML: mapping values are not allowed here"),
        ('---\ntitle: A\nsection: "4\n---\n', 3, "that is no YAML: found unexpected end of stream"),
        ("---\ntitle: A\ntags: *b\n---\n", 3, "that is no YAML: found undefined alias 'b'"),
        ("---\ntitle: A\nday: 2026-13-45\n---\n", 1, "that is no YAML: month must be in 1..12"),
        (
            "---\ntitle: \x01\n---\n",
            1,
            "that is no YAML: unacceptable character #x0001: special characters are not allowed",
        ),
        ("---\n- title\n---\n", 2, "is made of lines like 'title: Growth', one for each"),
        ("---\n\n---\n", 2, "is made of lines like 'title: Growth', one for each"),
        ("---\ntitle: >-\n  It is 0.97\n---\n", 3, "is made of lines like 'title: Growth', one for each"),
        ('---\n"title": A\n---\n', 2, "is made of lines like 'title: Growth', one for each"),
        ("---\ntitle : A\n---\n", 2, "is made of lines like 'title: Growth', one for each"),
        ("---\n{title: A, section: 4}\n---\n", 2, "is made of lines like 'title: Growth', one for each"),
        ("---\ntitle: A\n...\n---\n", 3, "is made of lines like 'title: Growth', one for each"),
        ("---\ntitle: A\n# 0.97\n---\n", 3, "is made of lines like 'title: Growth', one for each"),
        ("---\ntitle: A\n\n# A\n", 1, "begins and ends with a line that is --- and no more"),
        ("--- \ntitle: A\n---\n", 1, "begins and ends with a line that is --- and no more"),
    ],
)
def test_front_matter_that_would_be_printed_is_refused(text: str, line: int, told: str) -> None:
    assert f"docs/a.md:{line}: front matter {told}" in [str(one) for one in markup.problems(Page("docs/a.md", text))]


@pytest.mark.parametrize(
    "line",
    [
        "title: >-",
        "title: |",
        "title: *a",
        "title: 7",
        "title:",
        'title: "\\x30.\\x39\\x37"',
        'description: "a \\"b\\""',
        "description: a <b",
        "description: a & b",
        "description: a > b",
    ],
)
def test_a_title_is_a_text_on_its_line_as_it_is_to_be_shown(line: str) -> None:
    text = f"---\nx: &a y\n{line}\n---\n"
    told = f"{line.partition(':')[0]}: a text on one line, without < > & and quotes in it, as it is to be shown"
    assert [str(one) for one in markup.problems(Page("docs/a.md", text))] == [f"docs/a.md:3: {told}"]


def test_a_line_that_is_taken_for_front_matter_is_refused() -> None:
    told = "docs/a.md:1: MkDocs would take this line for front matter; begin with --- or with text"
    for line in ("title: 0.97", "My-Title_2:x", "a:\tb"):
        assert [str(one) for one in markup.problems(Page("docs/a.md", f"{line}\n\n# A\n"))] == [told]


HEAD = """---
title: A
description: "A: b, c's — and d"
section: 4.2
search:
  boost: 0.3
  exclude: true
---
"""


@pytest.mark.parametrize("text", ["# A\n", "# A\n\n---\n\nB\n", "A b: c\n", "---\ntitle: A\n---\n", HEAD])
def test_other_text_is_not(text: str) -> None:
    assert list(markup.problems(Page("docs/a.md", text))) == []


def lines(text: str) -> list[int]:
    return [problem.line for problem in markup.problems(Page("docs/a.md", f"# A\n\n{text}\n"))]


@pytest.mark.parametrize(
    "text",
    [
        '<input value="0.97">',
        "<meter value=0.97>",
        '<ol start="97">',
        '<iframe srcdoc="0.97"></iframe>',
        "<script>document.body.append(1)</script>",
        "<SCRIPT/x>",
        "<img alt=0.97>",
        '<p title="x">',
        "<div alt=0.97>",
        '<div class="a" aria-valuetext="0.97">',
        '<div onclick="x()">',
        '<p\nstyle="x">',
        "a <b>c</b>",
        "<x:y>",
        '<div markdown="1" data-x=7>',
    ],
)
def test_html_that_is_not_read_is_refused(text: str) -> None:
    assert lines(text) == [3]


@pytest.mark.parametrize(
    "text",
    [
        '<div class="a" id="b" data-turn="c" markdown="1" role="status">x</div>',
        '<details markdown="1" open><summary>x</summary>',
        "<br/> <br /> <kbd>x</kbd> <SUB>x</SUB> <sup>x</sup> <q>x</q> <p>x</p>",
        "<https://x.org> <http://x.org> <mailto:a@b.org>",
        "a < b > c, 1 <2 and <3>, `<input value=1>`",
        "```html\n<script>x</script>\n```",
        "<!-- <script> -->",
    ],
)
def test_html_that_is_read_passes(text: str) -> None:
    assert lines(text) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("<!--> 0.97 -->", 3),
        ("<!---> 0.97 -->", 3),
        ("<!-- x --!> 0.97 -->", 3),
        ("x\n\n    <!-- 0.97 -->", 5),
        ("x\n\n\t<!-- 0.97 -->", 5),
        ("x\n\n  \t<!-- 0.97 -->", 5),
        ("```text\n<!--> -->\n```\n<!--> -->", 6),
    ],
)
def test_a_comment_that_would_be_shown_is_refused(text: str, line: int) -> None:
    assert lines(text) == [line]


@pytest.mark.parametrize(
    "text",
    ["<!-- x -->", "   <!-- x -->", "<!--\nx\n-->", "    <!-- illustration: a shape -->", "```text\n<!--> -->\n```"],
)
def test_a_comment_that_is_not_shown_passes(text: str) -> None:
    assert lines(text) == []


@pytest.mark.parametrize(
    "sign", list("\ufeff\u200b\u202e\u2066\u00ad\u0085\u2028\u2029\ue000\uffff\u115f\u1160\u2800\u3164\uffa0")
)
def test_what_is_not_seen_is_refused(sign: str) -> None:
    (problem,) = markup.problems(Page("docs/a.md", f"# A\n\nb{sign}c\n"))
    assert problem.line == 3
    assert problem.message.startswith(f"U+{ord(sign):04X} (")
    assert problem.message.endswith("is not seen, or moves what is; leave it out")


@pytest.mark.parametrize(
    ("sign", "told"),
    [
        ("‱", "is not read; write %"),
        ("٪", "is not read; write %"),
        ("﹪", "is not read; write %"),
        ("Ⅻ", "is a numeral that is not read; write digits"),
        ("三", "is a numeral that is not read; write digits"),
        ("零", "is a numeral that is not read; write digits"),
        ("㉑", "is a numeral that is not read; write digits"),
        ("𐄙", "is a numeral that is not read; write digits"),
    ],
)
def test_signs_that_are_not_read_are_refused(sign: str, told: str) -> None:
    (problem,) = markup.problems(Page("docs/a.md", f"# A\n\n`{sign}`\n"))
    assert problem.message.endswith(told)


def test_other_signs_pass() -> None:
    assert lines("é — – − × ≥ ½ ⅚ ² ⁴ ₂ ① ❷ ٣ ９ 𝟗 中 ✓ ⚠️ αβ ‰ % \u00a0 \u2009") == []
