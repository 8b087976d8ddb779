"""What a page may link to and what is said of it: tables, data, definitions, and bytes that are no text."""

from __future__ import annotations

import pytest

from conftest import PAGE, UP, Tiny
from test_check import CODE, fine, told

FOLDER = f"{UP}/residual/share"


@pytest.fixture
def rich(tiny: Tiny) -> Tiny:
    values = {"share": 0.8812345678, "yes": True, "act": "gelu", "rows": [{"depth": 6, "norm": 1.5}]}
    tiny.have("share = 1\n", values)
    tiny.record(values, files={"a.csv": b"depth,norm\n6,1.5\n6,2.5\n12,3.5\n", "b.csv": b"x,y\n1,2\n"})
    return tiny


def passes(tiny: Tiny, text: str) -> None:
    tiny.page(f"# Title\n\n{text}\n")
    assert tiny.problems() == []


def test_a_table_of_a_variable_or_a_file(rich: Tiny) -> None:
    for target, title in (
        (f"{CODE}#rows", "table"), (f"{FOLDER}/a.csv", "table"), (f"{FOLDER}/a.csv", "table: norm"),
        (f"{FOLDER}/b.csv", "table: y; x"),
    ):  # fmt: skip
        passes(rich, f'[Norms.]({target} "{title}")')
    assert "has no column gain" in told(rich, f'[Norms.]({FOLDER}/a.csv "table: gain")')
    assert "has no column gain" in told(rich, f'[Norms.]({FOLDER}/b.csv "table: gain")')
    assert "holds no rows" in told(rich, f'[Norms.]({FOLDER}/output.txt "table")')
    assert "leave out the #" in told(rich, f'[Norms.]({FOLDER}/a.csv#6 "table")')


@pytest.mark.parametrize("ragged", [b"a,b\nk,1\nk,2,3\n", b"a,b\nk,1\nl\n"])
def test_a_row_has_as_many_cells_as_the_head(rich: Tiny, ragged: bytes) -> None:
    rich.record({"share": 0.5}, files={"a.csv": ragged})
    said = told(rich, f'[Norms.]({FOLDER}/a.csv "table")')
    assert "a.csv is no CSV in UTF-8: the row of" in said
    assert "has not as many cells as the head" in said


def test_a_file_may_be_linked_in_a_sentence(rich: Tiny) -> None:
    passes(rich, f'See [the data]({FOLDER}/a.csv) and [more]({FOLDER}/b.csv "the second one").')
    passes(rich, "See [the ledger](../data/ledger.csv), which the build makes.")


def test_what_touches_a_condition_or_a_text_alters_no_number(rich: Tiny) -> None:
    passes(rich, f"It [holds]({CODE}#yes)2 and is [gelu]({CODE}#act)2.")
    assert "changes its value" in told(rich, f"It is [0.88]({CODE}#share)2.")


def test_a_number_of_a_snippet_is_rounded_and_told_with_more_digits(rich: Tiny) -> None:
    assert fine(rich, f"[0.88]({CODE}#share)").verdict.kind == "rounded"
    assert "states 0.89, measured 0.8812346 (" in told(rich, f"[0.89]({CODE}#share)")


@pytest.mark.parametrize(
    ("text", "stated"),
    [("1e-5", "1e-5"), ("an eps of 1e-5", "1e-5"), ("by default", "by default"), ("2 or 3", "2 or 3")],
)
def test_what_a_definition_states(rich: Tiny, text: str, stated: str) -> None:
    assert fine(rich, f'[{text}](https://pytorch.org/docs "definition: LayerNorm")').verdict.stated == stated


@pytest.mark.parametrize(("content", "line"), [(b"\xff", 1), (b"\n\xff", 2), (b"# T\n\nIt is \xff.\n", 3)])
def test_bytes_that_are_no_text_are_said_at_their_line(rich: Tiny, content: bytes, line: int) -> None:
    rich.write(PAGE, content)
    (problem,) = rich.problems()
    assert problem.startswith(f"{PAGE}:{line}: ")
