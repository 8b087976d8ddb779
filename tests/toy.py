"""A toy experiment in a temporary project: its trainer computes nothing, and behaves as its parameters say."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import Tiny
from evidence.__main__ import main
from evidence_grid import grid
from evidence_grid.grid import Grid

TRAINER = """
# a comment
import json, os, pathlib, sys, time
cell = {"depth": 1, "lr": 0.1, "norm": "none", "seed": 0, "does": "train", "seconds": 0.0}
for argument in sys.argv[1:]:
    key, _, text = argument.partition("=")
    try:
        cell[key] = json.loads(text)
    except ValueError:
        cell[key] = text
if os.environ.get("TOY_LOG"):
    with open(os.environ["TOY_LOG"], "a") as file:
        file.write(f"{os.getpid()} {' '.join(sys.argv[1:])}\\n")
time.sleep(cell["seconds"])
if cell["does"] == "crash":
    sys.stderr.write("".join(f"line {i}\\n" for i in range(20)))
    raise OverflowError("of depth")
loss = cell["depth"] + cell["lr"] + cell["seed"] / 1000
result = {"final_loss": loss, "first_non_finite": None, "stalled": False, "window": 10, "curve": [2 * loss, loss]}
if cell["does"] == "diverge":
    result |= {"final_loss": None, "first_non_finite": 100 + cell["seed"], "curve": [2 * loss, None]}
if cell["does"] == "forget":
    del cell["lr"]
text = json.dumps({"cell": cell, "result": result})
if cell["does"] == "nan":
    text = text.replace("null", "NaN")
if cell["does"] != "nothing":
    pathlib.Path("cell.json").write_text(text[:20] if cell["does"] == "truncate" else text)
if cell["does"] == "die":
    os.kill(os.getpid(), 9)
"""


def experiment(tiny: Tiny, *blocks: dict[str, Any], name: str = "toy", trainer: str = TRAINER) -> Grid:
    """Writes the trainer and a grid of the blocks, and loads it."""
    tiny.write("snippets/training/train_toy.py", trainer)
    tiny.write(f"snippets/training/{name}.grid.json", json.dumps({"script": "train_toy.py", "cells": list(blocks)}))
    return grid.load_all(tiny.project, name)[0]


def seeds(count: int, **fixed: Any) -> dict[str, Any]:
    return {"product": {"seed": list(range(count))}, "set": fixed}


def start(tiny: Tiny, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Begins `dev.py` with the arguments."""
    command = [sys.executable, "-m", "evidence", *arguments]
    where = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "scripts"), **environment}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=tiny.root, env=where, stdout=pipe, stderr=pipe, text=True)


def command(tiny: Tiny, *arguments: str, **environment: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr; in this process, which is faster."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(tiny.root),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, value in environment.items():
            patch.setenv(name, value)
        status = main(list(arguments))
    return status, out.getvalue(), err.getvalue()


def trained(log: Path) -> list[str]:
    """Arguments of each cell whose training began, as the trainer noted them."""
    return [line.partition(" ")[2] for line in log.read_text().splitlines()] if log.exists() else []


def files(found: Grid) -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in sorted(found.results.glob("*"))}
