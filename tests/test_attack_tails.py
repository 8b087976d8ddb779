"""A mutant that is run from the statement it changes gives what a run of all of it gives; what can not be is left."""

from __future__ import annotations

import dataclasses
import time

import pytest

from attack_tails import Tails, controls
from conftest import Tiny
from evidence.run import Job, Runner
from mutate import changes

HEAD = 'print("head")\nheight = 2.5\n\n\ndef twice(x: float) -> float:\n    return 2 * x\n\n\n'
SHARED = HEAD + 'a = twice(height)\nopen("a.txt", "w").write(str(a))\nb = a < 3\nprint("tail", b)\n'
DRAWN = "import random\n\nrandom.seed(1)\nfirst = random.random()\nsecond = random.random() + 1\n"
OPEN = 'file = open("a.txt", "w")\nfile.write("1")\na = 2\n'
THREAD = (
    "import threading\n\nstop = threading.Event()\nthreading.Thread(target=stop.wait, daemon=True).start()\na = 2\n"
)
RAISES = "a = 1\nb = 1 / a\nc = [7][a - 1]\n"


@pytest.mark.parametrize("source", [SHARED, DRAWN, RAISES])
def test_it_gives_what_a_whole_run_gives(tiny: Tiny, source: str) -> None:
    made = list(changes(source))
    script = tiny.snippet(source)
    runner = Tails(tiny.project, made, patience=1, at_once=2)
    control = runner.run(Job(script))
    assert control == Runner(tiny.project).run(Job(script))
    assert set(runner.ends) == set(range(len(made)))
    for number, change in enumerate(made):
        whole = Runner(tiny.project).run(Job(dataclasses.replace(script, source=change.source)))
        ended = runner.ends[number]
        assert bool(ended.error) == bool(whole.error), change
        if whole.record and ended.record:
            assert (ended.record.values, ended.record.files) == (whole.record.values, whole.record.files), change


@pytest.mark.parametrize("source", [OPEN, THREAD])
def test_what_can_not_be_forked_has_no_run(tiny: Tiny, source: str) -> None:
    made = [change for change in changes(source) if "2" in change.old]
    runner = Tails(tiny.project, made, patience=1, at_once=2)
    runner.run(Job(tiny.snippet(source)))
    assert len(made) == 1
    assert runner.ends == {}


def test_nothing_changed_gives_the_same_at_each_statement(tiny: Tiny) -> None:
    unchanged = controls(SHARED, list(changes(SHARED)))
    assert [one.line for one in unchanged] == [2, 5, 11]
    runner = Tails(tiny.project, unchanged, patience=1, at_once=2)
    control = runner.run(Job(tiny.snippet(SHARED)))
    assert [runner.ends[number] for number in range(3)] == [control] * 3


def test_two_statements_on_a_line_are_no_two_forks(tiny: Tiny) -> None:
    made = list(changes("a = 1; b = 2\n"))
    runner = Tails(tiny.project, made, patience=1, at_once=2)
    runner.run(Job(tiny.snippet("a = 1; b = 2\n")))
    assert [run.record.values for _, run in sorted(runner.ends.items()) if run.record] == [
        {"a": 2, "b": 2},
        {"a": 1, "b": 3},
    ]


@pytest.mark.parametrize(("waits", "patience"), [("time.sleep(0.1)", 1), ("pass", 100)])
def test_a_mutant_that_hangs_is_ended_and_the_others_go_on(tiny: Tiny, waits: str, patience: int) -> None:
    source = f"# limits: 2 s, 1 GB\nimport time\na = 3\nwhile a != 2:\n    a -= 1\n    {waits}\nb = a\n"
    made = list(changes(source))
    runner = Tails(tiny.project, made, patience=patience, at_once=2)
    began = time.monotonic()
    runner.run(Job(tiny.snippet(source)))
    assert waits != "pass" or time.monotonic() - began < 2 * patience  # it computes, so it is ended by its own clock
    ended = {str(made[number]): run.error for number, run in runner.ends.items()}
    assert len(ended) == len(made)
    assert ended["line 5:10: 1 → 2"] == "was stopped from outside"
    assert ended["line 3:5: 3 → 4"] is None
