"""What happens inside the process that runs one snippet: isolate, run as `__main__`, note values and files.

Nothing here imports torch: the fork server has done so, or else the snippet does, as it would for its reader.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import sys
import traceback
import types
from pathlib import Path
from typing import Any

from evidence.record import encode

FILE_LIMIT = 64 * 2**20  # bytes a run may write into one file, its output included
PLAIN_LIMIT = 20_000  # characters of JSON up to which a variable is short enough to be recorded


def main(job: dict[str, Any]) -> None:
    """Runs `job` (see `run.Job.to_json`) and writes what came of it to `result.json` in its folder."""
    folder, work = Path(job["folder"]), Path(job["folder"]) / "work"
    _isolate(job, folder, work)
    result: dict[str, Any] = {"error": None, "values": {}, "checks": [], "machine": {}}
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    try:
        exec(compile(job["source"], job["file"], "exec"), module.__dict__)
        result["values"] = plain_values(vars(module))
        result["checks"] = [_assert(code, vars(module)) for code in job["checks"]]
    except SystemExit as error:
        result["error"] = f"the snippet ended the interpreter ({error!r})"
    except BaseException as error:
        result["error"] = _traceback(error, job["file"])
    result["machine"] = _machine()
    sys.stdout.flush()
    sys.stderr.flush()
    text = json.dumps(result, allow_nan=False)
    (folder / "result.part").write_text(text, encoding="utf-8")
    os.replace(folder / "result.part", folder / "result.json")
    os._exit(0)  # threads or atexit handlers of the snippet have no say in this


def _isolate(job: dict[str, Any], folder: Path, work: Path) -> None:
    os.chdir(work)
    if hasattr(os, "setsid"):
        os.setsid()
    with open(os.devnull) as null:
        os.dup2(null.fileno(), 0)
    for name, number in (("stdout", 1), ("stderr", 2)):
        with open(folder / name, "wb") as file:
            os.dup2(file.fileno(), number)
    sys.stdout = open(1, "w", encoding="utf-8", errors="strict", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv = [job["file"]]
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (job["seconds"] * 4, job["seconds"] * 4))
        statm = Path("/proc/self/statm")
        base = int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0
        if base:
            # address space, since a process may be killed for touching memory only later; torch's own mapping is free
            room = base + job["gigabytes"] * 2**30 + (0 if "torch" in sys.modules else 6 * 2**30)
            resource.setrlimit(resource.RLIMIT_AS, (room, room))
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(job["threads"])
    if "matplotlib" in sys.modules and job["style"]:
        sys.modules["matplotlib"].rc_file(job["style"])
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: a killed build leaves no orphan
    _watch(job)


def _watch(job: dict[str, Any]) -> None:
    """Refuses what a reader's copy would not have: undeclared files of this repository, and the network."""
    root, allowed = job["root"] + os.sep, {job["file"], job["style"]}
    private = tuple(root + name + os.sep for name in ("docs", "snippets", "tests"))

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(args[0], (str, bytes)):
            path = os.path.abspath(os.fsdecode(args[0]))
            if path.startswith(private) and path not in allowed:
                raise PermissionError(
                    f"{path.removeprefix(root)} is read but not declared; add a header line '# reads: "
                    f"{path.removeprefix(root)}' and open it by its base name"
                )
        elif event in {"socket.connect", "socket.getaddrinfo"}:
            raise PermissionError("a snippet has no network: its reader may have none")

    sys.addaudithook(hook)


def plain_values(variables: dict[str, Any]) -> dict[str, Any]:
    """The public top-level variables that are plain data, in a form JSON can hold."""
    found: dict[str, Any] = {}
    for name, value in variables.items():
        if name.startswith("_"):
            continue
        try:
            coded = encode(_plain(value))
            if len(json.dumps(coded, allow_nan=False)) <= PLAIN_LIMIT:
                found[name] = coded
        except TypeError:
            continue  # a tensor, a module, a function: not for a sentence
    return found


def _plain(value: Any, depth: int = 0) -> Any:
    if depth > 4:
        raise TypeError("too deep")
    if isinstance(value, (bool, str)) or (value is None and depth):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)  # a numpy float is a float too
    if isinstance(value, range):
        return _plain(list(value), depth)
    if isinstance(value, (list, tuple)):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(key, (str, int, float)) for key in value):
            raise TypeError("keys")
        return {key: _plain(item, depth + 1) for key, item in value.items()}
    raise TypeError(type(value).__name__)


def _assert(code: str, variables: dict[str, Any]) -> str | None:
    """None if the block of assertions passes on a copy of the live variables, else what it said."""
    try:
        exec(compile(code, "<stated numbers>", "exec"), dict(variables))
    except AssertionError as error:
        return str(error) or "an assertion failed"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _traceback(error: BaseException, file: str) -> str:
    """The traceback from the snippet's own line on, as its reader would see it."""
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename != file:
        trace = trace.tb_next
    text = "".join(traceback.format_exception(type(error), error, trace))
    return re.sub(re.escape(os.path.dirname(file)) + r"[/\\]", "", text)


def _machine() -> dict[str, Any]:
    """Threads and instruction set: what can move the last digits."""
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return {}
    return {"threads": torch.get_num_threads(), "instructions": torch.backends.cpu.get_cpu_capability()}


if __name__ == "__main__":
    sys.path.pop(0) if sys.path[0] == os.path.dirname(os.path.abspath(__file__)) else None
    main(json.loads(sys.stdin.read()))
