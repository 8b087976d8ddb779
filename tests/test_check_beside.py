"""Proves that nothing beside a linked number, or around a page, changes what a reader reads without being checked."""

from __future__ import annotations

import pytest

from conftest import UP, Tiny

SHARE, COUNT = f"({UP}/residual/share.py#share)", f"({UP}/residual/share.py#count)"


@pytest.fixture
def project(tiny: Tiny) -> Tiny:
    tiny.have("share = 0.881\ncount = 1024\n", {"share": 0.881, "count": 1024})
    return tiny


@pytest.mark.parametrize(
    "sentence",
    [
        f"It is [0.881]{SHARE} percent.",
        f"It is [1024]{COUNT}%.",
        f"It is -[1024]{COUNT}.",
        f"It is 0.[1024]{COUNT}.",
        f"It is 7[1024]{COUNT}.",
        f"It is [1024]{COUNT},000.",
        f"It is [1024]{COUNT}.5.",
        f"It is [1024]{COUNT}e3.",
        f"It is [1024]{COUNT}[1024]{COUNT}.",
        f"It is [1024]{COUNT} million.",
    ],
)
def test_what_touches_a_link_may_not_change_its_value(project: Tiny, sentence: str) -> None:
    project.page(f"# T {{#t}}\n\n{sentence}\n")
    assert any("touches this link changes its value" in problem for problem in project.problems())


@pytest.mark.parametrize(
    "text",
    ["1024 million", "1024&nbsp;%", "1024**%**", "&minus;1024", "half of 1024", "less than 1024", "1024k", "√1024"],
)
def test_what_stands_in_a_link_may_not_either(project: Tiny, text: str) -> None:
    project.page(f"# T {{#t}}\n\nIt is [{text}]{COUNT}.\n")
    assert project.problems()


@pytest.mark.parametrize(
    "sentence",
    [
        f"Between [0.881]{SHARE}, [0.881]{SHARE} and ([1024]{COUNT}).",
        f"About [1024 tokens]{COUNT}; [1024]{COUNT}-dimensional.",
        f"From [1024]{COUNT} to [1024]{COUNT}.",
        f"It has [**1024**]{COUNT} of them: [`1024`]{COUNT}.",
        f"As many as [1,024]{COUNT}.",
    ],
)
def test_ordinary_sentences_pass(project: Tiny, sentence: str) -> None:
    project.page(f"# T {{#t}}\n\n{sentence}\n")
    assert project.problems() == []


@pytest.mark.parametrize("name", ["docs/residual/y.markdown", "docs/residual/y.html", "docs/residual/y.ipynb"])
def test_a_page_of_another_kind_is_refused(project: Tiny, name: str) -> None:
    project.write(name, "It is 0.7391.\n")
    assert project.problems() == [f"{name}: would be published unchecked; a page ends in .md"]


@pytest.mark.parametrize("line", [">= 0.7391", "x {.5 is 0.7391 so}", "x {#heads that gain 0.7391}"])
def test_what_only_looks_like_markup_is_read(project: Tiny, line: str) -> None:
    project.page(f"# T {{#t}}\n\n{line}\n")
    assert "0.7391" in [text for _, text in project.unbound()]
