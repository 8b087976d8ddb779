"""Trains one cell in a fresh interpreter: what is done for each, on this machine or on a worker of a cluster.

To a worker this module is sent by value. It uses the standard library and shares no files with whoever asks.
"""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

# Runs the trainer. Its input is a lifeline: when it ends, whoever asked is gone, and the cell ends with its folder.
BOOT = """
import os, runpy, shutil, sys, threading, time
lifeline, nothing, folder = os.dup(0), os.open(os.devnull, os.O_RDONLY), sys.argv[1]
os.dup2(nothing, 0)
def watch():
    while os.read(lifeline, 1):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
threading.Thread(target=watch, daemon=True).start()
sys.argv = sys.argv[2:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    with open(os.path.join(folder, "seconds"), "w") as file:
        file.write(str(time.process_time()))
"""
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
TAIL = 4000  # bytes of the error stream that are kept


def train_cell(
    name: str,
    source: str,
    files: Mapping[str, bytes],
    arguments: Sequence[str],
    lifeline: int | None = None,
    wanted: Callable[[], bool] | None = None,
) -> dict[str, Any]:
    """Runs the trainer `name` with `arguments`; `files` lie in its working directory.

    Returns the text of its `cell.json` (None if there is none), its exit status, the end of its error stream, the
    seconds of computing it took (whatever else ran beside it) and the versions of the packages. `lifeline` is a
    descriptor whose end ends the cell; without it, the cell ends with this process, or when `wanted` says that nobody
    waits for it any more.
    """
    with tempfile.TemporaryDirectory(prefix="cell-", ignore_cleanup_errors=True) as folder:
        script, work, errors = Path(folder, name), Path(folder, "work"), Path(folder, "stderr")
        work.mkdir()
        script.write_text(source, encoding="utf-8")
        for file, content in files.items():
            (work / file).write_bytes(content)
        with open(errors, "wb") as stream:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", BOOT, folder, str(script), *arguments],
                cwd=work,
                stdin=subprocess.PIPE if lifeline is None else lifeline,
                stdout=subprocess.DEVNULL,
                stderr=stream,
                env={**os.environ, **THREADS, "PYTHONHASHSEED": "0"},
                start_new_session=True,  # Ctrl-C is for whoever asked
            )
        try:
            while process.poll() is None:
                try:
                    process.wait(None if wanted is None else 1)
                except subprocess.TimeoutExpired:
                    if wanted and not wanted():
                        break
        finally:
            process.kill()
            process.wait()
            if process.stdin:
                process.stdin.close()
        cell, seconds = work / "cell.json", Path(folder, "seconds")
        return {
            "cell": cell.read_text(encoding="utf-8", errors="replace") if cell.is_file() else None,
            "status": process.returncode,
            "stderr": errors.read_bytes()[-TAIL:].decode("utf-8", "replace") if errors.is_file() else "",
            "seconds": float(seconds.read_text()) if seconds.is_file() else 0.0,
            "versions": {package: _version(package) for package in ("numpy", "torch")},
        }


def train_on_worker(
    name: str, source: str, files: Mapping[str, bytes], arguments: Sequence[str]
) -> dict[str, Any]:  # pragma: no cover  (runs in the worker)
    """`train_cell` on a worker of a Dask cluster, which itself would carry on when nobody waits any more."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled"

    return train_cell(name, source, files, arguments, wanted=wanted)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package).split("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return ""
