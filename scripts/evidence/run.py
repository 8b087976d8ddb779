"""Runs snippets, each in a process of its own.

Forked (the default): torch and matplotlib are imported once, in a server that runs no torch operation, and each
snippet is one child of it. Cold: a fresh interpreter each, as the reader's; `verify` compares the two.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import types
import unicodedata
from collections.abc import Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any

from evidence import keeper
from evidence.plain import decode
from evidence.project import Project
from evidence.record import OUTPUT, Record, inputs, versions
from evidence.snippet import PACKAGES, Snippet

OUTPUT_LIMIT, FILES_LIMIT = 100_000, 8 * 2**20  # bytes a reader would still want on a page
FORKS = "forkserver" in multiprocessing.get_all_start_methods()
COLD_IMPORTS = 20  # more seconds for a run that imports torch by itself, on a busy machine
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
    """Runs jobs for one project. `cold`: a fresh interpreter each; `threads`: of torch, in the child.

    `environment`: settings that torch's libraries read as they first compute, which the server never does;
    `patience`: how many times as long as its limit a run may take.
    """

    def __init__(
        self,
        project: Project,
        cold: bool = False,
        workers: int = 2,
        threads: int = 1,
        environment: Mapping[str, str] | None = None,
        patience: int = 1,
    ) -> None:
        self.settings, self.patience = dict(environment or {}), patience
        self.project, self.workers, self.threads = project, workers, threads
        self.cold = cold or not FORKS
        self._keepers: set[int] = set()
        self._stopped = False

    def run_all(self, jobs: Iterable[Job]) -> Generator[Run, None, None]:
        """Yields each run as it ends. Whoever stops asking (Ctrl-C, an error) thereby stops those still running."""
        jobs = list(jobs)
        timed = [job for job in jobs if job.snippet.timed]
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                for future in as_completed([pool.submit(self.run, job) for job in jobs if job not in timed]):
                    yield future.result()
                for job in timed:  # with nothing else to share the processors with
                    yield pool.submit(self.run, job).result()
            except BaseException:
                self._stopped = True
                pool.shutdown(wait=False, cancel_futures=True)
                for pid in list(self._keepers):
                    _terminate(pid)
                raise

    def run(self, job: Job) -> Run:
        snippet = job.snippet
        folder = None
        try:
            folder = Path(tempfile.mkdtemp(prefix="snippet-")).resolve()
            for name in ("work", "tmp"):
                (folder / name).mkdir()
            copies = {path: folder / "work" / Path(path).name for path in snippet.reads}
            for path, copy in copies.items():
                shutil.copyfile(job.files.get(path) or self.project.root / path, copy)
            rests_on = inputs(self.project, snippet, copies)  # of what it is given, whatever happens to the files
            given = {copy.name: copy.read_bytes() for copy in copies.values()}
            style = shutil.copyfile(self._style, str(folder / self._style.name)) if self._style.exists() else None
            seconds, gigabytes = snippet.limits[0] * self.patience, snippet.limits[1]
            token = secrets.token_hex()  # without it, what lies in the folder was not written by the engine
            request = {
                "token": token,
                "folder": str(folder),
                "root": str(self.project.root),
                "file": str(snippet.path),
                "source": snippet.source,
                "checks": list(job.checks),
                "seconds": seconds,
                "grace": COLD_IMPORTS if self.cold and any(name in snippet.source for name in PACKAGES) else 0,
                "gigabytes": gigabytes,
                "threads": self.threads,
                "style": style,
                "environment": self._environment() | self.settings | ({"MATPLOTLIBRC": style} if style else {}),
            }
            (self._cold if self.cold else self._forked)(request)
            return self._collect(snippet, folder, token, rests_on, given)
        except OSError as error:
            return Run(snippet, f"could not be run: {error}", None)
        finally:
            if folder:
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

    @cached_property
    def _plots(self) -> list[str]:
        """pyplot takes a third of torch's time, so it is imported ahead only where some snippet draws."""
        sources = (path.read_text(encoding="utf-8") for path in self.project.snippets.rglob("*.py"))
        return ["matplotlib.pyplot"] if any("matplotlib" in source for source in sources) else []

    @property
    def _style(self) -> Path:
        """The one style of all figures, so that no snippet carries any."""
        return self.project.snippets / "matplotlibrc"

    def _forked(self, request: dict[str, Any]) -> None:
        context = multiprocessing.get_context("forkserver")
        # not a daemon, which could have no children: a snippet may start processes, as its reader may
        process = context.Process(target=keeper.main, args=(request,))
        with _starting:
            self._start(context, process)
        assert process.pid
        with self._kept(process.pid):
            process.join(request["seconds"] + COLD_IMPORTS)
            if process.exitcode is None:  # the keeper itself hangs
                process.kill()
                process.join()

    def _start(self, context: BaseContext, process: Any) -> None:
        """Starts the process with our environment, and without importing our own `__main__` into it."""
        context.set_forkserver_preload(["torch", *self._plots, "evidence.keeper"])
        ours, main = self._environment(), sys.modules["__main__"]  # no settings, which other runs would inherit
        saved = {name: os.environ.get(name) for name in ours}
        os.environ.update(ours)
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            process.start()
        finally:
            sys.modules["__main__"] = main
            for name, value in saved.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value

    def _cold(self, request: dict[str, Any]) -> None:
        with (
            subprocess.Popen(
                [sys.executable, "-P", "-m", "evidence.keeper"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                env={**os.environ, **self._environment(), **self.settings},
            ) as process,
            self._kept(process.pid),
        ):
            assert process.stdin
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()  # and stays open: its end tells the keeper that we are gone
            try:
                process.wait(request["seconds"] + 2 * COLD_IMPORTS)
            except subprocess.TimeoutExpired:
                process.kill()

    @contextlib.contextmanager
    def _kept(self, pid: int) -> Iterator[None]:
        self._keepers.add(pid)
        try:
            if self._stopped:
                _terminate(pid)
            yield
        finally:
            self._keepers.discard(pid)

    def _collect(
        self, snippet: Snippet, folder: Path, token: str, rests_on: dict[str, str], given: dict[str, bytes]
    ) -> Run:
        stderr = _tail(folder / "stderr")
        try:
            result = json.loads(_content(folder / "result.json"))
        except FileNotFoundError:
            return Run(snippet, "was stopped from outside", None, stderr)
        except ValueError:
            result = None
        if not isinstance(result, dict) or result.get("token") != token:
            return Run(snippet, "left a result of its own in the place of the engine's", None, stderr)
        if result["error"]:
            hint = ""
            if any(sign in result["error"] for sign in ("MemoryError", "not enough memory", "can't allocate")):
                hint = f"\n(its limit is {snippet.limits[1]} GB; '# limits:' can raise that)"
            return Run(snippet, _visible(result["error"].rstrip()) + hint, None, stderr)
        try:
            files = {OUTPUT: _output(folder / "stdout"), **_artifacts(folder / "work", given)}
        except (ValueError, OSError) as error:
            return Run(snippet, str(error), None, stderr)
        record = Record(
            name=snippet.name,
            inputs=rests_on,
            versions=versions(),
            machine={**result["machine"], **({"timed": True} if snippet.timed else {})},
            values=decode(result["values"]),
            files=files,
        )
        return Run(snippet, None, record, stderr, result["checks"])


def _content(path: Path) -> bytes:
    """Of a file; what a snippet put in its place, a pipe or a link to a device, may have no end."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise ValueError(f"left something else in the place of {path.name}")
    return path.read_bytes()


def _output(path: Path) -> bytes:
    content = _content(path)
    if len(content) > OUTPUT_LIMIT:
        raise ValueError(f"printed {len(content):,} bytes; a page shows at most {OUTPUT_LIMIT:,}")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"printed something that is not UTF-8 text ({error})") from None
    if odd := sorted(set(filter(_odd, text))):
        raise ValueError(f"printed control characters ({', '.join(map(ascii, odd))})")
    return content


def _odd(character: str) -> bool:
    """Controls, formats and separators, which move what is around them or are not seen, and halves of characters."""
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and character not in "\n\t"


def _visible(text: str) -> str:
    """What a snippet says of its failure, which shall not steer the terminal that shows it."""
    return "".join(ascii(character)[1:-1] if _odd(character) else character for character in text)


def _artifacts(work: Path, given: dict[str, bytes]) -> dict[str, bytes]:
    if work.is_symlink() or not work.is_dir():
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
    try:
        return _visible(_content(path)[-4000:].decode("utf-8", "replace"))
    except (ValueError, OSError):  # is none, or none any more
        return ""


def _terminate(pid: int) -> None:
    """Asks the keeper to end its snippet and all that belongs to it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGTERM)
