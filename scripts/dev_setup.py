"""Makes `.venv`: the packages that `requirements.lock` pins, and this project, editable.

A stamp, written last, says what a finished setup installed; without it, everything is made anew.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from dev_pip import SetupError, pip, run, say, torch_source

NO_VENV = """this Python cannot make virtual environments. On Debian or Ubuntu install the package
python3-venv (sudo apt install python3-venv), then run this again."""


def python_of(root: Path) -> Path:
    return root / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def wanted(root: Path) -> dict[str, str]:
    """Describe the environment these files ask for; the stamp of a finished setup equals it."""
    stamp = {"Python": f"{sys.implementation.cache_tag} {sys.platform}", "folder": str(root)}
    for name in ("requirements.lock", "pyproject.toml"):
        stamp[name] = hashlib.sha256((root / name).read_bytes()).hexdigest()
    return stamp


def finished(root: Path) -> dict[str, str]:
    """Read the stamp of the last setup that finished; empty if the environment is not whole."""
    try:
        stamp: dict[str, str] = json.loads((root / ".venv/stamp.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if python_of(root).exists() else {}


def try_lock(file: IO[str]) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


@contextmanager
def only_one(venv: Path) -> Iterator[None]:
    """Hold the setup lock; a pip that outlives a killed dev.py holds it too, until it ends."""
    if venv.exists() and any(venv.iterdir()) and not (venv / "setup.lock").exists():
        raise SetupError(f"{venv} was not made by this script: move it away and run this again.")
    venv.mkdir(exist_ok=True)
    with open(venv / "setup.lock", "a") as file:
        os.set_inheritable(file.fileno(), True)
        if not try_lock(file):
            say("another setup of .venv is running: waiting for it")
            while not try_lock(file):
                time.sleep(0.2)
        yield


def make_empty(venv: Path) -> None:
    """Make the environment anew, with nothing but pip in it; only the setup lock stays."""
    if not importlib.util.find_spec("ensurepip"):
        raise SetupError(NO_VENV)
    (venv / "stamp.json").unlink(missing_ok=True)
    for old in ("bin", "lib", "Scripts", "Lib", "share"):
        shutil.rmtree(venv / old, ignore_errors=True)
    base = getattr(sys, "_base_executable", sys.executable)  # not .venv's own, should it run this
    if run(base, "-I", "-m", "venv", venv).returncode:
        raise SetupError(NO_VENV)


def setup(root: Path) -> None:
    """Bring `.venv` to what the lock file says; safe to kill, repeat, or run twice at once."""
    target, venv = wanted(root), root / ".venv"
    with only_one(venv):
        found = finished(root)
        changed = [name for name in target if found.get(name) != target[name]]
        if not changed:
            return  # another process has just finished it
        if not found or not {"Python", "folder"}.isdisjoint(changed):
            say(f"making a new environment in {venv}")
            make_empty(venv)
        else:
            say(f"{' and '.join(changed)} changed: updating {venv}")
            (venv / "stamp.json").unlink()
        python = python_of(root)
        say("asking pip which build of torch this machine would get (nothing is installed yet)")
        source = torch_source(python, root / "requirements.lock")
        if source:
            pip(python, *source)
        pip(python, "-r", str(root / "requirements.lock"))
        say("installing this project itself, editable")
        pip(python, "--no-deps", "--no-build-isolation", "-e", str(root))
        (venv / "stamp.part").write_text(json.dumps(target), "utf-8")
        os.replace(venv / "stamp.part", venv / "stamp.json")
        say("the environment is ready")
