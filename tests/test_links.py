"""The scanner finds each link, fence, code span and formula of a page where it stands, and never fails on any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import PAGE, UP
from evidence.links import Fence, Link, Page

CODE = f"{UP}/residual/share.py"
NUMBER = f'[0.881]({CODE}#share "±0.002")'


def page(text: str) -> Page:
    return Page(PAGE, text)


def only(text: str) -> Link:
    (link,) = page(text).links
    return link


def fence(text: str) -> Fence:
    (found,) = page(text).fences
    return found


# --- links -----------------------------------------------------------------------------------------------------------


def test_a_statement_with_all_its_parts() -> None:
    link = only(f"# Title\n\nThe share is {NUMBER}, always.\n")
    assert (link.text, link.target, link.title) == ("0.881", f"{CODE}#share", "±0.002")
    assert (link.line, link.start, link.image, link.alone) == (3, 22, False, False)
    assert (link.path, link.fragment, link.role) == ("snippets/residual/share.py", "share", "statement")


@pytest.mark.parametrize(
    ("text", "role"),
    [
        (f"[share.py]({CODE})", "snippet"),
        (f"\n\n   [share.py]({CODE})   \n\nmore", "snippet"),
        (f"see [share.py]({CODE})", "file"),
        (f"[share.py]({CODE}).", "file"),
        (f"above\n[share.py]({CODE})", "file"),
        (f"[share.py]({CODE})\nbelow", "file"),
        (f"![It grows.]({UP}/residual/share/share.svg)", "figure"),
        (f'[Shares.]({UP}/residual/share/share.csv "table")', "table"),
        (f'[Shares.]({UP}/residual/share/share.csv "table: by depth")', "table"),
        (f'see [Shares.]({UP}/residual/share/share.csv "table")', "file"),
        (f"[data]({UP}/papers/rmsnorm.csv)", "file"),
        (f"[26.6]({UP}/papers/rmsnorm.csv#LayerNorm/test14)", "statement"),
        (f"[0.881]({CODE}#share)", "statement"),
        ('[1e-5](https://example.org/x.html "definition: its default")', "definition"),
        ("[text](https://example.org/snippets/x.py#y)", "plain"),
        ("[text](../why/page.md)", "plain"),
        ("[text](#anchor)", "plain"),
        ("[text](/snippets/residual/share.py#share)", "plain"),
        ("[0.881](../snippets/residual/share.py#share)", "plain"),
        ("[0.881](../../../snippets/residual/share.py#share)", "plain"),
        ("[0.881](../../snipets/residual/share.py#share)", "plain"),
    ],
)
def test_role(text: str, role: str) -> None:
    assert only(text).role == role


@pytest.mark.parametrize(
    ("before", "after", "alone"),
    [
        ("!!! note\n    ", "", True),
        ('??? info "An aside"\n    ', "\n", True),
        ('=== "Tab"\n    ', "\n\n=== ", True),
        ("!!! note\n\n    Text.\n\n    ", "\n\n    More.", True),
        ("!!! note\n    Text.\n    ", "", False),
        ("> ", "\n>\n> more", True),
        ("> text\n> ", "", False),
        ('<details markdown="1"><summary>Answer</summary>\n\n', "\n\n</details>", True),
        ("- ", "", False),
        ("- item\n\n    ", "\n", True),
        ("| a | b |\n|---|---|\n| ", " | c |", False),
        ("```text\nx\n```\n", "", True),
        ("<!-- comment -->\n", "\n<!-- comment -->", True),
    ],
)
def test_alone_where_blocks_are_nested(before: str, after: str, alone: bool) -> None:
    link = only(f"{before}[share.py]({CODE}){after}")
    assert link.alone is alone
    assert link.line == before.count("\n") + 1


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (r'[a](b.md "say \"half\" of it")', 'say "half" of it'),
        ('[a](b.md "it\'s (almost) [all] | of it")', "it's (almost) [all] | of it"),
        (r'[a](b.md "a \| b")', "a | b"),
        ('[a](b.md "two\nlines")', "two\nlines"),
        ('[a]( b.md  "spaced" )', "spaced"),
        ("[a](b.md)", None),
        ('[a](b.md "")', ""),
    ],
)
def test_title(text: str, title: str | None) -> None:
    assert only(text).title == title


@pytest.mark.parametrize(
    "text", ["two\nlines", r"a \[bracket\]", "`code`", "**bold**", "$x^2$", "a | b", r"a \| b", "½"]
)
def test_text(text: str) -> None:
    assert only(f"See [{text}]({CODE}#share).").text == text


@pytest.mark.parametrize(
    "text",
    [
        r"\[0.881](b.md)",
        "[0.881] (b.md)",
        "[0.881][b.md]",
        "[0.881](b.md 'single')",
        "[0.881](<b.md>)",
        "[0.881](b>c.md)",
        "[0.881](b(c).md)",
        "[0.881](b c.md)",
        '[0.881](b.md "never ends)',
        '[0.881](b.md "a" "b")',
        "[[0.881]](b.md)",
        "[0.881\n\n](b.md)",
        "`[0.881](b.md)`",
        "``[0.881](`b.md`)``",
        "$[0.881](b.md)$",
        "$$\n[0.881](b.md)\n$$",
        "```text\n[0.881](b.md)\n```",
        "~~~\n[0.881](b.md)\n~~~",
        "<!-- [0.881](b.md) -->",
        "<!--\n[0.881](b.md)\n-->",
    ],
)
def test_not_a_link(text: str) -> None:
    assert page(f"before {text}\n\nafter" if "\n" not in text else f"{text}\n\nafter").links == []


def test_an_escaped_bang_is_no_image() -> None:
    assert not only(r"\![0.881](b.md)").image


def test_brackets_in_the_fragment_are_part_of_the_target() -> None:
    assert only(f"[0.881]({CODE}#norms[0])").fragment == "norms[0]"


def test_a_stray_backtick_or_dollar_hides_nothing() -> None:
    assert len(page(f"A stray ` here.\n\n{NUMBER}\n\nAnd ` there.").links) == 1
    assert len(page(f"A stray $$ here.\n\n{NUMBER}\n\nAnd $$ there.").links) == 1
    assert len(page(f"It costs $5, {NUMBER}, and $6.").links) == 1
    assert len(page(f"A stray \\` here, {NUMBER}, and ` there.").links) == 1


def test_a_comment_that_is_shown_as_code_hides_nothing() -> None:
    shown = page(f"Write `<!--`, then {NUMBER}, then `-->`.")
    assert len(shown.links) == 1
    assert [span for _, span in shown.code_spans] == ["<!--", "-->"]


def test_two_links_in_one_line_and_a_path_with_a_scheme() -> None:
    links = page(f"{NUMBER} and {NUMBER} and [x](HTTPS://a.b/snippets/c.py)").links
    assert [link.start for link in links] == [0, len(NUMBER) + 5, 2 * len(NUMBER) + 10]
    assert links[2].path is None


def test_places_are_counted_from_the_first_character() -> None:
    assert only(f"\n{NUMBER}").line == 2
    assert page(f"It reads `{NUMBER}` and ${NUMBER}$ here.").links == []


# --- fences ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "info", "code", "collected"),
    [
        ("```python\nx = 1\n```", "python", "x = 1\n", True),
        ("````python\nx = '''\n```\n'''\n````", "python", "x = '''\n```\n'''\n", True),
        ("~~~python\nx = 1\n~~~", "python", "x = 1\n", False),
        ("```python \nx = 1\n```", "python ", "x = 1\n", False),
        ("```Python\nx = 1\n```", "Python", "x = 1\n", False),
        ("```py\nx = 1\n```", "py", "x = 1\n", False),
        ('```python title="a.py"\nx = 1\n```', 'python title="a.py"', "x = 1\n", False),
        ("``` { .python .annotate }\nx = 1\n```", "{ .python .annotate }", "x = 1\n", False),
        ("    ```python\n    if x:\n        y\n\n    ```", "python", "if x:\n    y\n\n", True),
        ("> ```python\n> x = 1\n> ```", "python", "x = 1\n", True),
        ("```text\n~~~\n```", "text", "~~~\n", False),
        ("~~~~md\n```python\nx\n```\n~~~\n~~~~", "md", "```python\nx\n```\n~~~\n", False),
        ("```python\nx = 1\n``` not closing\n```", "python", "x = 1\n``` not closing\n", True),
        ("```python\nx = 1", "python", "x = 1\n", True),
    ],
)
def test_fence(text: str, info: str, code: str, collected: bool) -> None:
    found = fence(f"above\n\n{text}\n")
    assert (found.line, found.info, found.code.rstrip(), found.collected) == (3, info, code.rstrip(), collected)
    assert found.looks_python is (info not in {"text", "md"})


@pytest.mark.parametrize(
    "info",
    ["python3", "py3", "ipython", "ipython3", "pycon", "pytb", "python-repl", "{.py}", "py linenums=1", "PYTHON"],
)
def test_what_a_reader_takes_for_python(info: str) -> None:
    assert fence(f"```{info}\nx\n```").looks_python


@pytest.mark.parametrize("info", ["", "text", "console", "toml title='pyproject.toml'", "mermaid", "json", "happy"])
def test_what_is_no_python(info: str) -> None:
    assert not fence(f"```{info}\nx\n```").looks_python


def test_fences_may_touch() -> None:
    assert [(one.line, one.end, one.code) for one in page("```text\na\n```\n```python\nb\n```\n").fences] == [
        (1, 3, "a\n"), (4, 6, "b\n"),
    ]  # fmt: skip


def test_a_session_is_no_code_to_run() -> None:
    assert {info: fence(f"```{info}\nx\n```").session for info in ("pycon", "python-REPL", "pytb", "python", "py")} == {
        "pycon": True, "python-REPL": True, "pytb": True, "python": False, "py": False,
    }  # fmt: skip


def test_backticks_in_a_line_are_no_fence() -> None:
    assert page("```python `x` ```\n\ntext ``` more").fences == []


def test_an_illustration_has_the_reason_right_above() -> None:
    block = "```python\nx\n```"
    assert fence(f"<!-- illustration: needs a GPU -->\n{block}").reason == "needs a GPU"
    assert fence(f"<!-- illustration: needs\na GPU -->\n\n{block}").reason == "needs\na GPU"
    assert fence(f"<!-- illustration: -->\n{block}").reason == ""
    assert fence(f"<!-- illustration: needs a GPU -->\n\ntext\n\n{block}").reason is None
    assert fence(block).reason is None
    for lines, reason in ((4, "a\na\na\na"), (5, None)):  # right above means in the four lines above
        said = "\n".join("a" * lines)
        assert fence(f"\n<!-- illustration: {said} -->\n{block}").reason == reason


# --- what is left ----------------------------------------------------------------------------------------------------


def test_prose_keeps_what_people_read_at_its_place() -> None:
    text = (
        f'---\ntitle: 1\n---\n# 2\n\nA 3, {NUMBER}, `4`, $5$, <!-- 6 --> [7](x.md "8 `9` 10").\n\n'
        f'![11]({UP}/a/b.svg "12 \\"13\\"")\n\n```text\n14\n```\n\n[15]({UP}/a/b/c.csv "table")\n'
    )
    prose = page(text).prose
    assert len(prose) == len(text)
    digits = "".join(character if character.isdigit() else " " for character in prose).split()
    assert digits == ["1", "2", "3", "7", "8", "10", "11", "12", "13", "15"]


MARKUP = st.text(alphabet="[]()!`~$#\"'\\<>-|_*{}. \n\t:ab0½", max_size=120)
PIECES = st.lists(
    st.sampled_from([NUMBER, f"![alt]({UP}/a/b.svg)", f"[x.py]({CODE})", "```", "~~~", "`", "$", "$$", "<!--", "-->"])
    | st.sampled_from(
        ["\n", "\n\n", "    ", "> ", "- ", "| ", "\\", "python", "text", "---\n", "[", "]", "(", ")", '"']
    ),
    max_size=30,
).map("".join)


@given(st.text(max_size=200) | MARKUP | PIECES)
def test_scanning_never_fails_and_every_offset_points_at_its_thing(text: str) -> None:
    scanned = page(text)
    assert len(scanned.prose) == len(text)
    assert scanned.prose.count("\n") == text.count("\n")
    for link in scanned.links:
        whole = text[link.start : link.end]
        assert whole.startswith("![" if link.image else "[")
        assert whole.endswith(")")
        assert whole[2 if link.image else 1 :].startswith(f"{link.text}](")
        assert link.target in whole
        assert text.split("\n")[link.line - 1].lstrip(" \t>").startswith(whole.split("\n")[0]) or not link.alone
        assert link.role in {"plain", "definition", "figure", "table", "statement", "snippet", "file"}
    for start, span in scanned.code_spans + scanned.formulas:
        there = text[start : start + len(span)]
        assert there == span or "<!--" in there  # a comment inside is blanked
    for block in scanned.fences:
        assert block.marks in text.split("\n")[block.line - 1]
        assert block.looks_python or not block.collected


@given(MARKUP, MARKUP)
def test_a_statement_in_a_paragraph_of_its_own_is_always_found_unless_a_fence_or_comment_is_open(
    a: str, b: str
) -> None:
    text = f"{a}\n\n{NUMBER}\n\n{b}"
    inside = any(block.line < text[: len(a) + 3].count("\n") + 1 <= block.end for block in page(text).fences)
    if not inside and "<!--" not in a:
        assert len(a) + 2 in [link.start for link in page(text).links]
