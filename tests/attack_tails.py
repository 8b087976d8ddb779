"""Runs the mutants of a snippet from the statement that each changes: what comes before is run once, and forked.

A mutant of the last line costs that line, not the snippet. What can not be shared so (the statement was reached with
threads running or a file open) has no run here, and is run whole. A mutant may compute as long as its snippet's limit,
by the processor's clock: however busy the machine is, no more is needed to know that it would not end in time.
"""

from __future__ import annotations

import ast
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import types
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from evidence import child, keeper
from evidence.plain import plain_values
from evidence.project import Project
from evidence.run import COLD_IMPORTS, Run, Runner
from evidence.snippet import Snippet
from mutate import Change

ROOT = Path(__file__).resolve().parents[1]


def controls(source: str, made: Sequence[Change]) -> list[Change]:
    """No change at all, at each statement that some of these change: what a fork there gives has to be the same."""
    begun = [
        statement.lineno for statement in _statements(source) if any(_holds(statement, change.line) for change in made)
    ]
    return [Change("control", line, 0, "", "", source) for line in begun]


class Tails(Runner):
    """A runner of one snippet, which leaves in `ends` the runs of its mutants, by their number."""

    def __init__(self, project: Project, made: Sequence[Change], patience: int, at_once: int) -> None:
        super().__init__(project, patience=patience)
        self.made, self.at_once = made, at_once
        self.ends: dict[int, Run] = {}

    def _forked(self, request: dict[str, Any]) -> None:
        mutants = [(change.line, change.source) for change in self.made]
        computing = request["seconds"] // self.patience
        more = {"mutants": mutants, "at_once": self.at_once, "computing": computing}
        paths = os.pathsep.join([str(ROOT / "scripts"), str(ROOT / "tests")])
        subprocess.run(
            [sys.executable, "-B", "-P", __file__],
            input=json.dumps({**request, **more}).encode(),
            env={**os.environ, **self._environment(), "PYTHONPATH": paths},
            stdout=subprocess.DEVNULL,
            timeout=COLD_IMPORTS + request["seconds"] * (len(mutants) + 1),
            check=False,  # what it did not write is not there
        )

    def _collect(
        self, snippet: Snippet, folder: Path, token: str, rests_on: dict[str, str], given: dict[str, bytes]
    ) -> Run:
        for number in range(len(self.made)):
            if (place := folder / str(number)).is_dir():
                self.ends[number] = super()._collect(snippet, place, token, rests_on, given)
        return super()._collect(snippet, folder, token, rests_on, given)


def main(job: Mapping[str, Any]) -> NoReturn:
    """In a process of its own: the snippet, statement by statement, with a fork for each mutant of the next one."""
    import matplotlib.pyplot  # noqa: F401 - as the engine's server has
    import torch  # noqa: F401

    keeper._prctl(keeper.DIE_TOO, signal.SIGKILL)
    folder = Path(job["folder"])
    child._isolate(dict(job), folder)
    child._limit(dict(job))
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    child._watch(dict(job))
    tails = Forks(job, folder)
    body, forked = _statements(job["source"]), set[int]()
    for place, statement in enumerate(body):
        for number, (line, source) in enumerate(job["mutants"]):
            if _holds(statement, line) and number not in forked and _alone(folder / "work"):
                forked.add(number)  # a line may have two statements
                tails.fork(number, partial(_finish, job, source, place, module))
        if error := _execute([statement], module, job["file"]):
            raise SystemExit(error)
    tails.wait(0)
    _write(job, folder, module, None)


def _statements(source: str) -> list[ast.stmt]:
    return ast.parse(child.CELL.sub("print('# %%')", source)).body


def _holds(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= (statement.end_lineno or 0)


def _alone(work: Path) -> bool:
    """Whether a fork has all there is: threads would be missing in it, and an open file would be shared."""
    opened = [os.path.realpath(path) for path in Path("/proc/self/fd").iterdir()]
    return len(os.listdir("/proc/self/task")) == 1 and not any(path.startswith(f"{work}{os.sep}") for path in opened)


def _execute(statements: list[ast.stmt], module: types.ModuleType, file: str) -> str | None:
    try:
        exec(compile(ast.Module(statements, []), file, "exec", dont_inherit=True), module.__dict__)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return None


def _finish(job: Mapping[str, Any], source: str, place: int, module: types.ModuleType, folder: Path) -> NoReturn:
    """In a fork: the rest of the mutant, from this statement on, in a folder of its own."""
    keeper._prctl(keeper.DIE_TOO, signal.SIGKILL)
    for number, name in ((1, "stdout"), (2, "stderr")):
        target = os.open(folder / name, os.O_WRONLY | os.O_APPEND)
        os.dup2(target, number)
        os.close(target)
    os.chdir(folder / "work")
    resource.setrlimit(resource.RLIMIT_CPU, (job["computing"], resource.RLIM_INFINITY))
    _write(job, folder, module, _execute(_statements(source)[place:], module, job["file"]))


def _write(job: Mapping[str, Any], folder: Path, module: types.ModuleType, error: str | None) -> NoReturn:
    values: dict[str, Any] = {}
    try:
        sys.stdout.flush()
        values = {} if error else plain_values(vars(module))
        vars(module).clear()
    except BaseException as other:
        error = f"{type(other).__name__}: {other}"
    child.leave(folder, {"token": job["token"], "error": error, "values": values, "checks": []})


class Forks:
    """Those that run now, so many at once, each within its time."""

    def __init__(self, job: Mapping[str, Any], folder: Path) -> None:
        self.folder, self.seconds, self.at_once = folder, job["seconds"], job["at_once"]
        self.running: dict[int, float] = {}

    def fork(self, number: int, finish: Callable[[Path], NoReturn]) -> None:
        self.wait(self.at_once - 1)
        sys.stdout.flush()
        to = self.folder / str(number)
        to.mkdir()
        shutil.copytree(self.folder / "work", to / "work")
        for name in ("stdout", "stderr"):
            shutil.copyfile(self.folder / name, to / name)
        drawn = random.getstate()
        pid = os.fork()
        if pid == 0:
            random.setstate(drawn)  # which Python seeds anew in each fork
            os.setpgid(0, 0)
            finish(to)
        self.running[pid] = time.monotonic() + self.seconds

    def wait(self, most: int) -> None:
        """Until no more than `most` run."""
        while len(self.running) > most:
            for pid, latest in list(self.running.items()):
                if time.monotonic() > latest:
                    os.killpg(pid, signal.SIGKILL)
                if os.waitpid(pid, os.WNOHANG) != (0, 0):
                    del self.running[pid]
            time.sleep(0.01)


if __name__ == "__main__":
    main(json.loads(sys.stdin.buffer.read()))
