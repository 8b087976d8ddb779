"""Proves that nothing beside a linked number, or around a page, changes what a reader reads without being checked."""

from __future__ import annotations

import os

import pytest

from conftest import UP, Tiny
from evidence import beside

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
        f"It is **[1024]{COUNT}** %.",
        f"It is **[1024]{COUNT}**%.",
        f"It is [1024]{COUNT}**%**.",
        f"It is [1024]{COUNT}_%_.",
        f"It is [1024]{COUNT}<sup>%</sup>.",
        f"It is [1024]{COUNT}&nbsp;%.",
        f"It is [1024]{COUNT}&#x25;.",
        f"It is [1024]{COUNT}\u2009%.",
        f"It is [1024]{COUNT}{{ .note }}%.",
        f"It is ([1024]{COUNT}) %.",
        f"It is [1024]{COUNT}‰.",
        f"It is [1024]{COUNT} per-cent.",
        f"It is [1024]{COUNT} per mille.",
        f"It is [1024]{COUNT} tenths.",
        f"It is [1024]{COUNT} hundredths.",
        f"It is [1024]{COUNT} hundred.",
        f"It is [1024]{COUNT} thousand.",
        f"It is [1024]{COUNT} billion.",
        f"It is [1024]{COUNT}-trillion.",
        f"It is [1024]{COUNT}k.",
        f"It is [1024]{COUNT}M.",
        f"It is [1024]{COUNT}!",
        f"It is [1024]{COUNT}^2.",
        f"It is [1024]{COUNT}× 10.",
        f"It is -**[1024]{COUNT}**.",
        f"It is −_[1024]{COUNT}_.",
        f"It is ≈−[1024]{COUNT}.",
        f"It is m=-[1024]{COUNT}.",
        f'It is "-[1024]{COUNT}".',
        f"It is \\-[1024]{COUNT}.",
        f"It is –[1024]{COUNT}.",
        f"It is +[1024]{COUNT}.",
        f"It is `-`[1024]{COUNT}.",
        f"It is $-$[1024]{COUNT}.",
        f"It is &minus;[1024]{COUNT}.",
        f"It is minus [1024]{COUNT}.",
        f"Minus [1024]{COUNT}.",
        f"It is negative **[1024]{COUNT}**.",
        f"It is √[1024]{COUNT}.",
        f"It is √([1024]{COUNT}).",
        f"It is log [1024]{COUNT}.",
        f"It is the root of [1024]{COUNT}.",
        f"- x\n-[1024]{COUNT}",
        f"-[1024]{COUNT}",
        f"| a | b |\n|---|---|\n|-[1024]{COUNT} | c |",
    ],
)
def test_what_touches_a_link_may_not_change_its_value(project: Tiny, sentence: str) -> None:
    project.page(f"# T {{#t}}\n\n{sentence}\n")
    assert any("touches this link changes its value" in problem for problem in project.problems())


def test_a_sign_may_be_all_there_is_before_a_link() -> None:
    assert beside.alters("-[5](x)", 1, 7)
    assert not beside.alters("[5](x)", 0, 6)


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
        f"Post-LN [1024]{COUNT} times, *Pre-LN* [1024]{COUNT}x: [1024]{COUNT} of them! And **[1024]{COUNT}** too.",
        f"- [1024]{COUNT} percentage points\n- from [1024]{COUNT}–[1024]{COUNT}, ±[1024]{COUNT}, — [1024]{COUNT}",
        f"Of x – [1024]{COUNT} – and y, [1024]{COUNT} keys, [1024]{COUNT} MB, [1024]{COUNT} Examples.",
        f"The catalog [1024]{COUNT}, with layer-[1024]{COUNT} and (x)-[1024]{COUNT}.",
    ],
)
def test_ordinary_sentences_pass(project: Tiny, sentence: str) -> None:
    project.page(f"# T {{#t}}\n\n{sentence}\n")
    assert project.problems() == []


@pytest.mark.parametrize(
    "name",
    [
        "docs/residual/y.markdown",
        "docs/residual/y.html",
        "docs/residual/y.ipynb",
        "docs/y.MD",
        "docs/y.HTML",
        "docs/y.svg",
        "docs/y",
    ],
)
def test_a_page_of_another_kind_is_refused(project: Tiny, name: str) -> None:
    project.write(name, "It is 0.7391.\n")
    assert project.problems() == [f"{name}: would be published unchecked; a page ends in .md"]


def test_what_the_pages_are_shown_with_is_not(project: Tiny) -> None:
    for name in ("docs/assets/logo.svg", "docs/assets/fonts/x.woff2", "docs/overrides/main.html", "docs/a/x.bib"):
        project.write(name, "x")
    assert project.problems() == []


def test_a_page_is_a_file_of_its_own(project: Tiny) -> None:
    project.write("elsewhere/y.md", "# Y\n\nIt is 0.7391.\n")
    (project.project.docs / "linked").symlink_to(project.root / "elsewhere")
    (project.project.docs / "y.md").symlink_to(project.root / "elsewhere/y.md")
    os.mkfifo(project.project.docs / "z.md")
    told = "would be published unchecked; a page is a file, and no link to one"
    assert project.problems()[:3] == [f"docs/{name}: {told}" for name in ("linked", "y.md", "z.md")]


def test_an_image_is_what_a_snippet_drew(project: Tiny) -> None:
    project.write("docs/assets/chart.svg", "<svg/>")
    project.page("# T {#t}\n\n![A chart.](../assets/chart.svg)\n")
    (told,) = project.problems()
    assert told.endswith("an image is a figure that a snippet wrote, in snippets/")


@pytest.mark.parametrize(
    ("head", "sound"), [("", False), ("#\n", False), ("# \n#\n", False), ("# Ba, Table 1\n", True)]
)
@pytest.mark.parametrize("use", ["[0.97]({}#x/b)", '[It falls.]({} "table")'])
def test_a_transcribed_number_has_a_source(project: Tiny, head: str, sound: bool, use: str) -> None:
    project.write("snippets/residual/typed.csv", f"{head}a,b\nx,0.97\n")
    project.page(f"# T {{#t}}\n\n{use.format(f'{UP}/residual/typed.csv')}\n")
    told = "snippets/residual/typed.csv does not say where it is from; do so above its head, in lines that begin with #"
    assert [problem.endswith(told) for problem in project.problems()] == [True] * (not sound)


def test_a_file_that_is_only_linked_needs_none(project: Tiny) -> None:
    project.write("snippets/residual/typed.csv", "a,b\nx,0.97\n")
    project.page(f"# T {{#t}}\n\nSee [all]({UP}/residual/typed.csv) of it.\n")
    assert project.problems() == []


@pytest.mark.parametrize(
    "line", [">= 0.7391", "x {.5 is 0.7391 so}", "x {#heads that gain 0.7391}", "x {title=0.7391}", "see [^0.7391]"]
)
def test_what_only_looks_like_markup_is_read(project: Tiny, line: str) -> None:
    project.page(f"# T {{#t}}\n\n{line}\n")
    assert "0.7391" in [text for _, text in project.unbound()]
