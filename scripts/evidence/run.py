"""Runs snippets, each in a process of its own.

Forked (the default): torch and matplotlib are imported once, in a server that runs no torch operation, and each
snippet is one child of it. Cold: a fresh interpreter each, as the reader's; `verify` compares the two.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any

from evidence import child
from evidence.project import Project
from evidence.record import OUTPUT, Record, decode, inputs, versions
from evidence.snippet import Snippet

OUTPUT_LIMIT, FILES_LIMIT = 100_000, 8 * 2**20  # bytes a reader would still want on a page
FORKS = "forkserver" in multiprocessing.get_all_start_methods()
_starting = threading.Lock()


@dataclass(frozen=True)
class Run:
    """What came of one run. `error` is None if it ended well; `checks` has None or a message for each block."""

    snippet: Snippet
    error: str | None
    record: Record | None
    stderr: str = ""
    checks: list[str | None] = field(default_factory=list)


@dataclass(frozen=True)
class Job:
    """A snippet to run; `checks` are blocks of assertions over its live variables; `files` overrides what it reads."""

    snippet: Snippet
    checks: tuple[str, ...] = ()
    files: dict[str, Path] = field(default_factory=dict)


class Runner:
    """Runs jobs for one project. `cold`: a fresh interpreter each; `threads`: of torch, in the child."""

    def __init__(self, project: Project, cold: bool = False, workers: int = 2, threads: int = 1) -> None:
        self.project, self.workers, self.threads = project, workers, threads
        self.cold = cold or not FORKS

    def run_all(self, jobs: Iterable[Job]) -> Iterator[Run]:
        """Yields each run as it ends. Snippets that ask for more memory than two may share run alone."""
        jobs = list(jobs)
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                for future in as_completed([pool.submit(self.run, job) for job in jobs]):
                    yield future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def run(self, job: Job) -> Run:
        snippet = job.snippet
        folder = Path(tempfile.mkdtemp(prefix="snippet-")).resolve()
        try:
            (folder / "work").mkdir()
            given = {}
            for path in snippet.reads:
                source = job.files.get(path) or self.project.root / path
                given[Path(path).name] = shutil.copyfile(source, folder / "work" / Path(path).name).read_bytes()
            seconds, gigabytes = snippet.limits
            request = {
                "folder": str(folder),
                "root": str(self.project.root),
                "file": str(snippet.path),
                "source": snippet.source,
                "checks": list(job.checks),
                "seconds": seconds,
                "gigabytes": gigabytes,
                "threads": self.threads,
                "style": str(self._style) if self._style.exists() else None,
            }
            ended = self._cold(request) if self.cold else self._forked(request)
            return self._collect(job, folder, given, ended)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _environment(self) -> dict[str, str]:
        threads = str(self.threads)
        return {
            "SOURCE_DATE_EPOCH": "0",
            "MPLBACKEND": "agg",
            "OMP_NUM_THREADS": threads,
            "MKL_NUM_THREADS": threads,
            **({"MATPLOTLIBRC": str(self._style)} if self._style.exists() else {}),
        }

    @property
    def _style(self) -> Path:
        """The one style of all figures, so that no snippet carries any."""
        return self.project.snippets / "matplotlibrc"

    def _forked(self, request: dict[str, Any]) -> int | None:
        context = multiprocessing.get_context("forkserver")
        process = context.Process(target=child.main, args=(request,), daemon=True)
        with _starting:
            self._start(context, process)
        process.join(request["seconds"])
        late = process.exitcode is None
        _kill_group(process.pid)
        process.join()
        return None if late else process.exitcode

    def _start(self, context: BaseContext, process: Any) -> None:
        """Starts the child with our environment, and without importing our own `__main__` into it."""
        context.set_forkserver_preload(["torch", "matplotlib.pyplot", "evidence.child"])
        saved, main = dict(os.environ), sys.modules["__main__"]
        os.environ.update(self._environment())
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            process.start()
        finally:
            sys.modules["__main__"] = main
            os.environ.clear()
            os.environ.update(saved)

    def _cold(self, request: dict[str, Any]) -> int | None:
        process = subprocess.Popen(
            [sys.executable, "-m", "evidence.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env={**os.environ, **self._environment()},
            start_new_session=True,
        )
        try:
            process.communicate(
                json.dumps(request).encode(), timeout=request["seconds"] + 10
            )  # its imports are cold too
        except subprocess.TimeoutExpired:
            return None
        finally:
            _kill_group(process.pid)
            process.kill()
            process.wait()
        return process.returncode

    def _collect(self, job: Job, folder: Path, given: dict[str, bytes], ended: int | None) -> Run:
        snippet = job.snippet
        seconds, gigabytes = snippet.limits
        stderr = _tail(folder / "stderr")
        if ended is None:
            return Run(
                snippet,
                f"still running after {seconds} s and was stopped ('# limits:' can raise that)",
                None,
                stderr,
            )
        try:
            result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            name = signal.Signals(-ended).name if ended < 0 else f"status {ended}"
            return Run(snippet, f"died with {name}, without a traceback", None, stderr)
        if result["error"]:
            hint = ""
            if (
                "MemoryError" in result["error"]
                or "not enough memory" in result["error"]
                or "can't allocate" in result["error"]
            ):
                hint = f"\n(its limit is {gigabytes} GB; '# limits:' can raise that)"
            return Run(snippet, result["error"].rstrip() + hint, None, stderr)
        try:
            files = {OUTPUT: _output(folder / "stdout"), **_artifacts(folder / "work", given)}
        except ValueError as error:
            return Run(snippet, str(error), None, stderr)
        record = Record(
            name=snippet.name,
            inputs=inputs(self.project, snippet, job.files),
            versions=versions(),
            machine=result["machine"],
            values=decode(result["values"]),
            files=files,
        )
        return Run(snippet, None, record, stderr, result["checks"])


def _output(path: Path) -> bytes:
    size = path.stat().st_size
    if size > OUTPUT_LIMIT:
        raise ValueError(f"printed {size:,} bytes; a page shows at most {OUTPUT_LIMIT:,}")
    content = path.read_bytes()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"printed something that is not UTF-8 text ({error})") from None
    odd = sorted({character for character in text if ord(character) < 32 and character not in "\n\t"})
    if odd:
        raise ValueError(f"printed control characters ({', '.join(map(repr, odd))})")
    return content


def _artifacts(work: Path, given: dict[str, bytes]) -> dict[str, bytes]:
    if not work.is_dir():
        raise ValueError("removed its working directory")
    found: dict[str, bytes] = {}
    for path in sorted(work.rglob("*")):
        name = path.relative_to(work).as_posix()
        if path.is_symlink() or not path.is_file() or not set(name) <= set(_NAME) or name in {OUTPUT, "record.json"}:
            raise ValueError(f"wrote {name!r}; an artifact is a file named with letters, digits, '.', '_' and '-'")
        if name in given:
            if path.read_bytes() != given[name]:
                raise ValueError(f"changed {name!r}, a file it only reads")
            continue
        found[name] = path.read_bytes() if path.stat().st_size <= FILES_LIMIT else b""
        if sum(map(len, found.values())) > FILES_LIMIT or not path.stat().st_size <= FILES_LIMIT:
            raise ValueError(f"wrote more than {FILES_LIMIT:,} bytes of files")
    return found


_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"


def _tail(path: Path) -> str:
    if not path.exists():
        return ""
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - 4000))
        return file.read().decode("utf-8", "replace")


def _kill_group(pid: int | None) -> None:
    """Ends whatever the child left behind; it leads its own process group."""
    if pid and hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
