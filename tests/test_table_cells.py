"""Proves that a table made of a file can show some of its columns, link from its cells, and be linked to by row."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import UP, Tiny
from evidence import tables
from evidence.statement import Malformed
from evidence_site import publish

SCRIPTS = Path(publish.__file__).parents[1]
CSV = b"model,year,evidence\nGPT-2,2019,[seen](docs/index.md#home)\nT5,2019,[paper](https://arxiv.org/abs/1910.10683)\n"


def test_columns_are_chosen_by_name_and_one_that_is_not_there_is_refused() -> None:
    rows = [["model", "year"], ["T5", "2019"]]
    assert tables.chosen(rows, []) == rows
    assert tables.chosen(rows, ["year", "model"]) == [["year", "model"], ["2019", "T5"]]
    with pytest.raises(Malformed, match="no column eps; it has: model, year"):
        tables.chosen(rows, ["model", "eps"])


def made(tiny: Tiny, title: str) -> None:
    tiny.snippet("share = 1\n")
    tiny.record({"share": 1}, files={"models.csv": CSV})
    tiny.page(f'# T {{#t}}\n\n[Models.]({UP}/residual/share/models.csv "{title}")\n')


def test_a_title_that_names_no_column_of_the_file_is_a_problem(tiny: Tiny) -> None:
    made(tiny, "table: model; family")
    assert "no column family" in tiny.problems()[0]


def test_a_cell_may_be_a_link_and_a_row_has_an_address(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tiny, "table: model; evidence")
    tiny.page("# Home {#home}\n\nText.\n", "docs/index.md")
    hooks = (
        f"hooks: [{SCRIPTS / 'evidence_site/hooks.py'}]\nmarkdown_extensions: [attr_list, evidence_site.extension]\n"
    )
    tiny.write("mkdocs.yml", f"site_name: tiny\n{hooks}")
    monkeypatch.chdir(tiny.root)
    assert publish.build(tiny.project) == 0
    html = (tiny.root / "site/residual/path/index.html").read_text(encoding="utf-8")
    assert '<tr id="models-gpt-2">' in html
    assert '<a href="../../#home">seen</a>' in html
    assert '<a href="https://arxiv.org/abs/1910.10683">paper</a>' in html
    assert "2019</td>" not in html
