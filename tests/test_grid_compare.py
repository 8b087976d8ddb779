"""Cells trained again: what is compared and within which band, all of them, and those whose turn it is."""

from __future__ import annotations

import contextlib
import io
import re
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import toy
from conftest import Tiny
from evidence_grid import again, grid, results
from evidence_grid.compare import differences
from evidence_grid.grid import Grid
from evidence_grid.pool import opened
from evidence_grid.results import Result


def result(seconds: float = 1.0, **measured: Any) -> Result:
    usual = {"final_loss": 2.0, "first_non_finite": None, "stalled": False, "curve": [3.0]}
    return Result("toy", {}, {}, {}, seconds, {"depth": 1}, usual | measured)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({}, {"final_loss": 2.039, "curve": [9.0]}, None),
        ({}, {"final_loss": 2.041}, "final loss: 2 → 2.041, moved by 2.0% with 2% allowed"),
        ({}, {"final_loss": 1.9}, "final loss: 2 → 1.9"),
        ({}, {"final_loss": None}, "final loss: 2.0 → None"),
        ({"final_loss": None}, {}, "final loss: None → 2.0"),
        ({}, {"stalled": True}, "stalled: False → True"),
        ({}, {"first_non_finite": 7, "final_loss": None}, "first non-finite step: none → 7"),
        ({"first_non_finite": 7}, {}, "first non-finite step: 7 → none"),
        ({"first_non_finite": 7, "final_loss": None}, {"first_non_finite": 12, "final_loss": 3.0}, None),
        ({"first_non_finite": 7}, {"first_non_finite": 18}, "first non-finite step: 7 → 18, beyond ±10"),
        ({"first_non_finite": 1000}, {"first_non_finite": 1100}, None),
        ({"first_non_finite": 1000}, {"first_non_finite": 899}, "beyond ±100"),
        ({"final_losses": [1.0, 3.0]}, {"final_losses": [1.0, 3.1]}, "member 1, final loss: 3 → 3.1"),
        (
            {"final_losses": [1.0, None], "non_finite_steps": [None, 40], "first_non_finite": 40},
            {"final_losses": [1.0, None], "non_finite_steps": [None, 44], "first_non_finite": 44},
            None,
        ),
        (
            {"final_losses": [1.0, None], "non_finite_steps": [None, 40], "first_non_finite": 40},
            {"final_losses": [None, 1.0], "non_finite_steps": [40, None], "first_non_finite": 40},
            "member 0, first non-finite step: none → 40",
        ),
        ({}, {"more": 1}, "it measures other quantities: more"),
    ],
)
def test_what_two_machines_may_differ_in(old: dict[str, Any], new: dict[str, Any], said: str | None) -> None:
    told = list(differences(result(**old), result(**new)))
    assert bool(told) == (said is not None)
    assert said is None or said in told[0]


def test_other_parameters_are_another_cell() -> None:
    new = Result(**{**vars(result()), "cell": {"depth": 2}})
    assert list(differences(result(), new)) == ["its parameters differ: depth: 1 → 2"]


def alter(tiny: Tiny, found: Grid, slug: str, **change: Any) -> None:
    """The result as if it had been measured otherwise."""
    path = found.results / f"{slug}.json"
    old = results.load(path)
    seconds = change.pop("seconds", old.seconds)
    results.save(tiny.project, Result(**{**vars(old), "seconds": seconds, "result": {**old.result, **change}}), path)


# --- verify --long ------------------------------------------------------------------------------------------------


def test_all_again_says_what_differs_and_what_is_not_there(tiny: Tiny) -> None:
    found = toy.experiment(tiny, toy.seeds(3))
    toy.command(tiny, "train", "toy")
    before = toy.files(found)
    status, out, _ = long(tiny)
    assert (status, out) == (0, "3 cells trained again, 0 differ beyond tolerance, failed or have no result\n")
    assert toy.files(found) == before
    alter(tiny, found, "seed-1", final_loss=1.2)
    toy.experiment(tiny, toy.seeds(4))
    status, out, _ = long(tiny)
    assert status == 1
    assert "toy/seed-1: final loss: 1.2 → 1.101, moved by 8.2% with 2% allowed\n" in out
    assert "toy/seed-3: has no result; run: python3 scripts/dev.py train toy\n" in out
    assert out.endswith("3 cells trained again, 2 differ beyond tolerance, failed or have no result\n")
    assert not (tiny.project.cache / "again").exists()


def test_all_again_goes_on_where_it_was_interrupted(tiny: Tiny, tmp_path: Path) -> None:
    found, log = toy.experiment(tiny, toy.seeds(3)), tmp_path / "log"
    toy.command(tiny, "train", "toy")
    kept = tiny.project.cache / "again/toy/seed-1.json"
    kept.parent.mkdir(parents=True)
    kept.write_bytes((found.results / "seed-1.json").read_bytes())
    alter(tiny, found, "seed-1", stalled=True)
    status, out, _ = long(tiny, TOY_LOG=str(log))
    assert status == 1
    assert sorted(toy.trained(log)) == ["seed=0", "seed=2"]
    assert "toy/seed-1: stalled: True → False\n" in out


def test_verify_long_also_runs_the_snippets(tiny: Tiny) -> None:
    tiny.have("share = 0.5\nprint(share)\n", {"share": 0.5}, output="0.5\n")
    toy.experiment(tiny)
    tiny.record({}, "training/train_toy")
    status, out, err = toy.command(tiny, "verify", "--long", "--jobs", "1")
    assert "4 runs of 2 snippets compared" in out
    assert out.endswith("0 cells trained again, 0 differ beyond tolerance, failed or have no result\n"), err
    assert status == 1  # the toy trainer writes a cell.json of which its record here knows nothing


def long(tiny: Tiny, **environment: str) -> tuple[int, str, str]:
    """What `verify --long` does after the snippets."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        for name, value in environment.items():
            patch.setenv(name, value)
        wrong = again.every(tiny.project, grid.load_all(tiny.project), partial(opened, 2), err)
    return min(wrong, 1), out.getvalue(), err.getvalue()


# --- train --spot -------------------------------------------------------------------------------------------------


def test_each_cell_has_its_turn_within_the_stated_days_and_no_day_is_too_long(tiny: Tiny) -> None:
    found = toy.experiment(tiny, toy.seeds(12))
    toy.command(tiny, "train", "toy")
    for seed in range(12):
        alter(tiny, found, f"seed-{seed}", seconds=[30.0, 45.0, 91.0][seed % 3])
    today = date(2026, 11, 30)
    choice = again.choose([found], today)
    assert (choice.recorded, choice.long) == (12, 4)
    turns = [again.choose([found], today + timedelta(days=day)).tasks for day in range(choice.days)]
    assert sorted(cell.slug for turn in turns for _, cell in turn) == sorted(
        f"seed-{seed}" for seed in range(12) if seed % 3 < 2
    )
    seconds = {cell.slug: results.load(found.results / f"{cell.slug}.json").seconds for cell in found.cells}
    assert all(0 < sum(seconds[cell.slug] for _, cell in turn) <= again.BUDGET for turn in turns)
    assert again.choose([found], today) == again.choose([found], today + timedelta(days=choice.days))


def test_a_spot_check_compares_for_real_and_says_how_to_repeat_it(tiny: Tiny) -> None:
    found = toy.experiment(tiny, toy.seeds(3))
    toy.command(tiny, "train", "toy")
    status, out, _ = toy.command(tiny, "train", "--spot", "--date", "2026-11-30")
    assert status == 0
    assert re.match(r"spot check of 2026-11-30: 3 of 3 recorded cells, about \d s of training; each has its turn", out)
    alter(tiny, found, "seed-2", final_loss=1.0)
    status, out, _ = toy.command(tiny, "train", "--spot", "--date", "2026-11-30")
    assert status == 1
    assert "toy/seed-2: final loss: 1 → 1.102, moved by 10.2% with 2% allowed\n" in out
    assert "again: python3 scripts/dev.py train --spot --date 2026-11-30\n" in out


def test_a_spot_check_ends_in_time(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    found = toy.experiment(tiny, toy.seeds(1), {"set": {"seconds": 1.0}})
    toy.command(tiny, "train", "toy")
    for path in found.results.glob("*"):  # as if a machine were much slower now
        slow = results.load(path)
        results.save(tiny.project, Result(**{**vars(slow), "seconds": 0.1}), path)
    monkeypatch.setattr(again, "DEADLINE", 0.9)
    status, out, _ = toy.command(tiny, "train", "--spot", "--jobs", "2")
    assert "not compared, stopped after 1 s: toy/seconds-1.0" in out
    assert status in {0, 1}  # whether the quick one has ended
    monkeypatch.setattr(again, "DEADLINE", 0.0)
    status, out, _ = toy.command(tiny, "train", "--spot")
    assert status == 1  # nothing at all was compared
