"""The process above a run: its limits to the unit, and its end when nobody waits, when it is told and when killed."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Tiny
from evidence import keeper
from evidence.run import Job, Runner
from processes import gone, none_in, soon
from test_run import run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what runs below a process")
FORKS = """import os, time
for _ in range({count}):
    if os.fork() == 0:
        time.sleep(5)
        os._exit(0)
time.sleep(0.5)
"""
SPARSE = """import os, time
for name in "abcd":
    open(name, "w").close()
    os.truncate(name, 64 * 2**20)
open("e", "w").write("{more}")
time.sleep(0.5)
"""
NESTED = """import subprocess
inner = "import time; time.sleep(60) # {mark}"
for _ in range(3):
    inner = f"import subprocess as s, sys, time; s.Popen([sys.executable, '-c', {{inner!r}}], start_new_session=True)"
    inner += "; time.sleep(60) # {mark}"
import sys, time
subprocess.Popen([sys.executable, "-c", inner], start_new_session=True)
time.sleep(1)
"""


@pytest.mark.parametrize(("count", "error"), [(63, None), (64, "started more than 64 processes")])
def test_it_may_have_so_many_processes_and_itself(tiny: Tiny, count: int, error: str | None) -> None:
    assert run(tiny, FORKS.format(count=count)).error == error


@pytest.mark.parametrize(("more", "limit"), [("", "8,388,608"), ("x", "268,435,456")])
def test_so_many_bytes_are_too_many_when_it_ends_and_more_at_once(tiny: Tiny, more: str, limit: str) -> None:
    assert run(tiny, SPARSE.format(more=more)).error == f"wrote more than {limit} bytes of files"


def test_a_fresh_interpreter_has_more_time_for_its_imports(tiny: Tiny) -> None:
    assert run(tiny, "# limits: 5 s, 4 GB\nimport numpy\nx = 1\n", cold=True).error is None


def test_what_detached_itself_from_what_detached_itself_is_gone_too(tiny: Tiny) -> None:
    mark = f"nested-{os.getpid()}"
    assert run(tiny, NESTED.format(mark=mark)).error is None
    assert gone(mark)


class Kept(Runner):
    """A run whose keeper is met while it runs."""

    meet: Callable[[subprocess.Popen[bytes]], object]

    def _forked(self, request: dict[str, Any]) -> None:
        folder = Path(request["folder"])
        command = [sys.executable, "-P", "-m", "evidence.keeper"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, **self._environment()}) as process:
            assert process.stdin
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            assert soon((folder / "work/started").exists)
            type(self).meet(process)
            self.status = process.wait(20)
        self.gone, self.removed = none_in(folder), not folder.exists()


@pytest.mark.parametrize(
    ("meet", "removed"),
    [
        (lambda process: process.stdin.close(), True),
        (lambda process: process.send_signal(signal.SIGTERM), True),
        (lambda process: process.kill(), False),  # who asked for it removes the folder
    ],
    ids=["nobody waits", "told", "killed"],
)
def test_the_run_ends_with_whoever_wants_it(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch, meet: Callable[[Any], object], removed: bool
) -> None:
    monkeypatch.setattr(Kept, "meet", staticmethod(meet), raising=False)
    runner = Kept(tiny.project)
    source = "# limits: 100 s, 1 GB\nimport time\nopen('started', 'w').close()\ntime.sleep(90)\n"
    assert runner.run(Job(tiny.snippet(source))).error == "was stopped from outside"
    assert (runner.gone, runner.removed) == (True, removed)


def test_a_folder_that_is_gone_already_is_no_failure(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    def meet(process: subprocess.Popen[bytes]) -> None:
        shutil.rmtree(Path(tempfile.gettempdir()))
        assert process.stdin
        process.stdin.close()

    scratch = tiny.root / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setattr(Kept, "meet", staticmethod(meet), raising=False)
    runner = Kept(tiny.project)
    source = "# limits: 100 s, 1 GB\nimport time\nopen('started', 'w').close()\ntime.sleep(90)\n"
    assert runner.run(Job(tiny.snippet(source))).error == "was stopped from outside"
    assert (runner.gone, runner.status) == (True, 0)


@pytest.mark.parametrize(
    ("then", "ended"),
    [("", "died with status 1, without a traceback"), ("import time; time.sleep(90)", "still running after 1 s")],
)
def test_a_snippet_that_removes_the_folder_it_runs_in_is_told_so(tiny: Tiny, then: str, ended: str) -> None:
    source = f"# limits: 1 s, 1 GB\nimport os, shutil\nshutil.rmtree(os.path.dirname(os.getcwd()))\n{then}\n"
    error = Runner(tiny.project).run(Job(tiny.snippet(source))).error or ""
    assert error.startswith(ended)
    assert error.endswith("; it had removed the folder that it ran in")


def test_it_looks_ten_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    ends, waits = iter([(0, 0), (0, 0), (5, 256)]), list[float]()

    def ready(*arguments: Any) -> tuple[list[int], list[int], list[int]]:
        waits.append(arguments[-1])
        return [], [], []

    monkeypatch.setattr(os, "waitpid", lambda *_: next(ends))
    monkeypatch.setattr(select, "select", ready)
    monkeypatch.setattr(keeper, "_excess", lambda *_: None)
    assert keeper._watch({"seconds": 50, "grace": 0}, 1, 2, 3) == "died with status 1, without a traceback"
    assert waits == [0.1, 0.1]
