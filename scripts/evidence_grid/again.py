"""Trains cells again and compares them with their results: all of them, or those whose turn it is today."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any, TextIO

from evidence.project import Project
from evidence_grid import compare, results
from evidence_grid.grid import Cell, Grid
from evidence_grid.results import Result
from evidence_grid.train import Progress, Task, run

BUDGET = 90.0  # seconds of recorded training a day, and the most that a cell may take to have its turn
DEADLINE = 300.0  # seconds after which what still runs is stopped, on a machine that is slower than expected


@dataclass(frozen=True)
class Choice:
    """The cells of a day. `days`: after how many each has had its turn; `long`: how many take too long for that."""

    tasks: list[Task]
    days: int
    recorded: int
    long: int

    @property
    def told(self) -> str:
        seconds = sum(results.state(grid).done[cell.slug].seconds for grid, cell in self.tasks)
        days = f"{self.days} day{'s' * (self.days != 1)}"
        return (
            f"{len(self.tasks)} of {self.recorded} recorded cells, about {seconds:.0f} s of training; each has its turn"
            f" within {days}, but for {self.long} that take more than {BUDGET:.0f} s (verify --long)"
        )


def choose(grids: list[Grid], today: date) -> Choice:
    """The turn of the day: cells in an order like chance, as many as fit the budget; the next day, the next ones."""
    recorded: list[tuple[float, Grid, Cell]] = []
    for grid in grids:
        done = results.state(grid).done
        recorded += [(done[cell.slug].seconds, grid, cell) for cell in grid.cells if cell.slug in done]
    cheap = [one for one in recorded if one[0] <= BUDGET]
    cheap.sort(key=lambda one: hashlib.sha256(one[2].name.encode()).hexdigest())
    turns: list[list[Task]] = []
    left = 0.0
    for seconds, grid, cell in cheap:
        if seconds > left:
            turns.append([])
            left = BUDGET
        turns[-1].append((grid, cell))
        left -= seconds
    tasks = turns[today.toordinal() % len(turns)] if turns else []
    return Choice(tasks, len(turns), len(recorded), len(recorded) - len(cheap))


def spot(grids: list[Grid], opened: Callable[[], Any], today: date, stream: TextIO | None = None) -> int:
    """Trains the cells of the day again; the number that differ, failed, or 1 if none could be compared in time."""
    choice = choose(grids, today)
    print(f"spot check of {today}: {choice.told}")
    committed = {grid.experiment: results.state(grid).done for grid in grids}
    wrong, left = 0, [cell.name for _, cell in choice.tasks]
    progress = Progress(len(choice.tasks), label="spot check", stream=stream)
    with opened() as submit:
        for (grid, cell), came in run(choice.tasks, submit, progress, time.monotonic() + DEADLINE):
            left.remove(cell.name)
            wrong += _report(committed[grid.experiment][cell.slug], cell, came)
    progress.close()
    if left:
        print(f"not compared, stopped after {DEADLINE:.0f} s: {', '.join(left)}")
    if wrong:
        print(f"again: python3 scripts/dev.py train --spot --date {today}")
    return wrong or int(bool(left) and len(left) == len(choice.tasks))


def every(project: Project, grids: list[Grid], opened: Callable[[], Any], stream: TextIO | None = None) -> int:
    """Trains every recorded cell again; the number that differ, failed, or have no result to compare with.

    What is trained is kept until the last is compared, so that an interrupted check goes on where it was.
    """
    wrong, kept = 0, project.cache / "again"
    todo: list[Task] = []
    committed = {}
    for grid in grids:
        state = results.state(grid)
        committed[grid.experiment] = state.done
        for cell in state.missing:
            why = state.stale.get(cell.slug) or state.damaged.get(cell.slug) or "has no result"
            print(f"{cell.name}: {why}; run: python3 scripts/dev.py train {grid.experiment}")
            wrong += 1
        before = results.state(grid, kept / grid.experiment)
        for slug, came in before.done.items():
            if slug in state.done:
                wrong += _report(state.done[slug], Cell(grid.experiment, came.given), came)
        todo += [(grid, cell) for cell in before.missing if cell.slug in state.done]
    total = sum(map(len, committed.values()))
    progress = Progress(total, total - len(todo), "again", stream)
    try:
        if todo:
            with opened() as submit:
                for (grid, cell), again in run(todo, submit, progress):
                    if isinstance(again, Result):
                        results.save(project, again, kept / grid.experiment / f"{cell.slug}.json")
                    wrong += _report(committed[grid.experiment][cell.slug], cell, again)
    finally:
        progress.close()
    shutil.rmtree(kept, ignore_errors=True)
    print(f"{total} cells trained again, {wrong} differ beyond tolerance, failed or have no result")
    return wrong


def _report(old: Result, cell: Cell, came: Any) -> int:
    """Says what differs; 1 if anything does."""
    told = list(compare.differences(old, came)) if isinstance(came, Result) else [str(came)]
    for line in told:
        print(f"{cell.name}: {line}")
    return int(bool(told))
