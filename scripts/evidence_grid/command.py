"""What `dev.py train` and `dev.py verify --long` do."""

from __future__ import annotations

import argparse
from datetime import date
from functools import partial

from evidence.project import Problem, Project, Refusal
from evidence_grid import again, grid, table
from evidence_grid.pool import opened
from evidence_grid.train import train as train_grids

problems = table.problems


def add_where(parser: argparse.ArgumentParser) -> None:
    """The options that say where cells are trained."""
    parser.add_argument("--jobs", type=positive, metavar="N", help="cells at once on this machine; default: one a core")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="train on the Dask cluster of this scheduler")


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `train`."""
    parser.add_argument("experiment", nargs="?", metavar="EXPERIMENT", help="its name, or: all")
    add_where(parser)
    parser.add_argument("--limit", type=not_negative, metavar="N", help="train at most so many cells now")
    parser.add_argument("--spot", action="store_true", help="train a few recorded cells again, and compare")
    parser.add_argument("--date", type=day, help="of the day whose cells --spot takes; default: today")


def train(project: Project, options: argparse.Namespace) -> int:
    if options.spot:
        asked = options.experiment or "all"
    elif options.experiment:
        asked = options.experiment
    else:
        known = ", ".join(grid.names(project)) or "none"
        raise Refusal([Problem("train", 0, f"which experiment? all, or one of: {known}")])
    grids = grid.load_all(project, asked)
    pool = partial(opened, options.jobs, options.scheduler)
    if options.spot:
        return 1 if again.spot(grids, pool, options.date or date.today()) else 0
    return 1 if train_grids(project, grids, pool, options.limit) else 0


def verify(project: Project, options: argparse.Namespace) -> int:
    pool = partial(opened, options.jobs, options.scheduler)
    return 1 if again.every(project, grid.load_all(project), pool) else 0


def positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise ValueError(text)
    return number


def not_negative(text: str) -> int:
    if (number := int(text)) < 0:
        raise ValueError(text)
    return number


def day(text: str) -> date:
    return date.fromisoformat(text)
