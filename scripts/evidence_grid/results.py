"""Results: one file a cell, written whole when the cell ends; and which of them still belong to their trainer.

A result rests on the trainer's source (but for its comments), the files that it reads, and the minor releases of torch
and numpy. If one of these has changed, the result is stale: it is listed and trained again.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import tempfile
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evidence import record
from evidence.project import Project
from evidence_grid.grid import Cell, Grid

FORMAT = 1
PACKAGES = ("numpy", "torch")


@dataclass(frozen=True)
class Result:
    """What came of a cell: all its parameters, what was measured, and the seconds of computing it took."""

    experiment: str
    given: Mapping[str, Any]
    rests_on: Mapping[str, str]
    versions: Mapping[str, str]
    seconds: float
    cell: Mapping[str, Any]
    result: Mapping[str, Any]

    def to_json(self) -> str:
        body: dict[str, Any] = {"format": FORMAT, **{key: getattr(self, key) for key in KEYS}}
        body["digest"] = _digest(body)
        lines = (f"{json.dumps(key)}: {_layout(value)}" for key, value in body.items())
        return "{\n" + ",\n".join(lines) + "\n}\n"


KEYS = tuple(Result.__dataclass_fields__)


@dataclass
class State:
    """Where an experiment stands. `stale` and `damaged` say why; `orphans` are files that belong to no cell."""

    done: dict[str, Result] = field(default_factory=dict)
    missing: list[Cell] = field(default_factory=list)
    stale: dict[str, str] = field(default_factory=dict)
    damaged: dict[str, str] = field(default_factory=dict)
    orphans: list[str] = field(default_factory=list)

    @property
    def told(self) -> str:
        """In words, for a progress report."""
        parts = {"done": self.done, "to train": self.missing, "stale": self.stale, "damaged": self.damaged}
        return ", ".join(f"{len(part)} {name}" for name, part in parts.items() if part or name == "done")


def state(grid: Grid, folder: Path | None = None) -> State:
    """What is there of `grid`; `folder` is where to look instead of in the committed results."""
    folder, found, wanted = folder or grid.results, State(), rests_on(grid)
    for cell in grid.cells:
        try:
            result = load(folder / f"{cell.slug}.json")
        except FileNotFoundError:
            found.missing.append(cell)
            continue
        except ValueError as error:
            found.damaged[cell.slug] = str(error)
            found.missing.append(cell)
            continue
        why = stale(result, wanted)
        if why:
            found.stale[cell.slug] = why
            found.missing.append(cell)
        else:
            found.done[cell.slug] = result
    slugs = {cell.slug for cell in grid.cells}
    found.orphans = sorted(path.stem for path in folder.glob("*.json") if path.stem not in slugs)
    return found


def load(path: Path) -> Result:
    """Raises `ValueError` if the file was edited or damaged, `FileNotFoundError` if there is none."""
    text = path.read_text(encoding="utf-8")
    try:
        body = json.loads(text, parse_constant=_no_constant)
        digest = body.pop("digest")
        if body.pop("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        result = Result(**body)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it cannot be read ({error})") from None
    if digest != _digest({"format": FORMAT, **body}):
        raise ValueError("its digest does not match: it was edited by hand or damaged")
    return result


def save(project: Project, result: Result, path: Path) -> None:
    """Puts the file in place in one step; whoever is killed meanwhile leaves none, or the whole of it."""
    write(project, path, result.to_json())


def write(project: Project, path: Path, text: str) -> None:
    """Writes a file in one step, by way of `.cache`, where what a kill leaves is no matter."""
    parts = project.cache / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    number, part = tempfile.mkstemp(dir=parts)
    try:
        with open(number, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(part, 0o644)  # what mkstemp makes is for its owner alone
        os.replace(part, path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


# --- what a result rests on ---------------------------------------------------------------------------------------


def rests_on(grid: Grid) -> dict[str, str]:
    """Hashes of the trainer's code and of the files that it reads."""
    parts = {grid.script.rel: code(grid.script.source).encode(), **grid.files}
    return {path: hashlib.sha256(content).hexdigest() for path, content in parts.items()}


def stale(result: Result, wanted: Mapping[str, str]) -> str | None:
    """Why the result does not belong to what stands there now; None if it does."""
    changed = sorted(path for path in {*wanted, *result.rests_on} if wanted.get(path) != result.rests_on.get(path))
    if changed:
        return f"made by another {', '.join(changed)}"
    return other_release(result.versions)


def other_release(versions: Mapping[str, str]) -> str | None:
    """Says which package is of another minor release than here; None if none is."""
    here = record.versions()
    for name in PACKAGES:
        if minor(there := versions.get(name, "")) != minor(here[name]):
            return f"made with {name} {there or '(none)'}, here is {here[name]}"
    return None


def minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def code(source: str) -> str:
    """The source without its comments: to reword one makes no result stale."""
    lines = source.splitlines(keepends=True)
    try:
        tokens = [one for one in tokenize.generate_tokens(io.StringIO(source).readline) if one.type == tokenize.COMMENT]
    except (tokenize.TokenError, SyntaxError):
        return source
    for token in reversed(tokens):
        row, column = token.start[0] - 1, token.start[1]
        lines[row] = lines[row][:column].rstrip() + ("\n" if lines[row][:column].strip() else "")
    return "".join(lines)


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _layout(value: Any) -> str:
    """JSON with a line for each measured quantity, so that a changed result reads well as a diff."""
    if isinstance(value, dict) and any(isinstance(one, (list, dict)) for one in value.values()):
        inner = ",\n".join(f"  {json.dumps(key)}: {json.dumps(one, allow_nan=False)}" for key, one in value.items())
        return "{\n" + inner + "\n }"
    return json.dumps(value, allow_nan=False)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON; write null")


def parse_cell(text: str, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a trainer wrote into `cell.json`: all its parameters, and what it measured. Raises `ValueError`."""
    body = json.loads(text, parse_constant=_no_constant)
    if not isinstance(body, dict) or not all(isinstance(body.get(key), dict) for key in ("cell", "result")):
        raise ValueError('it is not {"cell": {…}, "result": {…}}')
    cell, result = body["cell"], body["result"]
    ignored = [key for key, value in given.items() if key not in cell or cell[key] != value]
    if ignored:
        raise ValueError(f"its cell does not have the given {', '.join(ignored)}")
    if not all(re.fullmatch(r"[a-z_][a-z0-9_]*", key) for key in (*cell, *result)):
        raise ValueError("its names are not all in lower case with underscores")
    if both := set(cell) & set(result):
        raise ValueError(f"{', '.join(sorted(both))} stands in both cell and result")
    return cell, result
