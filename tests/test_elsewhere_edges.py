"""What verify counts, tells and passes on, with runs that are made up: each number once, and nothing of what agrees."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import pytest

from conftest import PAGE, UP, Tiny
from evidence import elsewhere
from evidence.record import OUTPUT, Record, load
from evidence.run import Job, Run

CODE = f"{UP}/residual/share.py"
SOURCE = "seeds = range(40)\nmean = 5000.0\nshare = 0.881\ngrows = True\n"
TEXT = f'# T\n\nIt is [5000]({CODE}#mean "n=40 ±5").\n\nOr [0.88]({CODE}#share "±0.02").\n\nIt [grows]({CODE}#grows).\n'
Answer = Callable[["Made", str], dict[str, Any] | str]


class Made:
    """Runs that are not run: `answer` gives an error, or what is other than in the record."""

    every: list[Made]
    answer: Answer
    root: Path

    def __init__(self, project: Any, cold: bool = False, **settings: Any) -> None:
        self.cold, self.settings = cold, settings
        self.every.append(self)

    def run_all(self, jobs: Sequence[Job]) -> Iterator[Run]:
        for job in jobs:
            told = type(self).answer(self, job.snippet.name)
            if isinstance(told, str):
                yield Run(job.snippet, told, None)
                continue
            old = load(self.root / "snippets" / job.snippet.name)
            files = {OUTPUT: told.pop("output", old.output).encode()}
            machine = {"timed": True} if job.snippet.timed else {}
            values = {**old.values, **told}
            yield Run(job.snippet, None, dataclasses.replace(old, machine=machine, values=values, files=files))


@pytest.fixture
def run(tiny: Tiny, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Calls a command of `elsewhere` with an answer: its status, and the lines that it printed."""
    values = {"seeds": list(range(40)), "mean": 5000.0, "share": 0.881, "grows": True}
    tiny.have(SOURCE, values, output="as ever 0.5000\n")
    tiny.have("# timed: ratios\nratio = 1.0\n", {"ratio": 1.0}, "residual/timed", output="as ever 0.5000\n")
    tiny.page(TEXT)
    monkeypatch.setattr(elsewhere, "Runner", Made)
    Made.root = tiny.root

    def call(command: Callable[..., int], answer: Answer, **options: Any) -> tuple[int, list[str]]:
        Made.every, Made.answer = [], staticmethod(answer)
        status = command(tiny.project, **options)
        return status, capsys.readouterr().out.splitlines()

    return call


def only(name: str, **told: Any) -> Answer:
    return lambda _, which: dict(told) if which == name else {}


def summary(moved: int, failed: int, runs: int = 4) -> str:
    return f"{runs} runs of 2 snippets compared: some bit differs in {moved}, {failed} differences beyond tolerance"


def rows(table: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(line for line in table.read_text().splitlines() if line[0] != "#"))


# --- verify -------------------------------------------------------------------------------------------------------


def test_of_what_agrees_nothing_is_told(run: Any) -> None:
    assert run(elsewhere.verify, only("")) == (0, [summary(0, 0)])


@pytest.mark.parametrize("cold", [False, True])
def test_a_run_that_fails_is_one_difference_and_told_by_how_it_was_run(run: Any, cold: bool) -> None:
    def answer(made: Made, name: str) -> dict[str, Any] | str:
        return "boom" if made.cold == cold and name == "residual/share" else {}

    how = "cold" if cold else "forked"
    assert run(elsewhere.verify, answer) == (1, [f"residual/share: {how} run failed: boom", summary(0, 1, 3)])


@pytest.mark.parametrize(("name", "failed"), [("residual/share", 1), ("residual/timed", 0)])
def test_what_is_printed_cold_is_compared_with_what_is_printed_forked(run: Any, name: str, failed: int) -> None:
    """But not of timings. (With its record it is compared as far as numbers tell.)"""

    def answer(made: Made, which: str) -> dict[str, Any] | str:
        return {"output": f"as ever {0.5 + 1e-4 * made.cold:.4f}\n"} if which == name else {}

    status, lines = run(elsewhere.verify, answer)
    assert status == failed
    assert ("residual/share (cold): prints otherwise cold than forked" in lines) == bool(failed)


def test_bits_are_those_of_the_forked_runs_and_no_timing_s(run: Any) -> None:
    def answer(made: Made, name: str) -> dict[str, Any] | str:
        moved = 1e-9 if made.cold else 0.0
        return {"share": 0.881 + moved} if name == "residual/share" else {"ratio": 1.0 + 1e-9}

    status, lines = run(elsewhere.verify, answer)
    assert (status, lines[-1]) == (0, summary(0, 0))
    assert len([line for line in lines if "→" in line]) == 1


# --- unseen -------------------------------------------------------------------------------------------------------


class Clock(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Clock:
        return cls(2026, 11, 30, tzinfo=tz)


def test_the_seeds_of_a_day(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "datetime", Clock)
    status, lines = run(elsewhere.unseen, only(""))
    assert status == 0
    assert lines[0] == "seeds from 110000 on, for 1 snippets; again: verify --unseen --start 110000"
    assert [made.settings for made in Made.every] == [{"patience": 5}]


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ({"mean": 5003.9}, None),
        ({"mean": 5004.0}, f"{PAGE}:3: holds, statistical: stated 5000, measured 5004, 80% of its band"),
        ({"share": 0.899}, None),  # near its end, but no matter of seeds
        ({"mean": 5005.5}, f"FAILS {PAGE}:3: statistical: stated 5000, measured 5005.5, 110% of its band"),
        ({"grows": False}, f"FAILS {PAGE}:7: condition: stated grows, measured False"),
    ],
)
def test_what_nearly_fails_on_other_seeds_is_told_and_counts_as_held(run: Any, told: dict[str, Any], line: str) -> None:
    failed = int("FAILS" in (line or ""))
    status, lines = run(elsewhere.unseen, only("residual/share", **told), start=5000)
    assert status == failed
    assert lines[1:-1] == [line] * bool(line)
    assert lines[-1].startswith(f"{3 - failed} statements hold on seeds from 5000 on, {failed} do not")


# --- machines -----------------------------------------------------------------------------------------------------


def test_each_setting_reaches_its_runs_and_its_row(run: Any, tmp_path: Path) -> None:
    def answer(made: Made, name: str) -> dict[str, Any] | str:
        if made.settings["threads"] == 2:
            return "boom" if made.settings["environment"] else {"mean": 5005.5}
        return {"share": 0.881 + 0.001 * bool(made.settings["environment"])}

    status, lines = run(elsewhere.machines, answer, table=tmp_path / "machines.csv")
    assert status == 1
    assert [made.settings["threads"] for made in Made.every] == [1, 2, 1, 1, 1, 1, 2]
    assert [made.settings["workers"] for made in Made.every] == [2, 1, 2, 2, 2, 2, 1]
    assert {made.settings["patience"] for made in Made.every} == {5}
    found = rows(tmp_path / "machines.csv")
    assert [row["failed"] for row in found] == ["0", "1", "0", "0", "0", "0", "1"]
    assert [row["moved"] for row in found] == ["0", "1", "1", "1", "1", "1", "0"]
    assert [row["shift"] for row in found] == ["0.0", "1.1", "0.05", "0.05", "0.05", "0.05", "0.0"]
    assert [row["told"] for row in found][:4] == [
        "nothing",
        "nothing",
        "ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 MKL_CBWR=AVX2",
        "ATEN_CPU_CAPABILITY=default",
    ]
    assert f"{PAGE}:3: 5000.0 → 5005.5, 110% of the tolerance" in lines
    assert "snippets/residual/share.py: run failed: boom" in lines


def test_settings_that_move_no_bit_show_nothing(run: Any) -> None:
    status, lines = run(elsewhere.machines, only(""))
    assert (status, lines[-1]) == (1, "no setting changed a bit here, so this shows nothing")


# --- how far ------------------------------------------------------------------------------------------------------


def claims(tiny: Tiny, *means: float) -> list[Any]:
    """The statement about the mean, for each of these measured."""
    found = []
    for mean in means:
        old = load(tiny.project.snippets / "residual/share")
        tiny.record({**old.values, "mean": mean}, output="as ever 0.5000\n")
        found.append(next(claim for claim in tiny.found().claims if claim.link.line == 3))
    return found


@pytest.mark.usefixtures("run")
def test_the_largest_shift_is_told_and_the_least_are_not(tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    assert elsewhere._most([]) == 0.0
    a, b, c, d = claims(tiny, 5000.0, 5000.25, 5000.2, 5000.617)
    assert elsewhere._most([(a, d), (a, b), (a, None)]) == 0.12
    elsewhere._tell_shifts([(a, c), (a, b), (a, None)])
    assert capsys.readouterr().out == f"{PAGE}:3: 5000.0 → 5000.25, 5% of the tolerance\n"


def test_a_record_of_other_bits_is_another(tmp_path: Path) -> None:
    one = Record("a", {}, {}, {}, {"x": 1.0}, {OUTPUT: b""})
    assert elsewhere._bits(one) == elsewhere._bits(dataclasses.replace(one, machine={"threads": 2}))
    assert elsewhere._bits(one) != elsewhere._bits(dataclasses.replace(one, values={"x": 1.0 + 2**-52}))
    assert elsewhere._bits(one) != elsewhere._bits(dataclasses.replace(one, files={OUTPUT: b"x"}))
