"""The process above a snippet's: keeps it within its limits, and ends whatever it leaves behind.

It adopts what the snippet's own children leave (on Linux), so that a process which detached itself is ended as well.
When the build that asked for the run is gone, killed even, it ends the run and removes its folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import sys
import time
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

from evidence import child, confine

TICK = 0.1  # seconds between two looks at what the snippet has grown to
PROCESSES, BYTES = 64, 256 * 2**20  # processes it may have at once, and bytes in all its files
ADOPT, DIE_TOO = 36, 1  # prctl's PR_SET_CHILD_SUBREAPER and PR_SET_PDEATHSIG


def main(job: dict[str, Any], asking: int | None = None) -> None:
    """Runs `job` to its end and sees that `result.json` is in its folder.

    `asking` is a descriptor that becomes readable when whoever asked for the run is gone.
    """
    if not hasattr(os, "fork"):
        child.main(job)
    parent = parent_process()
    asking = asking if asking is not None else int(parent.sentinel) if parent else 0
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # the descriptor tells
    os.setsid()
    _prctl(ADOPT, 1)
    me, pid = os.getpid(), os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        confine.confine(job["root"])  # before the next, which a change of rights would undo
        _prctl(DIE_TOO, signal.SIGKILL)
        if os.getppid() == me:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            os.close(wake)
            os.close(woken)
            child.main(job)
        os._exit(1)
    with contextlib.suppress(PermissionError):
        os.setpgid(pid, pid)  # whichever of the two comes first
    end = _watch(job, pid, asking, wake)
    _end_all(pid)
    if end is None:
        shutil.rmtree(job["folder"], ignore_errors=True)
    elif not (result := Path(job["folder"], "result.json")).exists():
        if not result.parent.exists():  # the snippet removed it, and can only be told so there
            result.parent.mkdir()
            end += "; it had removed the folder that it ran in"
        result.write_text(json.dumps({"token": job["token"], "error": end}), encoding="utf-8")
    os._exit(0)


def _watch(job: dict[str, Any], pid: int, asking: int, wake: int) -> str | None:
    """Until the snippet's process has ended or must: what to say if it left no result, None if nobody wants one."""
    latest = time.monotonic() + job["seconds"] + job["grace"]
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return f"died with {signal.Signals(-code).name if code < 0 else f'status {code}'}, without a traceback"
        left = latest - time.monotonic()
        if left <= 0:
            return f"still running after {job['seconds']} s and was stopped ('# limits:' can raise that)"
        ready = select.select([wake, asking], [], [], min(left, TICK))[0]
        if asking in ready or (wake in ready and signal.SIGTERM in os.read(wake, 512)):
            return None
        if excess := _excess(job):
            return excess


def _excess(job: dict[str, Any]) -> str | None:
    if _below(os.getpid()) > PROCESSES:
        return f"started more than {PROCESSES} processes"
    written = sum(os.lstat(path).st_size for path in _files(job["folder"]) if os.path.lexists(path))
    return f"wrote more than {BYTES:,} bytes of files" if written > BYTES else None


def _below(pid: int) -> int:
    """Processes below `pid`, as far as the system tells; below the keeper's are those that it adopted, too."""
    below: list[str] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # ended meanwhile
            below += path.read_text().split()
    return len(below) + sum(_below(int(one)) for one in below)


def _files(folder: str) -> list[str]:
    return [os.path.join(path, name) for path, _, names in os.walk(folder) for name in names]


def _end_all(pid: int) -> None:
    """Ends the snippet's process group, then what was adopted, until nothing is left."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):  # no child is left
        while True:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                import psutil

                for one in psutil.Process().children():
                    with contextlib.suppress(psutil.NoSuchProcess):
                        one.kill()
                os.waitpid(-1, 0)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value)


if __name__ == "__main__":
    main(json.loads(sys.stdin.buffer.readline()), asking=sys.stdin.fileno())
