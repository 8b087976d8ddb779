"""What is exempt is exempt there only: each place with the numbers that it may repeat, and each finding on its line."""

from __future__ import annotations

from collections import Counter

import pytest

from conftest import UP, Tiny
from evidence import bare, check

EMBEDDED = f"[share.py]({UP}/residual/share.py)"
CONDITION = f"{UP}/residual/share.py#grows"
DEFINED = 'https://arxiv.org "definition: the manual"'


@pytest.fixture
def sound(tiny: Tiny) -> Tiny:
    """A snippet with a literal that is no value (37), and a value that is no literal (64)."""
    values = {"share": 0.881, "grows": True, "d_model": 64}
    tiny.have("share = 0.881\ngrows = 37 > share\nd_model = 8 * 8\n", values, output="0.881 of 12\n")
    return tiny


def judged(sound: Tiny, text: str) -> tuple[list[tuple[int, str]], Counter[str]]:
    """Line and text of what is listed, and the exemptions."""
    sound.page(text)
    snippets, records, found = check.load(sound.project)
    left, exempt = bare.unbound(found, snippets, records)
    return [(one.line, one.text) for one in left], +exempt


@pytest.mark.parametrize("text", ["`37`", "`64`", "```text\nwidth 64, 37 of them\n```"])
def test_code_may_repeat_literals_and_values_of_the_embedded_snippet(sound: Tiny, text: str) -> None:
    left, exempt = judged(sound, f"# Title\n\n{EMBEDDED}\n\n{text}\n")
    assert left == []
    assert set(exempt) == {"setting"}


@pytest.mark.parametrize("text", ["64 wide", "$64 x$", f"[at 64]({CONDITION})"])
def test_a_setting_counts_in_code_only(sound: Tiny, text: str) -> None:
    assert judged(sound, f"# Title\n\n{EMBEDDED}\n\n{text}\n")[0] == [(5, "64")]


@pytest.mark.parametrize("text", ["$-2 y$", "$-1$", "`-2`", "```text\nx[1] - 2\n```"])
def test_structure_has_signs_and_a_fence_has_structure(sound: Tiny, text: str) -> None:
    left, exempt = judged(sound, f"# Title\n\n{text}\n")
    assert left == []
    assert set(exempt) == {"structure"}


@pytest.mark.parametrize(("text", "expected"), [("$-4 y$", "-4"), ("$4 y$", "4"), (f"[at 2 depths]({CONDITION})", "2")])
def test_what_is_no_structure_is_listed(sound: Tiny, text: str, expected: str) -> None:
    assert judged(sound, f"# Title\n\n{text}\n")[0] == [(3, expected)]


def test_comments_of_a_block_may_repeat_what_the_page_has_and_its_own_code(sound: Tiny) -> None:
    bound = f"[0.881]({UP}/residual/share.py#share)\n\n{EMBEDDED}"
    code = "```python\n\nx = 39\n# 0.881 of 12, 2 in 39, but 38\n```"
    left, exempt = judged(sound, f"# Title\n\n{bound}\n\n{code}\n\n40\n")
    assert left == [(10, "38"), (13, "40")]
    assert exempt["repeats its own code"] == 4


def test_a_comment_may_name_a_text_of_its_code(sound: Tiny) -> None:
    sound.have(
        'name = "37 layers"\n# "37 layers" is it, and not "38 layers"\n', {"name": "37 layers"}, "residual/names"
    )
    assert judged(sound, "# Title\n")[0] == [(2, "38")]


def test_a_percentage_may_repeat_digits_that_were_printed_without_the_sign(sound: Tiny) -> None:
    sound.have("share = 0.965\n", {"share": 0.965}, output="96.5\n")
    assert judged(sound, f"# Title\n\n{EMBEDDED}\n\nIt is 96.5%, not 97.5%.\n")[0] == [(5, "97.5")]


def test_the_first_line_of_a_snippet_counts_though_it_is_empty(sound: Tiny) -> None:
    sound.have("\n# 38 of them\nx = 1\n", {"x": 1}, "residual/empty_line")
    assert judged(sound, "# Title\n")[0] == [(2, "38")]


def test_a_page_may_begin_with_a_link(sound: Tiny) -> None:
    assert judged(sound, f"[1e-5]({DEFINED}) and 37.\n\n# Title\n")[0] == [(1, "37")]


def test_code_and_formulas_within_a_link_are_judged_once(sound: Tiny) -> None:
    left, exempt = judged(sound, f"# Title\n\n[`1e-5`]({DEFINED}) and [$1e-6$]({DEFINED})\n")
    assert left == []
    assert exempt == {}


def test_a_condition_at_the_beginning_of_a_line_is_told_with_that_line(sound: Tiny) -> None:
    assert judged(sound, f"# Title\n\nIt grows\n[39 times]({CONDITION})\n")[0] == [(4, "39")]


def test_a_block_ends_before_its_closing_fence(sound: Tiny) -> None:
    assert judged(sound, "# Title\n\n```text\nloss\n```\n37 and\n38\n")[0] == [(6, "37"), (7, "38")]


def test_a_word_in_a_formula_is_told_with_its_line(sound: Tiny) -> None:
    assert judged(sound, "# Title\n\nText.\n\n$$\nx \\text{ at every block}\n$$\n")[0] == [(6, "every")]


def test_items_of_a_list_are_counted_one_by_one(sound: Tiny) -> None:
    assert judged(sound, "# Title\n\n1. norm\n2. sum\n3. norm\n")[1] == {"list": 3}


def test_words_of_the_article_are_quoted_and_no_others(sound: Tiny) -> None:
    sound.page("# Title\n\n<q>about 37\n  layers</q>\n\n<q>about 38</q>\n39\n")
    _, _, found = check.load(sound.project)
    found.quotable.add("about 37 layers")
    left, exempt = bare.unbound(found, {}, {})
    assert [(one.line, one.text) for one in left] == [(6, "38"), (7, "39")]
    assert exempt["quoted from the article"] == 1
