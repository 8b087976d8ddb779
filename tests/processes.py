"""Which processes are left, and one without rights: for tests that nothing outlives its run."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil


def gone(mark: str) -> bool:
    """True once no process carries `mark` on its command line."""
    return soon(lambda: not any(_alive(lambda p: mark in " ".join(p.cmdline()))))


def none_in(folder: Path) -> bool:
    """True once no process has its working directory in `folder`."""
    return soon(lambda: not any(_alive(lambda p: Path(p.cwd()).is_relative_to(folder.resolve()))))


def soon(test: Callable[[], bool]) -> bool:
    """True once `test` is; waits a while, for the machine may be busy."""
    until = time.monotonic() + 30
    while not test():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def _alive(test: Callable[[psutil.Process], bool]) -> Iterator[bool]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            yield process.status() != psutil.STATUS_ZOMBIE and test(process)


def without_privileges() -> None:
    """Root loses all it may do beyond an ordinary user; its files remain its own."""
    if sys.platform == "linux" and os.getuid() == 0:
        for capability in range(64):
            ctypes.CDLL(None).prctl(24, capability)  # PR_CAPBSET_DROP
