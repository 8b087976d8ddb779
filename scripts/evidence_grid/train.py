"""Trains cells and hands over what came of each as it ends."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from filelock import FileLock, Timeout
from tqdm import tqdm

from evidence.project import Project
from evidence_grid import results, table
from evidence_grid.grid import Cell, Grid
from evidence_grid.pool import Answer, Job, Submit
from evidence_grid.results import Result

INTERVAL = 10.0  # seconds between two lines of progress where there is no terminal
LINES = 12  # of a failed cell's error stream that are shown
Task = tuple[Grid, Cell]


class Failure(Exception):
    """A cell that gave no result; the message says why, with the last lines of its error stream."""


class Progress:
    """How many cells are done, and the time left: a bar on a terminal, elsewhere a line now and then."""

    def __init__(self, total: int, done: int = 0, label: str = "cells", stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.total, self.done, self.initial, self.label = total, done, done, label
        self.began, self.told = time.monotonic(), -INTERVAL
        self.bar: Any = None
        if self.stream.isatty():
            self.bar = tqdm(total=total, initial=done, desc=label, unit="cell", smoothing=0, file=self.stream)

    def step(self) -> None:
        self.done += 1
        if self.bar is not None:
            self.bar.update()
        elif self.done == self.total or time.monotonic() - self.began - self.told >= INTERVAL:
            self.told = time.monotonic() - self.began
            line = tqdm.format_meter(
                self.done, self.total, self.told, prefix=self.label, unit="cell", initial=self.initial, ncols=90
            )
            self.say(line)

    def tick(self) -> None:
        if self.bar is not None:
            self.bar.refresh()

    def say(self, text: str) -> None:
        if self.bar is not None:
            self.bar.write(text, file=self.stream)
        else:
            print(text, file=self.stream, flush=True)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def run(
    tasks: Iterable[Task], submit: Submit, progress: Progress, until: float | None = None
) -> Iterator[tuple[Task, Result | Failure]]:
    """Submits all tasks and yields each with what came of it as it ends; stops at the time `until`.

    `until` is a moment of `time.monotonic`.
    """
    futures: dict[Future[Answer], Task] = {submit(job(*task)): task for task in tasks}
    pending = set(futures)
    while pending and (until is None or time.monotonic() < until):
        patience = 1.0 if until is None else max(0.0, min(1.0, until - time.monotonic()))
        ended, pending = wait(pending, timeout=patience, return_when=FIRST_COMPLETED)
        progress.tick()
        for future in ended:
            task = futures.pop(future)
            try:
                came: Result | Failure = _result(*task, future.result())
            except Failure as failure:
                came = failure
            except CancelledError:
                came = Failure("was cancelled by the scheduler, or lost with it")
            except Exception as error:  # whatever a cluster raises: the other cells go on
                came = Failure(f"could not be run: {type(error).__name__}: {error}")
            yield task, came
            progress.step()


def job(grid: Grid, cell: Cell) -> Job:
    files = {Path(path).name: content for path, content in grid.files.items()}
    return grid.script.path.name, grid.script.source, files, cell.arguments


def _result(grid: Grid, cell: Cell, answer: Answer) -> Result:
    """The cell's result; raises `Failure` if it has none that holds."""
    errors = "".join(f"\n    {line}" for line in answer["stderr"].rstrip().splitlines()[-LINES:])
    status = answer["status"]
    if status:
        died = f"died with {_signal(-status)}" if status < 0 else f"ended with status {status}"
        raise Failure(f"{died}{errors}")
    if answer["cell"] is None:
        raise Failure(f"wrote no cell.json{errors}")
    try:
        parameters, result = results.parse_cell(answer["cell"], cell.given)
        json.dumps(result, allow_nan=False)
    except ValueError as error:
        raise Failure(f"wrote a malformed cell.json: {error}{errors}") from None
    if other := results.other_release(answer["versions"]):
        raise Failure(f"was {other}")
    return Result(
        experiment=grid.experiment,
        given=dict(cell.given),
        rests_on=results.rests_on(grid),
        versions=answer["versions"],
        seconds=float(f"{answer['seconds']:.3g}"),
        cell=parameters,
        result=result,
    )


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def train(
    project: Project,
    grids: list[Grid],
    opened: Callable[[], Any],
    limit: int | None = None,
    stream: TextIO | None = None,
) -> int:
    """Trains what is missing or stale, `limit` cells at most, and rewrites the tables; the number of failed cells.

    `opened` gives the pool. Each result is in place when its cell ends: to be interrupted loses none.
    """
    with _alone(project, stream or sys.stderr):
        states = {grid.experiment: results.state(grid) for grid in grids}
        tasks = [(grid, cell) for grid in grids for cell in states[grid.experiment].missing][:limit]
        done, missing = (sum(len(getattr(one, part)) for one in states.values()) for part in ("done", "missing"))
        progress = Progress(done + len(tasks), done, stream=stream)
        for grid in grids:
            progress.say(f"{grid.experiment}: {len(grid.cells)} cells; {states[grid.experiment].told}")
            for line in _listed(states[grid.experiment]):
                progress.say(f"  {line}")
        failed: list[str] = []
        try:
            if tasks:
                with opened() as submit:
                    for (grid, cell), came in run(tasks, submit, progress):
                        if isinstance(came, Result):
                            results.save(project, came, grid.results / f"{cell.slug}.json")
                        else:
                            failed.append(cell.name)
                            progress.say(f"{cell.name}: {came}")
        finally:
            progress.close()
            for grid in grids:
                table.write(grid)
            trained = progress.done - done - len(failed)
            progress.say(f"{trained} cells trained, {len(failed)} failed, {missing - trained} left to train")
        for name in failed:
            progress.say(f"failed: {name}")
    return len(failed)


def _listed(state: results.State) -> Iterator[str]:
    """What is there but does not count, with a line for each reason."""
    whys: dict[str, list[str]] = {}
    for slug, why in {**state.stale, **state.damaged}.items():
        whys.setdefault(why, []).append(slug)
    for why, slugs in whys.items():
        more = f" and {len(slugs) - 3} more" if len(slugs) > 3 else ""
        yield f"to be trained again, {why}: {', '.join(slugs[:3])}{more}"
    for slug in state.orphans:
        yield f"belongs to no cell of the grid: {slug}"


@contextmanager
def _alone(project: Project, stream: TextIO) -> Iterator[None]:
    """Holds the lock of training: two at once would train the same cells."""
    project.cache.mkdir(exist_ok=True)
    lock = FileLock(project.cache / "train.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print("another training of this project is running: waiting for it", file=stream, flush=True)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
