"""Whatever ends a training, no finished cell is lost, no process is left, and the same command goes on."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

import toy
from conftest import Tiny
from evidence_grid import results
from evidence_grid.grid import Grid
from processes import gone, none_in, soon

COUNT = 8


@pytest.fixture
def slow(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> Grid:
    """Cells of which some end at once, and the rest take longer than any test; folders of cells lie in the project."""
    (tiny.root / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tiny.root / "scratch"))
    return toy.experiment(tiny, toy.seeds(COUNT // 2), toy.seeds(COUNT // 2, seconds=600.0))


def whole(found: Grid) -> int:
    """How many results there are, after a look that each is whole."""
    paths = list(found.results.glob("*"))
    assert all(results.load(path).experiment == "toy" for path in paths)
    return len(paths)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_midway_loses_no_finished_cell(tiny: Tiny, slow: Grid, number: signal.Signals, tmp_path: Path) -> None:
    log, scratch = tmp_path / "log", tiny.root / "scratch"
    with toy.start(tiny, "train", "toy", "--jobs", "3", TOY_LOG=str(log)) as process:
        assert soon(lambda: len(toy.trained(log)) == COUNT // 2 + 3 and whole(slow) == COUNT // 2)
        process.send_signal(number)
        err = process.communicate(timeout=120)[1]
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert gone(str(scratch))  # of the cells that still ran
    assert soon(lambda: not list(scratch.iterdir()))
    before = toy.files(slow)
    assert whole(slow) == COUNT // 2
    if number == signal.SIGINT:
        assert err.endswith(f"{COUNT // 2} cells trained, 0 failed, {COUNT // 2} left to train\n")
    quick = toy.experiment(tiny, toy.seeds(COUNT))
    assert len(results.state(quick).done) == COUNT // 2
    log.unlink()
    assert toy.command(tiny, "train", "toy", TOY_LOG=str(log))[0] == 0
    assert len(toy.trained(log)) == COUNT // 2  # those that were done are not trained again
    assert before.items() < toy.files(quick).items()
    assert not list((tiny.project.cache / "parts").iterdir()) or number == signal.SIGKILL


def test_killed_at_any_moment_every_file_is_whole(tiny: Tiny, tmp_path: Path) -> None:
    found, log = toy.experiment(tiny, toy.seeds(12, seconds=0.05)), tmp_path / "log"
    for begun in (2, 4, 7):  # more cells, until the kill
        already, done = len(toy.trained(log)), whole(found)
        with toy.start(tiny, "train", "toy", "--jobs", "2", TOY_LOG=str(log)) as process:
            assert soon(lambda: len(toy.trained(log)) >= already + begun or process.poll() is not None)  # noqa: B023
            process.kill()
        assert whole(found) >= done
    assert toy.command(tiny, "train", "toy")[0] == 0
    assert len(results.state(found).done) == whole(found) == 12


def test_two_at_once_train_each_cell_once(tiny: Tiny, tmp_path: Path) -> None:
    found, log = toy.experiment(tiny, toy.seeds(6, seconds=0.2)), tmp_path / "log"
    with (
        toy.start(tiny, "train", "toy", TOY_LOG=str(log)) as one,
        toy.start(tiny, "train", "toy", TOY_LOG=str(log)) as other,
    ):
        said = [process.communicate()[1] for process in (one, other)]
    assert (one.returncode, other.returncode) == (0, 0)
    assert len(toy.trained(log)) == whole(found) == 6
    waited = sum("another training of this project is running: waiting for it" in text for text in said)
    assert waited <= 1
    assert sorted(int(re.findall(r"(\d+) cells trained", text)[-1]) for text in said) == [0, 6]


def test_a_cell_ends_when_whoever_asked_is_gone_though_it_computes(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    (tiny.root / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tiny.root / "scratch"))
    toy.experiment(tiny, toy.seeds(1), trainer="while True:\n    open('here', 'w').write(str(sum(range(1000))))\n")
    with toy.start(tiny, "train", "toy") as process:
        assert soon(lambda: bool(list((tiny.root / "scratch").glob("cell-*/work/here"))))
        process.kill()
    assert none_in(tiny.root / "scratch")
