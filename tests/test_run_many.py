"""How many run at once, how they are ended, and what becomes of a keeper that hangs: with runs that are made up."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from conftest import Tiny
from evidence import keeper
from evidence.run import COLD_IMPORTS, Job, Run, Runner
from evidence.snippet import Snippet

# --- many at once -----------------------------------------------------------------------------------------------------


class Counting(Runner):
    """Notes what runs at the same time."""

    def __init__(self, tiny: Tiny, **options: Any) -> None:
        super().__init__(tiny.project, **options)
        self.lock, self.now, self.most, self.began = threading.Lock(), 0, 0, list[str]()
        self.beside: dict[str, int] = {}

    def run(self, job: Job) -> Run:
        name = job.snippet.name
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.beside[name] = self.now
            self.began.append(name)
        self.work(name)
        with self.lock:
            self.now -= 1
        return Run(job.snippet, None, None)

    def work(self, name: str) -> None:
        time.sleep(0.05)


def scripts(tiny: Tiny, **sources: str) -> list[Snippet]:
    return [tiny.snippet(source, f"residual/{name}") for name, source in sources.items()]


def test_two_run_at_once_and_what_is_timed_alone_at_the_end(tiny: Tiny) -> None:
    sources = {"t1": "# timed: one run\n", "a": "", "b": "", "c": "", "d": "", "t2": "# timed: one run\n", "e": ""}
    runner = Counting(tiny)
    ended = [run.snippet.name for run in runner.run_all(map(Job, scripts(tiny, **sources)))]
    assert sorted(ended) == sorted(f"residual/{name}" for name in sources)
    assert sorted(runner.began) == sorted(ended)
    assert ended[-2:] == runner.began[-2:] == ["residual/t1", "residual/t2"]
    assert (runner.beside["residual/t1"], runner.beside["residual/t2"], runner.most) == (1, 1, 2)


class Held(Counting):
    """Whose runs have keepers, which last until they are told to end; the first run has none."""

    def work(self, name: str) -> None:
        if name != "residual/first":
            with subprocess.Popen(["sleep", "10"]) as process, self._kept(process.pid):
                self.status = process.wait()


def test_who_stops_asking_ends_what_runs_and_starts_no_more(tiny: Tiny) -> None:
    runner = Held(tiny, workers=1)
    runs = runner.run_all(map(Job, scripts(tiny, first="", second="", third="")))
    assert next(runs).snippet.name == "residual/first"
    while not runner._keepers:
        time.sleep(0.01)
    runs.close()
    assert runner.status == -signal.SIGTERM
    assert runner.began == ["residual/first", "residual/second"]
    runner.work("late")  # a run that had begun, and gets its keeper only now
    assert runner.status == -signal.SIGTERM
    assert not runner._keepers


def test_a_runner_that_was_not_stopped_ends_nothing(tiny: Tiny) -> None:
    with subprocess.Popen(["sleep", "1"]) as process, Runner(tiny.project)._kept(process.pid):
        assert process.wait() == 0


def test_a_keeper_that_has_ended_already_is_no_matter(tiny: Tiny) -> None:
    runner = Runner(tiny.project)
    runner._stopped = True
    with subprocess.Popen(["sleep", "0"]) as process:
        process.wait()
    with runner._kept(process.pid):
        assert runner._keepers == {process.pid}


# --- the process above it ---------------------------------------------------------------------------------------------


class Process:
    """A keeper that hangs, or has ended."""

    pid, stdin = 2**22 + 1, None  # more than any system gives

    def __init__(self, hangs: bool) -> None:
        self.hangs, self.waited, self.killed = hangs, list[Any](), False
        self.exitcode = None if hangs else 0

    def start(self) -> None:
        self.environment, self.main = dict(os.environ), sys.modules["__main__"]

    def join(self, seconds: float | None = None) -> None:
        self.waited.append(seconds)

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        if self.hangs:
            raise subprocess.TimeoutExpired("keeper", seconds)

    def kill(self) -> None:
        self.killed = True


@pytest.mark.parametrize("hangs", [False, True])
def test_a_forked_keeper_that_hangs_is_killed(tiny: Tiny, monkeypatch: pytest.MonkeyPatch, hangs: bool) -> None:
    process, preloaded, asked = Process(hangs), list[str](), list[Any]()

    def make(**options: Any) -> Process:
        asked.append(options)
        return process

    context = SimpleNamespace(Process=make, set_forkserver_preload=preloaded.extend)
    monkeypatch.setattr(multiprocessing, "get_context", {"forkserver": context}.__getitem__)
    monkeypatch.setenv("OMP_NUM_THREADS", "9")
    monkeypatch.delenv("MPLBACKEND", raising=False)
    before, main = dict(os.environ), sys.modules["__main__"]
    runner = Runner(tiny.project, environment={"OTHER": "1"})
    runner._forked({"seconds": 5})
    assert asked == [{"target": keeper.main, "args": ({"seconds": 5},)}]
    assert preloaded == ["torch", "evidence.keeper"]
    assert process.waited == ([25, None] if hangs else [25])
    assert process.killed == hangs
    assert (process.environment["OMP_NUM_THREADS"], process.environment["MPLBACKEND"]) == ("1", "agg")
    assert "OTHER" not in process.environment  # which what is forked later would inherit
    assert isinstance(process.main, ModuleType)
    assert process.main is not main
    assert not vars(process.main).get("__file__")
    assert (dict(os.environ), sys.modules["__main__"]) == (before, main)


@pytest.mark.parametrize("hangs", [False, True])
def test_a_cold_keeper_that_hangs_is_killed(tiny: Tiny, monkeypatch: pytest.MonkeyPatch, hangs: bool) -> None:
    process, stdin, started = Process(hangs), io.BytesIO(), list[Any]()

    def start(command: list[str], **options: Any) -> Any:
        process.stdin = stdin  # type: ignore[assignment]
        started.append((command, options["env"]))
        return contextlib.nullcontext(process)

    monkeypatch.setattr(subprocess, "Popen", start)
    Runner(tiny.project, cold=True, environment={"OTHER": "1"})._cold({"seconds": 5})
    assert process.waited == [5 + 2 * COLD_IMPORTS] == [45]
    assert process.killed == hangs
    assert stdin.getvalue() == b'{"seconds": 5}\n'
    [(command, environment)] = started
    assert command == [sys.executable, "-P", "-m", "evidence.keeper"]
    assert (environment["OTHER"], environment["OMP_NUM_THREADS"], environment["PATH"]) == ("1", "1", os.environ["PATH"])


def test_it_forks_where_the_platform_can(tiny: Tiny) -> None:
    assert Runner(tiny.project).cold is (sys.platform == "win32")
    assert Runner(tiny.project, cold=True).cold is True
