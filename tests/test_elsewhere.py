"""Statements are held on seeds that their author did not use, and with other threads and instruction sets."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from conftest import UP, Tiny
from evidence import elsewhere, refresh, tally
from evidence.__main__ import main
from evidence.record import load, versions
from evidence.run import Job, Runner

CODE = f"{UP}/residual/share.py"
SEEDED = """import random
seeds = range(40)
draws = [random.Random(seed).random() for seed in seeds]
mean = sum(draws) / len(draws)
lucky = {lucky}
below_one = max(draws) < 1
width = 8
"""
TEXT = (
    '# T\n\nThe mean is [{mean}]({code}#mean "n=40 {band}"), [below one]({code}#below_one),\n'
    'at a width of [8]({code}#width "setting"){more}.\n'
)


def seeded(tiny: Tiny, lucky: str = "0", mean: str = "0.5", band: str = "±0.04", more: str = "") -> None:
    tiny.snippet(SEEDED.format(lucky=lucky))
    tiny.page(TEXT.format(code=CODE, mean=mean, band=band, more=more))
    refresh.refresh(tiny.project, tell=lambda _: None)


def rows_of(table: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(line for line in table.read_text().splitlines() if line[0] != "#"))


def mean_of(seeds: range) -> float:
    import random

    return sum(random.Random(seed).random() for seed in seeds) / len(seeds)


def test_what_holds_on_other_seeds_is_counted(tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    start = next(s for s in range(1000, 9000) if abs(mean_of(range(s, s + 40)) - 0.5) < 0.02)
    mean = f"{mean_of(range(40)):.1f}"
    seeded(tiny, mean=mean, band=f"±{abs(mean_of(range(40)) - float(mean)) + 0.03:.3f}")
    table = tiny.root / "unseen.csv"
    for _ in range(2):  # the same seeds: one row
        assert elsewhere.unseen(tiny.project, start=start, table=table) == 0
    (row,) = rows_of(table)
    assert row == {"seeds from": str(start), "snippets": "1", "held": "2", "failed": "0"}
    said = capsys.readouterr().out
    assert f"seeds from {start} on, for 1 snippets; again: verify --unseen --start {start}" in said
    assert f"2 statements hold on seeds from {start} on, 0 do not" in said


def test_what_held_by_the_choice_of_seeds_is_found(tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    exact = f"{mean_of(range(40)):.4f}"
    more = f",\nas [always]({CODE}#lucky)"
    seeded(tiny, "seeds[0] == 0", exact, "±0.0001", more)
    assert elsewhere.unseen(tiny.project, ["residual/share"], start=5000) == 1
    measured = f"{mean_of(range(5000, 5040)):.6g}"
    said = capsys.readouterr().out
    assert f"FAILS docs/residual/path.md:3: statistical: stated {exact}, measured {measured}, " in said
    assert "% of its band" in said
    assert "FAILS docs/residual/path.md:5: condition: stated always, measured False" in said
    assert "1 statements hold on seeds from 5000 on, 2 do not" in said


def test_the_seeds_follow_the_date(tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    tiny.have("x = 1\n", {"x": 1})  # no seeds: nothing to do
    assert elsewhere.unseen(tiny.project) == 0
    first = int(capsys.readouterr().out.split()[2])
    assert first % elsewhere.PER_DAY == 0
    assert 10_000 <= first < 1_000_000  # beyond what an author uses, and short enough to be recorded many times over


SUMS = """import torch
generator = torch.Generator().manual_seed(0)
x = torch.randn(4096, generator=generator)
total = x.exp().sum().item()
product = (x.reshape(64, 64) @ x.reshape(64, 64)).sum().item()
coarse = round(total)
"""


def test_other_machines_move_bits_and_no_statement(tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    tiny.snippet(SUMS + "fine = total > 0\n")
    tiny.have("# timed: ratios\nratio = 1.0\n", {"ratio": 1.0}, "residual/timed")
    tiny.page(f"# T\n\nThe sum is [above zero]({CODE}#fine), and it is a [number]({CODE}#fine).\n")
    refresh.refresh(tiny.project, tell=lambda _: None)
    table = tiny.root / "machines.csv"
    status = elsewhere.machines(tiny.project, table=table)
    assert status == 0, capsys.readouterr().out  # and so some bit was changed by some setting
    lines = table.read_text().splitlines()
    assert lines[0].startswith("# python3 scripts/dev.py verify --machines, 20")
    rows = {row["setting"]: row for row in rows_of(table)}
    assert list(rows) == list(elsewhere.MACHINES)
    assert rows["one thread"]["moved"] == "0"
    assert rows["ATen without vectors"]["moved"] == "1"
    assert {(row["snippets"], row["statements"], row["failed"]) for row in rows.values()} == {("1", "2", "0")}


def test_what_another_version_moved_is_noted_beside_the_others(
    tiny: Tiny, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny.snippet("share = 0.881\nunstated = 1.0\n")
    tiny.have("# timed: ratios\nratio = 1.0\n", {"ratio": 1.0}, "residual/timed")
    tiny.page(f'# T\n\nIt is [0.88]({CODE}#share "±0.01").\n')
    tiny.record({"share": 0.881, "unstated": 1.0})
    table = tiny.root / "versions.csv"
    assert elsewhere.verify(tiny.project, table=table) == 0
    tiny.record({"share": 0.886, "unstated": 1.0})  # as another version would have it
    other = {"python": "3.99", "matplotlib": "9", "numpy": "9", "torch": "9.9"}
    for module in (elsewhere, tally):
        monkeypatch.setattr(module, "versions", lambda: other)
    assert elsewhere.verify(tiny.project, table=table) == 1  # the value differs beyond what is compared
    said = capsys.readouterr().out
    assert "4 runs of 2 snippets compared: some bit differs in 1, " in said
    assert said.count("0.886 → 0.881, ") == 2  # forked and cold
    rows = rows_of(table)
    assert [row["torch"] for row in rows] == [versions()["torch"], "9.9"]
    assert [(row["moved"], row["statements"], row["failed"]) for row in rows] == [("0", "1", "0"), ("1", "1", "2")]
    assert rows[1]["shift"] == "0.5"


@pytest.mark.parametrize("how", [[], ["--unseen"], ["--machines"]])
def test_a_table_that_cannot_be_noted_is_refused_before_anything_is_run(
    tiny: Tiny, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, how: list[str]
) -> None:
    monkeypatch.chdir(tiny.root)
    monkeypatch.setattr(Runner, "run_all", lambda *_: pytest.fail("was run"))
    other = tiny.write("other.csv", "a,b\n1,2\n")
    for table, said in (("none/x.csv", "there is no folder"), (".", "is a folder"), ("other.csv", "is another table")):
        assert main(["verify", *how, "--csv", table]) == 1
        err = capsys.readouterr().err
        assert said in err
        assert f"{table}: " in err
    assert other.read_text() == "a,b\n1,2\n"
    tiny.snippet("share = 0.5\n")
    assert main(["verify", *how, "--csv", "x.csv", "residual/share"]) == 1
    assert "leave out the names" in capsys.readouterr().err


def test_a_setting_reaches_the_libraries_of_a_fork(tiny: Tiny) -> None:
    """They read it when they first compute, and the server from which runs are forked never does."""
    script = tiny.snippet(SUMS)
    for settings in (elsewhere.AVX2, elsewhere.MACHINES["oneDNN with SSE4.1"][1], {}, elsewhere.LEAST):
        runners = [Runner(tiny.project, cold, environment=settings) for cold in (False, True)]
        forked, cold = (runner.run(Job(script)).record for runner in runners)
        assert forked
        assert cold
        assert (forked.values, forked.machine) == (cold.values, cold.machine), settings
        told = forked.machine["instructions"]
    assert told == "DEFAULT"  # the least that was asked for


def test_a_statement_that_rests_on_the_last_bit_fails_elsewhere(
    tiny: Tiny, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = ("one thread", "ATen without vectors")
    monkeypatch.setattr(elsewhere, "MACHINES", {name: elsewhere.MACHINES[name] for name in keep})
    tiny.snippet(SUMS)
    refresh.refresh(tiny.project, tell=lambda _: None)
    total = load(tiny.project.snippets / "residual/share").values["total"]
    tiny.page(f"# T\n\nThe sum is [above zero]({CODE}#fine).\n")
    tiny.snippet(SUMS + f"fine = total == {total!r}\n")
    refresh.refresh(tiny.project, tell=lambda _: None)
    assert elsewhere.machines(tiny.project) == 1
    assert "[above zero] does not hold" in capsys.readouterr().out


@pytest.mark.parametrize(("moved", "shift", "told"), [(0.0, 0.0, False), (0.0001, 0.01, False), (0.005, 0.5, True)])
def test_how_far_a_value_moved_is_told_in_tolerances(
    tiny: Tiny, capsys: pytest.CaptureFixture[str], moved: float, shift: float, told: bool
) -> None:
    tiny.snippet("share = 0.881\n")
    tiny.page(f'# T\n\nIt is [0.88]({CODE}#share "±0.01").\n')
    tiny.record({"share": 0.881})
    (before,) = tiny.found().claims
    tiny.record({"share": 0.881 + moved})
    (after,) = tiny.found().claims
    assert elsewhere._shift(before, after) == pytest.approx(shift)
    assert capsys.readouterr().out == ""
    elsewhere._tell_shifts([(before, after), (before, None)])
    assert ("of the tolerance" in capsys.readouterr().out) == told
