"""Stock `pytest --codeblocks` passes on the resolved chapters, and runs as many blocks as the pages hold."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pytest_codeblocks import extract_from_file

import blocks
from blocks import State
from conftest import UP, Tiny
from evidence.project import Project

CODE = f"{UP}/residual/share.py"
SOURCE = "# A share\nseeds = range(4)\nshare = sum(seeds) / 8\nopen('share.csv', 'w').write('share')\nprint(share)\n"
TEXT = f"It is [0.75]({CODE}#share).\n\n[share.py]({CODE})\n\n```python\nshare = 0\n```\n"


HEAVY = {"rmsnorm/speed.md"}  # timed, and tried alone by tests/test_chapters.py


def stock(state: State, scratch: Path, some: Collection[str] = ()) -> tuple[Counter[str], str]:
    """The counts and the output of `pytest --codeblocks` on a copy of the resolved chapters, in two processes."""
    folder = shutil.copytree(state.project.cache / "resolved", scratch / "resolved")
    chapters = sorted(path for path in folder.rglob("*.md") if not some or path.relative_to(folder).as_posix() in some)
    with ThreadPoolExecutor(2) as pool:
        halves = [half for half in (chapters[::2], chapters[1::2]) if half]
        ended = list(pool.map(lambda half: _stock(state, half, Path(tempfile.mkdtemp(dir=scratch))), halves))
    counts: Counter[str] = Counter()
    for said in ended:
        counts.update({word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|error|skipped)", said)})
    return counts, "\n".join(ended)


def _stock(state: State, chapters: list[Path], work: Path) -> str:
    for script in state.snippets.values():
        for path in script.reads:
            content = (state.project.root / path).read_bytes()
            copy = work / Path(path).name
            assert not copy.exists() or copy.read_bytes() == content, f"two files named {copy.name}"
            copy.write_bytes(content)
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "--codeblocks",
            "-p",
            "no:cacheprovider",
            "-q",
            "-c",
            os.devnull,
            *map(str, chapters),
        ],
        cwd=work,
        env={**os.environ, "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.stdout + ended.stderr


def prepared(project: Project) -> tuple[State, int]:
    state = blocks.read(project)
    return state, len(blocks.extracted(state))


@pytest.fixture
def sound(tiny: Tiny) -> Tiny:
    tiny.have(SOURCE, {"seeds": [0, 1, 2, 3], "share": 0.75}, output="0.75\n")
    tiny.page(TEXT)
    tiny.page(TEXT, "docs/residual/again.md")
    return tiny


def test_it_passes_on_a_sound_project(sound: Tiny, tmp_path: Path) -> None:
    state, count = prepared(sound.project)
    assert count == 4
    counts, said = stock(state, tmp_path)
    assert counts == {"passed": 4}, said
    assert not list(sound.root.rglob("share.csv"))


def test_its_assertions_are_live(sound: Tiny, tmp_path: Path) -> None:
    """The record still says 0.75: only a run can tell."""
    sound.snippet(SOURCE.replace("/ 8", "/ 9"))
    counts, said = stock(prepared(sound.project)[0], tmp_path)
    assert counts == {"passed": 2, "failed": 2}, said
    assert "docs/residual/path.md:1 states 0.75; share is 0.666" in said


def test_a_changed_digit_fails_it(sound: Tiny, tmp_path: Path) -> None:
    sound.page(TEXT.replace("0.75", "0.77"))
    counts, said = stock(prepared(sound.project)[0], tmp_path)
    assert counts == {"passed": 3, "failed": 1}, said
    assert "docs/residual/path.md:1 states 0.77; share is 0.75" in said


def test_it_passes_on_pages_of_this_repository(tmp_path: Path) -> None:
    """Those for authors, and two others by the date; the blocks of all pages are run by tests/test_chapters.py."""
    state, _ = prepared(Project(Path(__file__).parents[1]))
    folder = state.project.cache / "resolved"
    count = {path.relative_to(folder).as_posix(): fences(path) for path in folder.rglob("*.md")}
    others = sorted(name for name, blocks in count.items() if blocks and "authors" not in name and name not in HEAVY)
    today = datetime.now(UTC).date().toordinal()
    some = [name for name, blocks in count.items() if blocks and "authors" in name]
    some += random.Random(today).sample(others, 2)
    print("pages of the day:", ", ".join(some))
    counts, said = stock(state, tmp_path, some)
    assert counts == {"passed": sum(count[name] for name in some)}, said


def fences(path: Path) -> int:
    return sum(block.syntax == "python" for block in extract_from_file(path))
