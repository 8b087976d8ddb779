"""On this repository's pages: every Python block is collected and runs, every number holds, no record has drifted."""

from __future__ import annotations

from pathlib import Path

import pytest

import blocks
from blocks import Block, Results
from evidence import bare
from evidence.project import Project

REAL = blocks.read(Project(Path(__file__).parents[1]))
BLOCKS = blocks.extracted(REAL)


@pytest.fixture(scope="session")
def results(request: pytest.FixtureRequest) -> Results:
    """One run of each script that a selected test asks about."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    asked = [item.callspec.params for item in items if item.path == Path(__file__) and hasattr(item, "callspec")]
    wanted = [block for block in BLOCKS if any(one.get("block") is block for one in asked)]
    more = [script for name, script in REAL.snippets.items() if any(one.get("name") == name for one in asked)]
    return blocks.run(REAL.project, wanted, more)


def test_pages_and_records_are_sound() -> None:
    assert [str(problem) for problem in REAL.found.problems] == []


def test_no_number_is_bare() -> None:
    left, _ = bare.unbound(REAL.found, REAL.snippets, REAL.records)
    assert [f"{one.page}:{one.line}: {one.text}" for one in left] == []


def test_every_python_fence_is_collected() -> None:
    assert blocks.uncollected(REAL, BLOCKS) == []


@pytest.mark.parametrize("block", BLOCKS, ids=[block.place for block in BLOCKS])
def test_block_runs_and_its_numbers_hold(block: Block, results: Results) -> None:
    assert blocks.failure(block, results) is None


@pytest.mark.parametrize("name", REAL.snippets)
def test_fresh_run_says_what_the_record_says(name: str, results: Results) -> None:
    assert blocks.drift(REAL, name, results) == []
