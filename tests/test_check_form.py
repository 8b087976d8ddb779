"""What would be published as it stands, or skipped without a word, is a problem of its page and line."""

from __future__ import annotations

import pytest

from conftest import PAGE, UP, Tiny

CODE = f"{UP}/residual/share.py"
NUMBER = f"[0.881]({CODE}#share)"


@pytest.fixture
def sound(tiny: Tiny) -> Tiny:
    tiny.have("share = 0.881\n", {"share": 0.881})
    return tiny


def problems(sound: Tiny, text: str) -> list[str]:
    sound.page(f"# Title\n\n{text}\n")
    found = [said.removeprefix(f"{PAGE}:").split(": ", 1) for said in sound.problems()]
    return [f"{int(line) - 2}: {message}" for line, message in found]


@pytest.mark.parametrize(
    "text",
    [
        f"[0.881]({CODE}#share '±0.002')",
        f"[0.881](<{CODE}#share>)",
        f"[0.881]({CODE}#share>x)",
        f"[0.881]({CODE}#share(1))",
        f"[0.881]({CODE}#share x)",
        f"[[0.881]]({CODE}#share)",
        f'[0.881]({CODE}#share "±0.002)',
        rf"\[0.881]({CODE}#share)",
        f"0.881]({CODE}#share)",
    ],
)
def test_a_link_that_would_not_render(sound: Tiny, text: str) -> None:
    assert problems(sound, f"Text.\n{text}") == ["2: a link that would not render: an unmatched ]("]


@pytest.mark.parametrize("text", ["`](`", "```text\n](\n```", "<!-- ]( -->", "$](x)$", r"a\] (b)"])
def test_what_is_shown_as_code_need_not_render(sound: Tiny, text: str) -> None:
    assert problems(sound, text) == []


BROKEN = f'[0.881]({CODE}#share "±0.001|x")'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"| a | b |\n|---|---|\n| {BROKEN} | c |", 3),
        (f"a | b\n---|---\nx | y\n{BROKEN} | c", 4),
        ("| a | b |\n|:--|--:|\n| x | [a|b](page.md) |", 3),
        ("> | a | b |\n> |---|---|\n> | [a|b](page.md) | c |", 3),
        ("    | [a|b](page.md) | b |\n    |---|---|\n    | x | c |", 1),
    ],
)
def test_a_bar_inside_a_link_breaks_a_table_row(sound: Tiny, text: str, line: int) -> None:
    assert f"{line}: a | inside a link breaks the table row; write \\|" in problems(sound, text)


@pytest.mark.parametrize(
    "text",
    [
        f"| a | b |\n|---|---|\n| [a\\|b](page.md) | {NUMBER} |",
        "Text with [a|b](page.md).",
        "| a | b |\n|---|---|\n| c | d |\n\n[a|b](page.md)",
    ],
)
def test_a_bar_that_breaks_nothing(sound: Tiny, text: str) -> None:
    assert problems(sound, text) == []


@pytest.mark.parametrize(
    "opening",
    [
        "```py",
        "```Python",
        "```python ",
        "```python3",
        '```python title="a.py"',
        "``` {.python .annotate}",
        "````python linenums=1",
        "```pycon",
        "~~~python",
        "    ~~~py",
        "> ```ipython",
    ],
)
def test_a_python_fence_that_would_be_skipped(sound: Tiny, opening: str) -> None:
    indent = opening[: len(opening) - len(opening.lstrip(" >"))]
    marks = "~~~" if "~" in opening else "`" * opening.count("`")
    block = f"{opening}\n{indent}x = a\n{indent}{marks}"
    (said,) = problems(sound, f"Text.\n\n{block}")
    assert said.startswith("3: pytest-codeblocks would skip this Python block (")
    assert "<!-- illustration: reason -->" in said
    assert problems(sound, f"{indent}<!-- illustration: shows the shape only -->\n{block}") == []
    (said,) = problems(sound, f"{indent}<!-- illustration: -->\n{block}")
    assert said == "2: an illustration needs a reason: <!-- illustration: why -->"


def test_a_main_guard_is_refused_on_pages_and_in_snippets(sound: Tiny) -> None:
    guard = "if __name__ == '__main__':\n    x = a\n"
    (said,) = problems(sound, f"```python\n{guard}```")
    assert said == "1: tests __name__: the guarded part would pass without being run"
    sound.page("# Title\n")
    sound.have(f"share = 0.881\n{guard}", {"share": 0.881})
    assert sound.problems() == [
        "snippets/residual/share.py:2: tests __name__: the guarded part would pass without being run"
    ]


@pytest.mark.parametrize("info", ["sh", "bash"])
def test_a_shell_fence_would_be_run_by_pytest_codeblocks(sound: Tiny, info: str) -> None:
    (said,) = problems(sound, f"```{info}\nrm x\n```")
    assert said == "1: pytest-codeblocks would run this in a shell; open it with ```console"
    assert problems(sound, f"<!-- illustration: a command -->\n```{info}\nrm x\n```") == []


@pytest.mark.parametrize("text", ["```python\nx = a", "~~~\ntext", "````text\n```\n", "- ```text\n  x\n  ```"])
def test_a_fence_that_is_never_closed(sound: Tiny, text: str) -> None:
    assert problems(sound, f"Text.\n\n{text}")[-1].endswith("is never closed, and swallows the rest")


@pytest.mark.parametrize(
    "text",
    [
        "<!--pytest-codeblocks:skipfile-->",
        "<!-- pytest-codeblocks:cont -->",
        "<!---pytest-codeblocks:cont-->",
        "<!--pytest-codeblocks:importorskip(x)-->",
        "<!--pytest-codeblocks:expected-output-->",
        "<!--pytest.mark.skip-->",
        "<!-- pytest.mark.skipif(True) -->",
        '--8<-- "snippets/residual/share.py"',
        '-8<- "snippets/residual/share.py"',
        '```python\n--8<-- "snippets/residual/share.py"\n```',
    ],
)
def test_comments_that_skip_join_or_leave_out_blocks(sound: Tiny, text: str) -> None:
    (said,) = problems(sound, f"Text.\n\n{text}")
    line = 4 if text.startswith("```") else 3
    assert said.startswith(f"{line}: ")
    assert said.endswith("blocks are skipped, joined or left out by this; link the snippet")


def test_a_sound_page_has_no_problem(sound: Tiny) -> None:
    text = (
        f"It is {NUMBER}.\n\n[share.py]({CODE})\n\n| a | b |\n|---|---|\n| {NUMBER} | c |\n\n"
        f"```python\nx = a = 1\n```\n\n```text\n<!--pytest.mark.skip-->\n```\n\n!!! note\n    [share.py]({CODE})\n"
    )
    assert problems(sound, text) == []


ROWS = "| a | b |\n|---|---|\n"


@pytest.mark.parametrize(
    "text",
    [
        "```text\na | b\n--- | ---\n1 | 2 | 3\n```\n\n```text\nx\n```\n",  # no table, in one of two fences
        f"{ROWS}| $x$ | 2 |\n\nBelow, $|x|$ is the size.\n",  # a bar beside the table
    ],
)
def test_what_is_well_formed(sound: Tiny, text: str) -> None:
    assert problems(sound, text) == []


def test_a_fence_may_be_closed_by_the_last_character(sound: Tiny) -> None:
    sound.page("# Title\n\n```text\nx\n```")
    assert sound.problems() == []


def test_rows_are_held_to_the_head(sound: Tiny) -> None:
    assert problems(sound, "| a | b | c |\n|---|---|\n| 1 | 2 | 3 |\n") == [
        "2: a row of 2 cells in a table of 3 columns"
    ]
