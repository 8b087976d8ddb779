"""Proves that a snippet is found by its path, and that its line of seeds, and nothing else of it, can be replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.snippet import Snippet, meant, name_of, with_seeds


def test_a_path_names_its_snippet() -> None:
    assert name_of("snippets/residual/identity_share.py") == "residual/identity_share"
    assert name_of("residual/identity_share") == "residual/identity_share"


def test_only_the_line_of_seeds_is_replaced() -> None:
    source = "import torch\n\nseeds = range(200)  # enough\nfor seed in seeds:\n    more_seeds = seed\n"
    changed = with_seeds(source, "range(1000, 1200)")
    assert changed == source.replace("range(200)  # enough", "range(1000, 1200)")


@pytest.mark.parametrize("source", ["x = 1\n", "def f():\n    seeds = [1]\n", "seeds = [\n    1,\n    2,\n]\n"])
def test_without_such_a_line_nothing_is_guessed(source: str) -> None:
    with pytest.raises(ValueError, match="no top-level line"):
        with_seeds(source, "range(3)")


def test_the_names_that_may_be_meant() -> None:
    known = ["residual/share", "residual/shares", "residual/shard", "placement/gain", "practice/gain"]
    assert meant("residual/share", known) == "; did you mean residual/share or residual/shares?"  # two at most
    assert meant("gain", known) == "; did you mean placement/gain or practice/gain?"
    assert meant("nothing_like_it", known) == ""


def test_what_a_snippet_gets_and_what_it_lacks(tmp_path: Path) -> None:
    assert Snippet("a/b", tmp_path, "x = 1\n").limits == (60, 2)
    script = Snippet("a/b", tmp_path, "# limits: 180 s, 4 GB\n# requires: json, no_such_package\n")
    assert (script.limits, script.requires) == ((180, 4), {"json", "no_such_package"})
    assert script.lacks == ["no_such_package"]


def test_a_header_line_may_be_repeated(tmp_path: Path) -> None:
    script = Snippet(
        "a/b", tmp_path, "# Reads\n# reads: snippets/a/c.csv snippets/a/d.csv\n# reads: snippets/a/e.csv\n"
    )
    assert script.reads == ("snippets/a/c.csv", "snippets/a/d.csv", "snippets/a/e.csv")
