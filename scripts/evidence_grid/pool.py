"""Where cells are trained: one process a core of this machine, or the workers of a Dask cluster.

Both are `concurrent.futures` executors. Whatever ends the block, or this process, ends the cells that still run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from evidence.project import Problem, Refusal
from evidence_grid import worker

Job = tuple[str, str, dict[str, bytes], list[str]]  # what `worker.train_cell` takes
Answer = dict[str, Any]
Submit = Callable[[Job], "Future[Answer]"]

WITHOUT = "needs the package distributed: .venv/bin/python -m pip install -e '.[cluster]'"


def cores() -> int:
    """Those this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def opened(jobs: int | None = None, scheduler: str | None = None) -> Iterator[Submit]:
    """A function that submits a job: to `jobs` processes here, or to the cluster of the `scheduler`."""
    if scheduler:
        with _cluster(scheduler) as submit:
            yield submit
        return
    lifeline, hold = os.pipe()  # each cell reads it, and ends when `hold` is closed: by us, or by our own end
    pool = ThreadPoolExecutor(jobs or cores())
    try:
        yield lambda job: pool.submit(worker.train_cell, *job, lifeline)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        os.close(hold)
        pool.shutdown()
        os.close(lifeline)


@contextmanager
def _cluster(address: str) -> Iterator[Submit]:
    try:
        import cloudpickle
        import distributed
    except ImportError:
        raise Refusal([Problem("--scheduler", 0, WITHOUT)]) from None
    client: Any
    try:
        client = distributed.Client(address)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise Refusal([Problem("--scheduler", 0, f"no Dask scheduler at {address}: {error}")]) from None
    cloudpickle.register_pickle_by_value(worker)  # the workers need not have this repository

    def train(job: Job) -> Answer:  # a local function, which pickle refuses, so that it goes by value too
        return worker.train_on_worker(*job)

    executor: Executor = client.get_executor(pure=False)
    try:
        yield lambda job: executor.submit(train, job)
    finally:
        executor.shutdown(wait=False)  # cancels what still runs or waits
        client.close()
        cloudpickle.unregister_pickle_by_value(worker)
