"""What happens inside the process that runs one snippet: isolate, run as `__main__`, note values and files.

Nothing here imports torch: the fork server has done so, or else the snippet does, as it would for its reader.
"""

from __future__ import annotations

import contextlib
import json
import linecache
import multiprocessing
import os
import re
import sys
import tempfile
import traceback
import types
from pathlib import Path
from typing import Any, NoReturn

from evidence.confine import PRIVATE
from evidence.plain import plain_values

FILE_LIMIT = 64 * 2**20  # bytes a run may write into one file, its output included
CELL = re.compile(r"^# %%$", re.M)  # begins a code cell of a lab; printed, so that outputs are told apart by cell
NETWORK = {
    "socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.getnameinfo", "socket.gethostbyname",
    "socket.gethostbyaddr",
}  # fmt: skip


def main(job: dict[str, Any]) -> NoReturn:
    """Runs `job` (see `run.Runner.run`) and writes what came of it to `result.json` in its folder."""
    folder, me = Path(job["folder"]), os.getpid()
    _isolate(job, folder)
    limits = _limit(job)
    result: dict[str, Any] = {"token": job.pop("token"), "error": None, "values": {}, "checks": []}
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    source, file = job["source"], job["file"]
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)  # what runs, not what is there
    _watch(job)
    try:
        exec(compile(CELL.sub("print('# %%')", source), file, "exec", dont_inherit=True), module.__dict__)
        sys.stdout.flush()
        result["values"] = plain_values(vars(module))
        result["checks"] = [_assert(code, vars(module)) for code in job["checks"]]
        vars(module).clear()  # closes, and so writes out, the files that the snippet left open
    except SystemExit as error:
        result["error"] = f"the snippet ended the interpreter ({error!r})"
    except BaseException as error:
        _free(limits)
        result["error"] = _traceback(error, file) + _hint(error, job)
    if os.getpid() != me:
        os._exit(0)  # a fork of the snippet's that fell through to here
    _free(limits)
    leave(folder, result)


def leave(folder: Path, result: dict[str, Any]) -> NoReturn:
    """Writes what came of the run, whole or not at all, and ends the process."""
    result["machine"] = _machine()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # full or closed, which was said before or is no matter
            stream.flush()
    (folder / "result.part").write_text(json.dumps(result), encoding="utf-8")
    os.replace(folder / "result.part", folder / "result.json")
    os._exit(0)  # threads or atexit handlers of the snippet have no say in this


def _isolate(job: dict[str, Any], folder: Path) -> None:
    """A working directory, streams, environment, threads and style as in no other run."""
    os.chdir(folder / "work")
    with open(os.devnull) as null:
        os.dup2(null.fileno(), 0)
    for name, number in (("stdout", 1), ("stderr", 2)):
        with open(folder / name, "wb") as file:
            os.dup2(file.fileno(), number)
    # by lines, as on the reader's screen, so that what a subprocess prints comes in its place
    sys.stdout = open(1, "w", 1, encoding="utf-8", errors="strict", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr  # type: ignore[misc]
    sys.argv = [job["file"]]
    sys.path[:] = [path for path in sys.path if path and os.path.realpath(path) != job["root"]]
    os.environ.update(job["environment"], TMPDIR=str(folder / "tmp"))
    tempfile.tempdir = None
    multiprocessing.set_start_method(None, force=True)  # the platform's, not that of our own fork server
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(job["threads"])
    if matplotlib := sys.modules.get("matplotlib"):
        matplotlib.rc_file(job["style"]) if job["style"] else matplotlib.rcdefaults()


def _limit(job: dict[str, Any]) -> list[tuple[int, tuple[int, int]]]:
    """Sets the limits; what they were before, for `_free`."""
    if sys.platform == "win32":
        return []
    import resource

    limits = {
        resource.RLIMIT_FSIZE: FILE_LIMIT,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: job["seconds"] * 4,
    }
    statm = Path("/proc/self/statm")
    base = int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0
    if base:
        # address space, since a process may be killed for touching memory only later; torch's own mapping is free
        limits[resource.RLIMIT_AS] = base + job["gigabytes"] * 2**30 + (0 if "torch" in sys.modules else 6 * 2**30)
    before = [(kind, resource.getrlimit(kind)) for kind in limits]
    for kind, limit in limits.items():
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    return before


def _free(limits: list[tuple[int, tuple[int, int]]]) -> None:
    """Lifts the limits: to say that memory or disk ran out takes some of both."""
    if sys.platform != "win32":
        import resource

        for kind, before in limits:
            resource.setrlimit(kind, before)


def _watch(job: dict[str, Any]) -> None:
    """Refuses what a reader's copy would not have: undeclared files of this repository, and the network."""
    root = os.path.realpath(job["root"]) + os.sep
    allowed = {os.path.realpath(path) for path in (job["file"], job["style"]) if path}
    private = tuple(root + name + os.sep for name in PRIVATE)

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(args[0], (str, bytes, os.PathLike)):
            path = os.path.realpath(os.fsdecode(args[0]))
            if path.startswith(private) and path not in allowed:
                raise PermissionError(_undeclared(path.removeprefix(root)))
        elif event in NETWORK and not (event == "socket.connect" and isinstance(args[1], (str, bytes))):
            raise PermissionError("a snippet has no network: its reader may have none")

    sys.addaudithook(hook)


def _undeclared(path: str) -> str:
    return f"{path} is read but not declared; add a header line '# reads: {path}' and open it by its base name"


def _hint(error: BaseException, job: dict[str, Any]) -> str:
    """For a file that was looked for before it was opened, and is not there: `confine` hides it."""
    path = re.search(rf"{re.escape(os.path.realpath(job['root']))}/((?:{'|'.join(PRIVATE)})/[\w./-]*\w)", str(error))
    return f"\n{_undeclared(path[1])}" if path and isinstance(error, FileNotFoundError) else ""


def _assert(code: str, variables: dict[str, Any]) -> str | None:
    """None if the block of assertions passes on a copy of the live variables, else what it said."""
    try:
        exec(compile(code, "<stated numbers>", "exec", dont_inherit=True), dict(variables))
    except AssertionError as error:
        return str(error) or "an assertion failed"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _traceback(error: BaseException, file: str) -> str:
    """The traceback from the snippet's own line on, as its reader would see it: with nothing of the engine."""
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename != file:
        trace = trace.tb_next
    last = trace
    while last and last.tb_next and last.tb_next.tb_frame.f_code.co_filename != __file__:
        last = last.tb_next
    if last:
        last.tb_next = None
    text = "".join(traceback.format_exception(type(error), error, trace))
    return re.sub(re.escape(os.path.dirname(file)) + r"[/\\]", "", text)


def _machine() -> dict[str, Any]:
    """Threads and instruction set: what can move the last digits."""
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return {}
    return {"threads": torch.get_num_threads(), "instructions": torch.backends.cpu.get_cpu_capability()}
