"""What is made of an experiment's results, for the scripts that draw and for readers.

described.csv           a row for each cell: what is one number, flag or text
described_curves.csv    the loss curves
described_cells.json    all of it: by cell, its parameters and what was measured, curves and layers too
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evidence.project import Problem, Project, Refusal
from evidence_grid import results
from evidence_grid.grid import FOLDER, Grid, load_all
from evidence_grid.results import Result

LARGEST = 500_000  # bytes of a file of curves; above, only each second, third, … point is kept
FEWEST = 8  # points of a curve below which it shows nothing


def write(grid: Grid) -> None:
    """Brings the tables of the experiment up to date; there are none while there are no results."""
    for path, text in tables(grid).items():
        if text is None:
            path.unlink(missing_ok=True)
        elif not path.is_file() or path.read_bytes() != text.encode():
            results.write(grid.project, path, text)


def tables(grid: Grid) -> dict[Path, str | None]:
    """The files and what they should hold; None: there should be none."""
    done = results.state(grid).done
    folder = grid.project.snippets / FOLDER
    return {
        folder / f"{grid.experiment}.csv": _cells(done) if done else None,
        folder / f"{grid.experiment}_curves.csv": _curves(done),
        folder / f"{grid.experiment}_cells.json": _all(done) if done else None,
    }


def problems(project: Project) -> Iterator[Problem]:
    """What keeps tables and results from being published: of another trainer, damaged, without a cell, out of date."""
    try:
        grids = load_all(project)
    except Refusal as refusal:
        yield from refusal.problems
        return
    for grid in grids:
        state, again = results.state(grid), f"run: python3 scripts/dev.py train {grid.experiment}"
        for slug, why in {**state.stale, **state.damaged}.items():
            yield Problem(project.rel(grid.results / f"{slug}.json"), 0, f"{why}; {again}")
        for slug in state.orphans:
            said = "belongs to no cell of the grid; delete it, or put the cell back"
            yield Problem(project.rel(grid.results / f"{slug}.json"), 0, said)
        for path, text in tables(grid).items():
            if (path.read_bytes().decode() if path.is_file() else None) != text:
                yield Problem(project.rel(path), 0, f"is not what the results say; {again} --limit 0")


def _cells(done: Mapping[str, Result]) -> str:
    """A row for each cell: its name, its parameters, and what it measured that is one number, flag or text."""
    parameters = _columns(one.cell for one in done.values())
    measured = _columns(one.result for one in done.values())
    rows = [
        [slug, *(_text(one.cell.get(key)) for key in parameters), *(_text(one.result.get(key)) for key in measured)]
        for slug, one in done.items()
    ]
    return _csv([["slug", *parameters, *measured], *rows])


def _all(done: Mapping[str, Result]) -> str:
    """A line for each cell, so that one more of them reads well as a diff."""
    lines = (
        f"{json.dumps(slug)}:{json.dumps({'seconds': one.seconds, **one.cell, **one.result}, separators=(',', ':'))}"
        for slug, one in done.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _columns(parts: Any) -> list[str]:
    """Names whose value is a scalar wherever it is, in the order in which they come."""
    names: dict[str, bool] = {}
    for part in parts:
        for name, value in part.items():
            names[name] = names.get(name, True) and not isinstance(value, (list, dict))
    return [name for name, scalar in names.items() if scalar]


def _curves(done: Mapping[str, Result]) -> str | None:
    """The curves in long form, thinned until they are small enough; None if there are none, or they cannot be."""
    curves = {slug: points for slug, one in done.items() if (points := curve(one))}
    if not curves:
        return None
    longest = max(map(len, curves.values()))
    for keep in range(1, max(2, longest // FEWEST + 1)):
        rows = [
            [slug, _text(step), _text(loss)]
            for slug, points in curves.items()
            for number, (step, loss) in enumerate(points)
            if number % keep == 0 or number == len(points) - 1
        ]
        text = _csv([["slug", "step", "loss"], *rows])
        if len(text) <= LARGEST:
            return text
    return None


def curve(one: Result) -> list[tuple[Any, Any]]:
    """Steps and losses: `curve` holds the mean loss of each `window` of steps, here told at its end."""
    window, losses = one.result.get("window"), one.result.get("curve")
    if not isinstance(window, int) or not isinstance(losses, list):
        return []
    return [(window * number, loss) for number, loss in enumerate(losses, 1)]


def _csv(rows: list[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _text(value: Any) -> str:
    """Six digits of a number, `true` or `false`, and nothing where there is no value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)
