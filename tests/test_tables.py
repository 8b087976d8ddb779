"""Proves that a table shows what a file or a variable holds, and that what is no table is refused."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import UP, Tiny
from evidence import tables
from evidence.statement import Malformed

PAPER = "# Ba et al. 2016, Table 3\n# seconds\nnorm,BLEU,time (s)\nnone,fails,210\nLayerNorm,26.6,248\n"


def test_a_transcribed_csv_keeps_its_cells_and_its_citation() -> None:
    assert tables.of_csv(PAPER) == [
        ["norm", "BLEU", "time (s)"],
        ["none", "fails", "210"],
        ["LayerNorm", "26.6", "248"],
    ]
    assert tables.citation(PAPER) == ["Ba et al. 2016, Table 3", "seconds"]
    assert tables.by_key(PAPER)["LayerNorm"] == {"norm": "LayerNorm", "BLEU": 26.6, "time (s)": 248}


def test_rows_of_one_name_must_be_told_apart() -> None:
    assert tables.by_key("a,b\nx,1\nx,2\n")["x"] == [{"a": "x", "b": 1}, {"a": "x", "b": 2}]


@pytest.mark.parametrize(
    ("value", "rows"),
    [
        ([{"depth": 6, "norm": 1.23456}, {"depth": 12, "norm": 2.0}], [["depth", "norm"], ["6", "1.235"], ["12", "2"]]),
        ({"pre": {"ok": True}, "post": {"ok": False}}, [["", "ok"], ["pre", "yes"], ["post", "no"]]),
        ({6: 1.5, 12: "2 ± 1"}, [["", "value"], ["6", "1.5"], ["12", "2 ± 1"]]),
    ],
)
def test_variables(value: Any, rows: tables.Rows) -> None:
    assert tables.of_value(value, []) == rows


def test_the_title_names_columns() -> None:
    assert tables.heads("table: depth; norm (median)") == ["depth", "norm (median)"]
    assert tables.heads("table") == []
    assert tables.of_value([{"a": 1, "b": 2}], ["depth", "norm"])[0] == ["depth", "norm"]


@pytest.mark.parametrize(
    "value",
    [
        3,
        [],
        {},
        [1, 2],
        [{"a": 1}, 2],
        [{"a": 1}, {"b": 1}],
        {"a": {"x": 1}, "b": {"y": 1}},
        {"a": {"x": 1}, "b": 2},
        [{"a": [1]}],
        [{"a": 1, "b": [1]}],
    ],
)
def test_no_table(value: Any) -> None:
    with pytest.raises(Malformed):
        tables.of_value(value, [])


@pytest.mark.parametrize(
    ("link", "said"),
    [
        (f'[C.]({UP}/residual/share.py#share "table")', "a table is made of a list of dicts"),
        (f'[C.]({UP}/residual/share.py#rows "table: one; two")', "the title names 2 columns, the table has 1"),
        (f'[C.]({UP}/residual/share.py "table")', "no recorded variable"),
    ],
)
def test_a_page_is_refused(tiny: Tiny, link: str, said: str) -> None:
    tiny.have("share = 0.5\nrows = [{'a': 1}]\n", {"share": 0.5, "rows": [{"a": 1}]})
    tiny.page(f"# T {{#t}}\n\n{link}\n")
    (problem,) = tiny.problems()
    assert said in problem
