"""On this repository's experiments: tables and results fit together, and the cells of the day come out again."""

from __future__ import annotations

from datetime import date
from functools import partial
from pathlib import Path

import pytest

from evidence.project import Project
from evidence_grid import again, grid, table
from evidence_grid.pool import opened

PROJECT = Project(Path(__file__).parents[1])


def test_tables_and_results_are_sound() -> None:
    assert [str(problem) for problem in table.problems(PROJECT)] == []


def test_the_cells_of_the_day_come_out_again(capsys: pytest.CaptureFixture[str]) -> None:
    grids = grid.load_all(PROJECT)
    choice = again.choose(grids, date.today())
    assert choice.tasks or not choice.recorded, "every recorded cell takes too long to have its turn"
    with capsys.disabled():  # which cells they are is of interest when all is well, too
        print()
        wrong = again.spot(grids, partial(opened, None, None), date.today())
    assert wrong == 0, "what differs stands above"
