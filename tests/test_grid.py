"""An experiment: what its grid stands for, that only what is missing is trained, and what a failing cell says."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

import toy
from conftest import Tiny
from evidence.project import Refusal
from evidence_grid import grid, results
from evidence_grid.grid import Cell, expand
from evidence_grid.train import Progress

# --- the grid -----------------------------------------------------------------------------------------------------


def test_a_block_is_every_combination_and_what_is_set() -> None:
    block = {"product": {"depth": [6, 12], "seed": [0, 1, 2]}, "set": {"norm": "rmsnorm"}}
    cells = list(expand("toy", [block]))
    assert len(cells) == 6
    assert all(cell.given["norm"] == "rmsnorm" for cell in cells)
    assert [cell.given["seed"] for cell in cells] == [0, 0, 1, 1, 2, 2]  # a seed of all, before the next of any
    assert {(cell.given["depth"], cell.given["seed"]) for cell in cells} == {(d, s) for d in (6, 12) for s in range(3)}


def test_a_cell_in_two_blocks_is_one(tiny: Tiny) -> None:
    found = toy.experiment(tiny, toy.seeds(3, depth=2), toy.seeds(5, depth=2), {"set": {"depth": 3}})
    assert [cell.slug for cell in found.cells] == [*(f"depth-2_seed-{i}" for i in range(5)), "depth-3"]


def test_the_name_is_readable_and_the_arguments_come_back_as_they_were() -> None:
    given = {"seed": 3, "lr": 1e-5, "norm": "none", "residual": True, "text": "12", "nothing": None, "dims": [1, 2]}
    cell = Cell("toy", given)
    assert cell.slug == "dims-1+2_lr-1e-05_norm-none_nothing-null_residual-true_text-12_seed-3"
    read = {}
    for argument in cell.arguments:
        key, _, text = argument.partition("=")
        try:
            read[key] = json.loads(text)
        except ValueError:
            read[key] = text
    assert read == given
    assert len(Cell("toy", {"text": "x" * 500}).slug) <= grid.LONGEST


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"products": {"a": [1]}}, 'a block has "product" and "set"'),
        ({"product": {"a": 1}}, "the values of a are a list"),
        ({"product": {"a": []}}, "the values of a are a list"),
        ({"product": {"a": [1]}, "set": {"a": 2}}, "a stands in both product and set"),
        ({"set": {"a b": 2}}, "'a b' is no name of a parameter"),
        ([], "malformed"),
    ],
)
def test_a_malformed_grid_is_refused(tiny: Tiny, block: Any, message: str) -> None:
    with pytest.raises(Refusal, match=re.escape(message)):
        toy.experiment(tiny, block)


def test_an_unknown_experiment_names_those_there_are(tiny: Tiny) -> None:
    toy.experiment(tiny, toy.seeds(1))
    status, _, err = toy.command(tiny, "train", "toys")
    assert status == 1
    assert "there is no such grid; known: toy" in err
    assert "which experiment? all, or one of: toy" in toy.command(tiny, "train")[2]


def test_a_trainer_that_is_not_there_is_refused(tiny: Tiny) -> None:
    tiny.write("snippets/training/toy.grid.json", '{"script": "train_none.py", "cells": []}')
    with pytest.raises(Refusal, match=re.escape("train_none.py does not exist")):
        grid.load_all(tiny.project)


# --- training -----------------------------------------------------------------------------------------------------


def test_only_what_is_missing_is_trained(tiny: Tiny, tmp_path: Path) -> None:
    found, log = toy.experiment(tiny, toy.seeds(4)), tmp_path / "log"
    status, _, err = toy.command(tiny, "train", "toy", "--limit", "3", TOY_LOG=str(log))
    assert status == 0
    assert len(toy.files(found)) == 3
    assert err.startswith("toy: 4 cells; 0 done, 4 to train\n")
    assert err.endswith("3 cells trained, 0 failed, 1 left to train\n")
    before = toy.files(found)
    assert toy.command(tiny, "train", "all", TOY_LOG=str(log))[0] == 0
    assert len(toy.trained(log)) == 4
    assert before.items() < toy.files(found).items()
    one = results.load(found.results / "seed-3.json")
    assert (one.given, one.result["final_loss"], one.cell["norm"]) == ({"seed": 3}, 1.103, "none")


def test_the_trainer_has_one_thread_and_its_files_and_a_folder_of_its_own(tiny: Tiny) -> None:
    reads = (
        "# reads: snippets/training/words.txt\n"
        "import os, pathlib\n"
        "assert pathlib.Path('words.txt').read_text() == 'ab' and os.listdir() == ['words.txt']\n"
        "assert os.environ['OMP_NUM_THREADS'] == '1' and __name__ == '__main__'\n"
    )
    tiny.write("snippets/training/words.txt", "ab")
    found = toy.experiment(tiny, toy.seeds(1), trainer=reads + toy.TRAINER)
    status, _, err = toy.command(tiny, "train", "toy")
    assert (status, len(toy.files(found))) == (0, 1), err
    tiny.write("snippets/training/words.txt", "cd")
    assert "made by another snippets/training/words.txt" in str(results.state(grid.load_all(tiny.project)[0]).stale)


FAILURES = {
    "crash": "ended with status 1\n    line 1",
    "nothing": "wrote no cell.json",
    "truncate": "wrote a malformed cell.json: ",
    "forget": "wrote a malformed cell.json: its cell does not have the given lr",
    "die": "died with SIGKILL",
}


def test_a_failing_cell_is_named_and_the_others_go_on(tiny: Tiny) -> None:
    does = {"product": {"does": [*FAILURES, "train"]}, "set": {"lr": 0.5}}
    found = toy.experiment(tiny, does)
    status, _, err = toy.command(tiny, "train", "toy", "--jobs", "2")
    assert status == 1
    assert list(toy.files(found)) == ["does-train_lr-0.5"]
    for kind, said in FAILURES.items():
        assert f"toy/does-{kind}_lr-0.5: {said}" in err
        assert f"failed: toy/does-{kind}_lr-0.5\n" in err
    assert "    OverflowError: of depth\n" in err
    assert "line 0\n" not in err
    assert "1 cells trained, 5 failed, 5 left to train" in err


def test_nan_is_no_json(tiny: Tiny) -> None:
    found = toy.experiment(tiny, {"set": {"does": "nan"}})
    assert "NaN is no JSON; write null" in toy.command(tiny, "train", "toy")[2]
    assert toy.files(found) == {}


def test_a_result_of_another_source_is_listed_and_trained_again(tiny: Tiny, tmp_path: Path) -> None:
    found, log = toy.experiment(tiny, toy.seeds(2)), tmp_path / "log"
    toy.command(tiny, "train", "toy")
    found = toy.experiment(tiny, toy.seeds(2), trainer=toy.TRAINER.replace("# a comment", "# reworded"))
    assert len(results.state(found).done) == 2  # a comment moves nothing
    found = toy.experiment(tiny, toy.seeds(2), trainer=toy.TRAINER.replace('cell["depth"] +', '2 * cell["depth"] +'))
    assert len(results.state(found).stale) == 2
    assert "made by another snippets/training/train_toy.py; run: python3 scripts/dev.py train toy" in problems(tiny)
    status, _, err = toy.command(tiny, "train", "toy", TOY_LOG=str(log))
    assert status == 0
    assert "toy: 2 cells; 0 done, 2 to train, 2 stale\n" in err
    assert "to be trained again, made by another snippets/training/train_toy.py: seed-0, seed-1" in err
    assert results.load(found.results / "seed-1.json").result["final_loss"] == pytest.approx(2.101)
    assert problems(tiny) == ""


def test_a_result_of_another_release_or_edited_by_hand_is_trained_again(tiny: Tiny) -> None:
    found = toy.experiment(tiny, toy.seeds(2))
    toy.command(tiny, "train", "toy")
    one = results.load(found.results / "seed-0.json")
    older = results.Result(**{**vars(one), "versions": {**one.versions, "torch": "1.9.0"}})
    results.save(tiny.project, older, found.results / "seed-0.json")
    edited = found.results / "seed-1.json"
    edited.write_text(edited.read_text().replace("1.101", "1.001"))
    state = results.state(found)
    assert "made with torch 1.9.0, here is" in state.stale["seed-0"]
    assert state.damaged["seed-1"] == "its digest does not match: it was edited by hand or damaged"
    assert [cell.slug for cell in state.missing] == ["seed-0", "seed-1"]


def test_a_file_that_belongs_to_no_cell_is_a_problem(tiny: Tiny) -> None:
    toy.experiment(tiny, toy.seeds(2))
    toy.command(tiny, "train", "toy")
    toy.experiment(tiny, toy.seeds(1))
    assert "belongs to no cell of the grid: seed-1" in toy.command(tiny, "train", "toy")[2]
    assert "results/toy/seed-1.json: belongs to no cell of the grid" in problems(tiny)


def problems(tiny: Tiny) -> str:
    """What `dev.py check` says is wrong with experiments."""
    return "\n".join(
        line for line in toy.command(tiny, "check")[2].splitlines() if "toy" in line and ".py: has" not in line
    )


# --- tables -------------------------------------------------------------------------------------------------------


def test_the_tables_say_what_the_results_say(tiny: Tiny) -> None:
    toy.experiment(tiny, toy.seeds(2, lr=0.5), {"set": {"does": "diverge"}})
    toy.command(tiny, "train", "toy")
    table = tiny.root / "snippets/training/toy.csv"
    assert table.read_text() == (
        "slug,depth,lr,norm,seed,does,seconds,final_loss,first_non_finite,stalled,window\n"
        "lr-0.5_seed-0,1,0.5,none,0,train,0,1.5,,false,10\n"
        "lr-0.5_seed-1,1,0.5,none,1,train,0,1.501,,false,10\n"
        "does-diverge,1,0.1,none,0,diverge,0,,100,false,10\n"
    )
    curves = table.with_name("toy_curves.csv").read_text().splitlines()
    assert curves == [
        "slug,step,loss", "lr-0.5_seed-0,10,3", "lr-0.5_seed-0,20,1.5", "lr-0.5_seed-1,10,3.002",
        "lr-0.5_seed-1,20,1.501", "does-diverge,10,2.2", "does-diverge,20,",
    ]  # fmt: skip
    cells = json.loads(table.with_name("toy_cells.json").read_text())
    assert list(cells) == ["lr-0.5_seed-0", "lr-0.5_seed-1", "does-diverge"]
    assert (cells["lr-0.5_seed-1"]["lr"], cells["lr-0.5_seed-1"]["curve"]) == (0.5, [3.002, 1.501])
    assert problems(tiny) == ""
    table.write_text(table.read_text().replace("1.501", "1.502"))
    assert "training/toy.csv: is not what the results say; run: python3 scripts/dev.py train toy --limit 0" in problems(
        tiny
    )
    toy.command(tiny, "train", "toy", "--limit", "0")
    assert problems(tiny) == ""


def test_curves_that_are_too_large_are_thinned(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    from evidence_grid import table

    curve = "[loss + i for i in range(100)]"
    toy.experiment(tiny, toy.seeds(3), trainer=toy.TRAINER.replace("[2 * loss, loss]", curve))
    toy.command(tiny, "train", "toy")
    found = grid.load_all(tiny.project)[0]
    whole, path = {}, tiny.root / "snippets/training/toy_curves.csv"
    for largest in (500_000, 2000, 300):
        monkeypatch.setattr(table, "LARGEST", largest)
        whole[largest] = table.tables(found)[path]
    assert whole[500_000].count("\n") == 301  # type: ignore[union-attr]
    assert whole[300] is None
    thin = whole[2000] or ""
    assert 1000 < len(thin) <= 2000
    assert thin.count(",1000,100.1") == 3  # the last point stays


# --- progress -----------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_without_a_terminal_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    progress = Progress(10, 2, stream=out)
    for _ in range(8):
        now[0] += 4
        progress.step()
    progress.close()
    lines = out.getvalue().splitlines()
    assert len(lines) == 4  # the first, then one in ten seconds or more, and the last
    assert re.match(r"cells: +30%.* 3/10 \[00:04<00:28", lines[0])  # time left from what was trained now
    assert "10/10 [00:32<00:00" in lines[-1]
    assert "\r" not in out.getvalue()


def test_progress_on_a_terminal_is_a_bar() -> None:
    out = Terminal()
    progress = Progress(2, stream=out)
    progress.step()
    progress.say("a cell failed")
    progress.step()
    progress.close()
    assert "2/2" in out.getvalue()
    assert "a cell failed\n" in out.getvalue()
