"""Builds of one source are the same byte for byte, in two folders, cold or warm, and two at once do no harm."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import small_site
from evidence.project import Project
from small_site import ENVIRONMENT, ROOT

REAL = "docs/authors/links.md"  # a page with each kind of link, and its snippets


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built project of one generated page and one real one."""
    root = tmp_path_factory.mktemp("one") / "project"
    small_site.make(root, 1)
    shutil.copytree(ROOT / "docs/authors", root / "docs/authors")
    for name in ("authors", "papers"):
        shutil.copytree(ROOT / "snippets" / name, root / "snippets" / name)
    shutil.copy(ROOT / "snippets/matplotlibrc", root / "snippets")
    for page in (root / "docs/authors").glob("*.md"):
        if page.name != Path(REAL).name:
            page.unlink()  # it leads to pages that are not here
    text = yaml.safe_load((root / "mkdocs.yml").read_text(encoding="utf-8"))
    text["validation"] = dict.fromkeys(text["validation"], "ignore")
    (root / "mkdocs.yml").write_text(yaml.safe_dump(text), encoding="utf-8")
    ended = small_site.build(root)
    assert ended.returncode == 0, ended.stderr
    return root


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def differing(one: Path, other: Path) -> list[str]:
    first, second = tree(one), tree(other)
    assert first
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))


def test_two_folders_one_of_them_from_scratch_give_the_same_bytes(made: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "with a longer name"
    shutil.copytree(made, other, ignore=shutil.ignore_patterns(".cache", "site", "__pycache__"))
    for record in other.glob("snippets/bench/*/"):
        shutil.rmtree(record)  # so that its snippets are run again
    ended = small_site.build(other)
    assert ended.returncode == 0, ended.stderr
    assert (other / "site/bench/page-0/index.html").exists()
    assert (other / "site/authors/links/index.html").exists()
    assert differing(made / "site", other / "site") == []
    assert differing(made / "snippets", other / "snippets") == []


def test_two_builds_at_once_leave_one_whole_site(made: Path) -> None:
    before = tree(made / "site")
    shutil.rmtree(made / "site")
    shutil.rmtree(Project(made).cache)
    environment = {**ENVIRONMENT, "PYTHONPATH": str(made / "scripts")}
    command = [sys.executable, "-m", "evidence", "build"]
    both = [subprocess.Popen(command, cwd=made, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert tree(made / "site") == before
    assert not (Project(made).cache / "site").exists()
