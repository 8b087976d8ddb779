"""Proves that a site is swapped in whole, and only if its generator had nothing to warn of."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Tiny
from evidence_site import publish

HOOKS = Path(publish.__file__).with_name("hooks.py")


def test_a_dead_link_keeps_the_old_site(tiny: Tiny) -> None:
    tiny.page("# Home\n\nBefore.\n", "docs/index.md")
    assert publish.build(tiny.project) == 0
    old = (tiny.root / "site/index.html").read_bytes()
    assert b"Before." in old

    tiny.page("# Home\n\nAfter, with a [link](nowhere.md).\n", "docs/index.md")
    assert publish.build(tiny.project) != 0
    assert (tiny.root / "site/index.html").read_bytes() == old

    tiny.page("# Home\n\nAfter.\n", "docs/index.md")
    assert publish.build(tiny.project) == 0
    assert b"After." in (tiny.root / "site/index.html").read_bytes()
    assert not (tiny.project.cache / "site").exists()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("| a | b |\n|---|---|\n| 1 | 2 | 3 |\n", "docs/residual/path.md:5: a row of 3 cells in a table of 2 columns"),
        ("| a | b |\n|---|---|\n| $|x|$ | c |\n", "docs/residual/path.md:5: a | in the formula |x| cuts the cell"),
    ],
)
def test_a_table_that_would_lose_a_cell_is_refused(tiny: Tiny, rows: str, said: str) -> None:
    tiny.page(f"# T {{#t}}\n\n{rows}")
    assert any(problem.startswith(said) for problem in tiny.problems()), tiny.problems()


def test_a_table_with_pipes_in_code_links_and_escapes_is_fine(tiny: Tiny) -> None:
    tiny.page("# T {#t}\n\n| a | b |\n|---|---|\n| `x` \\| y | [c](https://x.org) |\n| $\\vert x \\vert$ | d |\n")
    assert tiny.problems() == []


def test_a_single_seed_is_refused(tiny: Tiny) -> None:
    tiny.have("seeds = range(1)\nshare = 0.881\n", {"seeds": [0], "share": 0.881})
    tiny.page("# T {#t}\n\nIt is [0.881](../../snippets/residual/share.py#share).\n")
    assert "a single seed proves nothing" in tiny.problems()[0]


def test_data_is_published_under_the_name_that_the_site_gives_it(tiny: Tiny) -> None:
    tiny.page("# Home\n\nText.\n", "docs/index.md")
    tiny.write("snippets/residual/share/models.json", '[{"name": "GPT-2"}]\n')
    named = (
        f"site_name: tiny\nhooks: [{HOOKS}]\nextra: {{data: {{models.json: snippets/residual/share/models.json}}}}\n"
    )
    tiny.write("mkdocs.yml", named)
    assert publish.build(tiny.project) == 0
    assert (tiny.root / "site/data/models.json").read_text(encoding="utf-8") == '[{"name": "GPT-2"}]\n'

    tiny.write("mkdocs.yml", named.replace("share/models", "share/moved"))
    assert publish.build(tiny.project) != 0
    assert (tiny.root / "site/data/models.json").exists()
