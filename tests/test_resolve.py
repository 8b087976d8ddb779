"""A resolved chapter holds each snippet with its assertions and output, and maps each of its lines to its source."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pytest_codeblocks import extract_from_file

from blocks import extracted, read
from conftest import PAGE, UP, Tiny
from evidence import resolve
from evidence.resolve import HEADING

CODE = f"{UP}/residual/share.py"
SOURCE = "# A share\nshare = 0.881\nprint(share)\n"


@pytest.fixture
def sound(tiny: Tiny) -> Tiny:
    tiny.have(SOURCE, {"share": 0.881}, output="0.881\n")
    return tiny


def chapter(sound: Tiny, text: str) -> resolve.Chapter:
    sound.page(text)
    state = read(sound.project)
    return resolve.chapter(state.found.pages[PAGE], state.found, state.snippets, state.records)


def asserted(sound: Tiny, values: dict[str, Any], text: str) -> list[str]:
    """The assertions of a page with this text, for a snippet with these values."""
    sound.have("x = 1\n", values, "residual/x")
    sound.page(text)
    return [line for line, _ in resolve.assertions(read(sound.project).found.of(PAGE), "residual/x")]


def fails(assertion: str, **live: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        exec(assertion, live)
    return str(caught.value)


# --- a page written out ----------------------------------------------------------------------------------------------


def test_a_page_written_out(sound: Tiny) -> None:
    result = chapter(sound, f"# Title\n\nIt is [0.88]({CODE}#share).\n\n[share.py]({CODE})\n\nThe end.\n")
    assert result.text == (
        f"# Title\n\nIt is [0.88]({CODE}#share).\n\n\n"
        "```python\n# A share\nshare = 0.881\nprint(share)\n```\n\n"
        f"<!--pytest-codeblocks:cont-->\n```python\n{HEADING}\n"
        f"assert abs(share - 0.88) <= 0.005, f'{PAGE}:3 states 0.88; share is {{share}}'\n```\n\n"
        "```text\n0.881\n```\n\n\nThe end.\n\n"
    )
    script = "snippets/residual/share.py"
    own = [(PAGE, number) for number in (1, 2, 3, 4)]
    code = [(script, number) for number in (1, 1, 1, 2, 3, 1, 1)]  # what we put around it is its line 1
    assertions = [(script, 1)] * 3 + [(PAGE, 3)] + [(script, 1)] * 2
    output = [(script, 1)] * 4
    assert result.origin == [*own, *code, *assertions, *output, (PAGE, 6), (PAGE, 7), (PAGE, 8)]


def test_every_line_is_mapped_to_where_it_comes_from(sound: Tiny) -> None:
    text = f"# Title\n\nIt is\n[0.88]({CODE}#share).\n\n```text\nshown\n```\nRight below.\n\n"
    text += f"[share.py]({CODE})\n\nThe end.\n"
    result = chapter(sound, text)
    assert len(result.lines) == len(result.origin)
    places = dict(zip(result.lines, result.origin, strict=True))
    script = "snippets/residual/share.py"
    assert places["It is"] == (PAGE, 3)
    assert places["shown"] == (PAGE, 7)
    assert places["Right below."] == (PAGE, 9)
    assert places["The end."] == (PAGE, 13)
    assert places["share = 0.881"] == (script, 2)
    assert places["print(share)"] == (script, 3)
    assert places["0.881"] == (script, 1)
    (line,) = [line for line in result.lines if line.startswith("assert")]
    assert places[line] == (PAGE, 4)


def test_assertions_join_their_snippet_and_not_its_output(sound: Tiny) -> None:
    """pytest-codeblocks continues whatever block came before, of any language, even one that it then skips."""
    sound.page(f"[0.88]({CODE}#share)\n\n[share.py]({CODE})\n")
    state = read(sound.project)
    (path,) = resolve.write_all(sound.project, state.found, state.snippets, state.records)
    code, output = extract_from_file(path)
    assert (code.syntax, output.syntax) == ("python", "text")
    assert code.code.startswith(SOURCE + HEADING + "\nassert abs(share - 0.88)")
    assert output.code == "0.881\n"


def test_a_snippet_is_embedded_once_and_a_cited_one_is_appended(sound: Tiny) -> None:
    sound.have("other = 3\n", {"other": 3}, "residual/other", output="three\n")
    result = chapter(
        sound, f"[share.py]({CODE})\n\n[share.py]({CODE})\n\n[3]({UP}/residual/other.py#other)\n\nThe end.\n"
    )
    assert result.lines.count("share = 0.881") == result.lines.count("other = 3") == 1
    assert result.lines.index("The end.") < result.lines.index("other = 3") < result.lines.index("three")
    assert f"assert other == 3, f'{PAGE}:5 states 3; other is {{other}}'" in result.lines
    assert "```text" in result.lines[result.lines.index("other = 3") :]


def test_a_snippet_without_statements_has_no_assertions(sound: Tiny) -> None:
    result = chapter(sound, f"[share.py]({CODE})\n")
    assert "cont" not in result.text
    assert HEADING not in result.text


def test_an_illustration_becomes_text_and_a_nested_fence_is_freed(sound: Tiny) -> None:
    text = (
        "<!-- illustration: no GPU here -->\n```python\nx.cuda()\n```\n\n!!! note\n    ```python\n    if 1:\n"
        "        y = 1\n    ```\n\n> ```python\n> z = 1\n> ```\n"
    )
    result = chapter(sound, text)
    assert "```text\nx.cuda()\n```" in result.text
    sound.page(text)
    assert [block.code for block in extracted(read(sound.project))] == ["if 1:\n    y = 1\n", "z = 1\n"]


def test_backticks_in_code_and_output_close_nothing(sound: Tiny) -> None:
    source = "shown = '''\n```python\nx\n````\n'''\nprint(shown)\n"
    sound.have(source, {}, "residual/ticks", output="\n```python\nx\n````\n\n")
    sound.page(f"[ticks.py]({UP}/residual/ticks.py)\n\n~~~md\n```python\nx\n```\n~~~\n\n```python\ny = 1\n```\n")
    state = read(sound.project)
    assert [block.code for block in extracted(state)] == [source, "y = 1\n"]
    (page,) = state.found.pages.values()
    lines = resolve.chapter(page, state.found, state.snippets, state.records).lines
    assert [line for line in lines if line.startswith("`````")] == ["`````python", "`````", "`````text", "`````"]


# --- assertions ------------------------------------------------------------------------------------------------------


def test_a_failure_says_where_what_and_how_much(sound: Tiny) -> None:
    (line,) = asserted(sound, {"x": 1.5}, f"# Title\n\nIt is [1.5\ntimes]({UP}/residual/x.py#x) that.\n")
    exec(line, {"x": 1.5})
    assert fails(line, x=1.7) == f"{PAGE}:3 states 1.5 times; x is 1.7"


def test_a_condition_says_its_words(sound: Tiny) -> None:
    (line,) = asserted(sound, {"x": True}, f'[at "every" {{depth}}, it\'s]({UP}/residual/x.py#x)\n')
    exec(line, {"x": True})
    assert fails(line, x=False) == f'{PAGE}:1 states: at "every" {{depth}}, it\'s'


@pytest.mark.parametrize(
    "said", ["1.5 {x}", "{1.5}", "1.5 'a'", '1.5 "b"', "1.5 'a' \"b\"", r"1.5 \| \{", "1.5 \\n", "1.5%"]
)
def test_any_text_may_stand_in_a_statement(sound: Tiny, said: str) -> None:
    value = 0.015 if "%" in said else 1.5
    (line,) = asserted(sound, {"x": value}, f"[{said}]({UP}/residual/x.py#x)\n")
    exec(line, {"x": value})
    assert fails(line, x=2.5) == f"{PAGE}:1 states {said}; x is 2.5"


@pytest.mark.parametrize(
    ("values", "fragment", "said"),
    [
        ([0.1, 0.2], "x/-1", "0.2"),
        ([0.1, 0.2], "x/0", "0.1"),
        ({2: 0.1, 4: 0.2}, "x/4", "0.2"),
        ({0.5: 0.1, 1e-5: 0.2}, "x/1e-05", "0.2"),
        ({"pre LN": {"a'b": [0.2]}}, "x/pre%20LN/a'b/0", "0.2"),
        ({-1: 7}, "x/-1", "7"),
    ],
)
def test_an_assertion_reads_the_live_entry(sound: Tiny, values: Any, fragment: str, said: str) -> None:
    (line,) = asserted(sound, {"x": values}, f"[{said}]({UP}/residual/x.py#{fragment})\n")
    exec(line, {"x": values})
    other = [0.3, 0.3] if isinstance(values, list) else dict.fromkeys(values, 0.3) | {"pre LN": {"a'b": [0.3]}}
    fails(line, x=other)


def test_definitions_and_cited_cells_assert_nothing(sound: Tiny) -> None:
    sound.write("snippets/papers/t.csv", "model,bleu\nLN,26.6\n")
    text = f'[1]({UP}/residual/x.py#x), [26.6]({UP}/papers/t.csv#LN/bleu), [2](https://a.org/x.py#x "definition: a")\n'
    assert len(asserted(sound, {"x": 1}, text)) == 1


# --- the folder ------------------------------------------------------------------------------------------------------


def test_chapters_of_pages_now_gone_are_removed(sound: Tiny) -> None:
    sound.page("# Title\n")
    other = sound.page("# Other\n", "docs/why/other.md")
    for pages in (["residual/path.md", "why/other.md"], ["residual/path.md"]):
        state = read(sound.project)
        written = resolve.write_all(sound.project, state.found, state.snippets, state.records)
        folder = sound.project.cache / "resolved"
        assert [path.relative_to(folder).as_posix() for path in written] == pages
        assert sorted(folder.rglob("*.md")) == written
        assert sorted(folder.rglob("*.json")) == [path.with_suffix(".lines.json") for path in written]
        for path in written:
            lines = path.read_text(encoding="utf-8").split("\n")[:-1]
            assert len(json.loads(path.with_suffix(".lines.json").read_text(encoding="utf-8"))) == len(lines)
        other.unlink(missing_ok=True)
        (folder / "why/other.lines.json").unlink(missing_ok=True)  # by hand: the rest is removed all the same
