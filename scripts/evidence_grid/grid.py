"""A grid: the cells of one experiment, and the trainer that is called for each.

{"script": "train_described.py",
 "cells": [{"set": {"norm": "layernorm"}, "product": {"depth": [6, 12], "lr": [1e-3, 3e-3], "seed": [0, 1, 2]}}]}

A block stands for every combination of the values in `product`, each with the parameters in `set`. A cell that two
blocks name is one cell.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from evidence.project import Problem, Project, Refusal
from evidence.snippet import Snippet, load, name_of

FOLDER, ENDING = "training", ".grid.json"
NAME = re.compile(r"[a-z][a-z0-9_]*")
LONGEST = 150  # characters of a slug; file systems allow 255 bytes of a name


@dataclass(frozen=True)
class Cell:
    """One run of a trainer; `given` are the parameters the grid gives, the rest are the trainer's defaults."""

    experiment: str
    given: Mapping[str, Any]

    @cached_property
    def slug(self) -> str:
        """Its name: the given parameters by alphabet, the seed last, in characters that any file system takes."""
        keys = sorted(self.given, key=lambda key: (key == "seed", key))
        text = "_".join(f"{key}-{_short(self.given[key])}" for key in keys)
        if len(text) <= LONGEST:
            return text
        return f"{text[: LONGEST - 9]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    @property
    def name(self) -> str:
        return f"{self.experiment}/{self.slug}"

    @property
    def arguments(self) -> list[str]:
        """As they stand on the trainer's command line: `depth=12 norm=layernorm`."""
        return [f"{key}={_argument(value)}" for key, value in self.given.items()]


@dataclass(frozen=True)
class Grid:
    """An experiment: its trainer and its cells, in the order in which they are trained."""

    project: Project
    experiment: str
    script: Snippet
    cells: tuple[Cell, ...]

    @cached_property
    def files(self) -> dict[str, bytes]:
        """What the trainer reads, by path; once, so that all cells are given the same."""
        return {path: (self.project.root / path).read_bytes() for path in self.script.reads}

    @property
    def results(self) -> Path:
        return self.project.snippets / FOLDER / "results" / self.experiment


def names(project: Project) -> list[str]:
    """Every experiment of the project."""
    return sorted(path.name.removesuffix(ENDING) for path in (project.snippets / FOLDER).glob(f"*{ENDING}"))


def load_all(project: Project, asked: str = "all") -> list[Grid]:
    """The experiment asked for, or all; raises `Refusal` for a grid that is malformed or is not there."""
    known = names(project)
    if asked != "all" and asked not in known:
        raise Refusal([Problem(_path(asked), 0, f"there is no such grid; known: {', '.join(known) or 'none'}")])
    return [_load(project, name) for name in (known if asked == "all" else [asked])]


def _path(experiment: str) -> str:
    return f"snippets/{FOLDER}/{experiment}{ENDING}"


def _load(project: Project, experiment: str) -> Grid:
    path = _path(experiment)

    def refuse(message: str) -> Refusal:
        return Refusal([Problem(path, 0, message)])

    if not NAME.fullmatch(experiment):
        raise refuse("an experiment is named in lower case, like a snippet")
    try:
        body = json.loads((project.root / path).read_text(encoding="utf-8"))
        if set(body) != {"script", "cells"}:
            raise ValueError('it has "script" and "cells", and nothing else')
        cells = {cell.slug: cell for cell in expand(experiment, body["cells"])}
        grid = Grid(project, experiment, load(project, f"{FOLDER}/{name_of(body['script'])}"), tuple(cells.values()))
        _ = grid.files
    except FileNotFoundError as error:
        raise refuse(f"{error.filename} does not exist") from None
    except (ValueError, TypeError, AttributeError, UnicodeDecodeError) as error:
        raise refuse(f"malformed: {error}") from None
    return grid


def expand(experiment: str, blocks: list[dict[str, Any]]) -> Iterator[Cell]:
    """The cells of each block: all of the leading seed in an order like chance, then of the next.

    So whatever stops a long run leaves each corner of the grid covered, and the time left is told from runs of all
    kinds. Raises `ValueError` for a block that is malformed.
    """
    for block in blocks:
        if not set(block) <= {"product", "set"} or not all(isinstance(part, dict) for part in block.values()):
            raise ValueError(f'a block has "product" and "set", each an object: {json.dumps(block)[:80]}')
        product, fixed = block.get("product", {}), block.get("set", {})
        if both := set(product) & set(fixed):
            raise ValueError(f"{', '.join(sorted(both))} stands in both product and set")
        for key, values in product.items():
            if not isinstance(values, list) or not values:
                raise ValueError(f"the values of {key} are a list")
        for key in (*fixed, *product):
            if not key.isidentifier():
                raise ValueError(f"{key!r} is no name of a parameter")
        combinations = itertools.product(*product.values())
        cells = [Cell(experiment, {**fixed, **dict(zip(product, chosen, strict=True))}) for chosen in combinations]
        seeds = product.get("seed", [None])
        yield from sorted(cells, key=lambda cell: (seeds.index(cell.given.get("seed")) if len(seeds) > 1 else 0,
                                                   hashlib.sha256(cell.slug.encode()).hexdigest()))  # fmt: skip


def _short(value: Any) -> str:
    """A value as part of a file name."""
    if isinstance(value, list):
        return "+".join(map(_short, value))
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return re.sub(r"[^A-Za-z0-9.+-]", "-", text)


def _argument(value: Any) -> str:
    """A value on the command line: JSON; a text without quotes, unless JSON would take it for something else."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError:
            return value
    return json.dumps(value, allow_nan=False)
