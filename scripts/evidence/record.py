"""A record: what a run printed, computed and wrote, with what it rests on; committed beside its snippet.

    snippets/residual/identity_share.py           the snippet
    snippets/residual/identity_share/record.json  values, versions, what it read, a digest over all of it
    snippets/residual/identity_share/output.txt   what it printed
    snippets/residual/identity_share/share.svg    what it wrote

No date, commit or duration: those come from git, and would change a record that says the same.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from evidence.plain import decode, encode
from evidence.project import Project
from evidence.snippet import PACKAGES, Snippet

FORMAT = 1
OUTPUT = "output.txt"


class Damaged(ValueError):
    """A record that is not what a run wrote; the message says what differs."""


@dataclass(frozen=True)
class Record:
    """`files` maps names to contents, `output.txt` among them; `inputs` maps paths to hashes."""

    name: str
    inputs: Mapping[str, str]
    versions: Mapping[str, str]
    machine: Mapping[str, Any]
    values: Mapping[str, Any]
    files: Mapping[str, bytes]

    @property
    def output(self) -> str:
        return self.files[OUTPUT].decode("utf-8")

    @property
    def fingerprint(self) -> str:
        """What the run rests on: the source, all it reads, and the versions. Equal: nothing to run again."""
        return _sha(json.dumps([dict(self.inputs), dict(self.versions)], sort_keys=True).encode())

    def to_json(self) -> str:
        body: dict[str, Any] = {
            "format": FORMAT,
            "snippet": self.name,
            "inputs": dict(self.inputs),
            "versions": dict(self.versions),
            "machine": dict(self.machine),
            "values": encode(dict(self.values)),
            "files": {name: _sha(content) for name, content in sorted(self.files.items())},
        }
        body["digest"] = _sha(json.dumps(body, sort_keys=True).encode())
        return _layout(body)


def _layout(body: dict[str, Any]) -> str:
    """JSON with one line a variable or file, so that a changed record reads well as a diff."""

    def line(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    parts = []
    for key, value in body.items():
        if isinstance(value, dict) and value:
            inner = ",\n".join(f"  {line(name)}: {line(item)}" for name, item in value.items())
            parts.append(f" {line(key)}: {{\n{inner}\n }}")
        else:
            parts.append(f" {line(key)}: {line(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def load(folder: Path) -> Record:
    """The record in `folder`, whole, also while another process replaces it.

    Raises `FileNotFoundError` if there is none, `Damaged` if it was edited, truncated or is of a newer format.
    """
    while True:
        place = folder if folder.exists() else _old(folder)  # between the two renames of a `swap`
        before = _identity(place)
        try:
            return _load(place)
        except (Damaged, FileNotFoundError):
            if before == _identity(place) and place == (folder if folder.exists() else _old(folder)):
                raise  # it was not replaced meanwhile


def _load(folder: Path) -> Record:
    try:
        body = json.loads((folder / "record.json").read_text(encoding="utf-8"))
        if body["format"] != FORMAT:
            raise Damaged(f"its format is {body['format']!r}, this engine knows {FORMAT}")
        digest = body.pop("digest")
        if digest != _sha(json.dumps(body, sort_keys=True).encode()):
            raise Damaged("its digest does not match: it was edited by hand or damaged")
        present = {path.name for path in folder.iterdir()} - {"record.json"}
        if present != set(body["files"]):
            raise Damaged(f"its files differ from its list: {', '.join(sorted(present ^ set(body['files'])))}")
        files = {name: (folder / name).read_bytes() for name in body["files"]}
        changed = [name for name, content in files.items() if _sha(content) != body["files"][name]]
        if changed:
            raise Damaged(f"{', '.join(changed)} was edited by hand or damaged")
        values = decode(body["values"])
        files[OUTPUT].decode("utf-8")
        if not all(isinstance(part, dict) for part in (body["inputs"], body["versions"], body["machine"], values)):
            raise Damaged("its parts are not what a run writes")
        return Record(body["snippet"], body["inputs"], body["versions"], body["machine"], values, files)
    except Damaged:
        raise
    except FileNotFoundError as error:
        if Path(error.filename) == folder / "record.json":
            raise
        raise Damaged(f"it cannot be read ({error})") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
        raise Damaged(f"it cannot be read ({type(error).__name__}: {error})") from None


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_ino, found.st_ctime_ns


def save(record: Record, folder: Path, scratch: Path) -> None:
    """Puts the record in place in one step; whoever is killed meanwhile leaves the old one or the new one, whole.

    `scratch` is a folder on the same file system for the parts.
    """
    save_all({folder: record}, scratch)


def save_all(records: Mapping[Path, Record], scratch: Path) -> None:
    """Puts each record in place in one step, and none before all are written: a full disk leaves all as they were."""
    scratch.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(dir=scratch))
    try:
        new = {folder: staged / str(count) for count, folder in enumerate(records)}
        for folder, record in records.items():
            new[folder].mkdir()
            for name, content in {**record.files, "record.json": record.to_json().encode()}.items():
                with open(new[folder] / name, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
        for folder in records:
            folder.parent.mkdir(parents=True, exist_ok=True)
            swap(new[folder], folder)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def swap(new: Path, target: Path) -> None:
    """Puts the folder `new` in the place of `target`; what was there ends where `new` was.

    Atomic on Linux and macOS (one exchange by the kernel). Elsewhere two renames; `recover` mends a kill between.
    """
    recover(target)
    if not target.exists():
        os.rename(new, target)
        return
    libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
    call = getattr(libc, "renameat2", None) or getattr(libc, "renameatx_np", None)
    at_cwd, exchange = (-100 if sys.platform == "linux" else -2), 2
    if call and call(at_cwd, os.fsencode(new), at_cwd, os.fsencode(target), exchange) == 0:
        return
    if call and (code := ctypes.get_errno()) not in {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}:
        raise OSError(code, f"cannot exchange folders: {os.strerror(code)}", str(target))
    old = _old(target)
    os.rename(target, old)
    os.rename(new, target)
    os.rename(old, new)


def _old(target: Path) -> Path:
    return target.with_name(target.name + ".old")


def recover(target: Path) -> None:
    """Completes a `swap` of two renames that was killed in between."""
    old = _old(target)
    if old.exists():
        shutil.rmtree(old) if target.exists() else os.rename(old, target)


# --- what a run rests on -------------------------------------------------------------------------------------------


@cache
def versions() -> dict[str, str]:
    """Without local parts: torch 2.13.0+cpu and 2.13.0 are the same release."""
    found = {name: importlib.metadata.version(name).split("+")[0] for name in sorted(PACKAGES)}
    return {"python": platform.python_version(), **found}


def inputs(project: Project, snippet: Snippet, files: Mapping[str, Path] | None = None) -> dict[str, str]:
    """Hashes of the source, of every local file it reads, and of the style if it draws.

    `files` overrides where a file is found.
    """
    found = {snippet.rel: _sha(snippet.source.encode())}
    style = project.snippets / "matplotlibrc"
    if "matplotlib" in snippet.source and style.exists():
        found[project.rel(style)] = _sha(style.read_bytes())
    for path in snippet.reads:
        found[path] = _sha(((files or {}).get(path) or project.root / path).read_bytes())
    return found


def fingerprint(project: Project, snippet: Snippet, files: Mapping[str, Path] | None = None) -> str:
    return Record(snippet.name, inputs(project, snippet, files), versions(), {}, {}, {}).fingerprint


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
