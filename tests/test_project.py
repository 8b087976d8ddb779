"""A project is found from any folder in it, and nothing is guessed outside of one; its files have addresses."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Tiny
from evidence.project import Refusal, find


def test_it_is_found_from_here_and_from_below(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find(tiny.root).root == tiny.root.resolve()
    monkeypatch.chdir(tiny.root / "docs/residual")
    assert find().root == tiny.root.resolve()


@pytest.mark.parametrize("have", [[], ["mkdocs.yml"], ["snippets/a.py"], ["snippets", "mkdocs.yml"]])
def test_a_folder_that_has_half_of_it_is_none(tiny: Tiny, tmp_path: Path, have: list[str]) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    for name in have:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("")
    with pytest.raises(Refusal) as refused:
        find(folder)
    assert str(refused.value) == f"{folder.resolve()}: no mkdocs.yml with a snippets/ folder here or above"
