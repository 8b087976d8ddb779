"""Each known trap of pytest-codeblocks and of the link form is real, and turns this suite red or does not touch it."""

from __future__ import annotations

import contextlib
from io import StringIO
from typing import Any

import markdown
import pytest
from pytest_codeblocks.main import CodeBlock, extract_from_buffer

import blocks
from conftest import PAGE, UP, Tiny
from evidence.run import Job, Runner

CODE = f"{UP}/residual/share.py"
BROKEN = "raise ValueError('it was run')"


def stock(page: str) -> list[CodeBlock]:
    """The blocks that pytest-codeblocks would run on the page itself."""
    return [block for block in extract_from_buffer(StringIO(page)) if block.syntax in {"python", "sh", "bash"}]


def stock_run(page: str) -> list[str]:
    """What stock pytest-codeblocks reports, block by block, in one process as it does."""
    told = []
    for block in stock(page):
        if "pytest.mark.skip" in block.marks:
            continue
        try:
            with contextlib.redirect_stdout(StringIO()) as out:
                exec(block.code, {"__MODULE__": "__main__"})
        except Exception as error:
            told.append(str(error))
        if block.expected_output is not None and block.expected_output != out.getvalue():
            told.append("other output")
    return told


def ours(tiny: Tiny, page: str) -> str:
    """All that this suite reports on a project of this one page."""
    tiny.page(page)
    return "\n".join(blocks.everything(tiny.project))


# --- blocks that are never run ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "opening",
    [
        "```py",
        "```Python",
        '```python title="a.py"',
        "``` {.python .annotate}",
        "```{.python}",
        "```pycon",
        "~~~python",
    ],
)
def test_info_strings_that_are_skipped_without_a_word(tiny: Tiny, opening: str) -> None:
    page = f"# Title\n\n{opening}\n{BROKEN}\n{opening[:3]}\n"
    assert stock(page) == []
    assert f"{PAGE}:3: pytest-codeblocks would skip this Python block" in ours(tiny, page)


def test_a_space_before_the_language_is_skipped_and_ours_runs_it(tiny: Tiny) -> None:
    page = f"# Title\n\n``` python\n{BROKEN}\n```\n"
    assert stock(page) == []
    assert "it was run" in ours(tiny, page)


def test_a_fence_in_a_quotation_is_skipped_and_ours_runs_it(tiny: Tiny) -> None:
    page = f"# Title\n\n> ```python\n> {BROKEN}\n> ```\n"
    assert stock(page) == []
    assert "it was run" in ours(tiny, page)


def test_cont_after_an_uncollected_block_swallows_the_next(tiny: Tiny) -> None:
    page = f"# Title\n\n```py\nx = a\n```\n\n<!--pytest-codeblocks:cont-->\n```python\n{BROKEN}\n```\n"
    assert stock(page) == []
    told = ours(tiny, page)
    assert f"{PAGE}:3: pytest-codeblocks would skip" in told
    assert f"{PAGE}:7: <!--pytest: blocks are skipped, joined or left out by this" in told
    assert "it was run" not in told  # the block was swallowed here too, and that it was is told
    assert "0 blocks collected, not those 1 it holds" in told


@pytest.mark.parametrize("before", ["<!--pytest-codeblocks:skipfile-->\n", "# Title\n\n<!--pytest.mark.skip-->\n"])
def test_a_comment_that_skips(tiny: Tiny, before: str) -> None:
    page = f"{before}```python\n{BROKEN}\n```\n"
    assert stock_run(page) == []
    assert "blocks are skipped, joined or left out by this" in ours(tiny, page)


def test_an_include_is_not_expanded(tiny: Tiny) -> None:
    tiny.snippet(BROKEN)
    page = '# Title\n\n```python\nx = """\n--8<-- "snippets/residual/share.py"\n"""\n```\n'
    assert stock_run(page) == []
    assert f"{PAGE}:5: --8<--: blocks are skipped, joined or left out by this; link the snippet" in ours(tiny, page)


def test_a_block_lost_for_any_other_reason_is_missed_by_the_count(tiny: Tiny) -> None:
    tiny.page(f"# Title\n\n```python\n{BROKEN}\n```\n")
    state = blocks.read(tiny.project)
    assert blocks.uncollected(state, []) == [f"{PAGE}: 0 blocks collected, not those 1 it holds"]


# --- blocks that run otherwise than for a reader ---------------------------------------------------------------------


def test_a_main_guard_passes_vacuously(tiny: Tiny) -> None:
    page = f'# Title\n\n```python\nif __name__ == "__main__":\n    {BROKEN}\n```\n'
    assert stock_run(page) == []
    told = ours(tiny, page)
    assert f"{PAGE}:3: tests __name__" in told
    assert "it was run" in told


def test_state_leaks_from_block_to_block_and_not_in_ours(tiny: Tiny) -> None:
    leak = "import random, sys\nrandom.seed(5)\nsys.leaked = random.random()\n"
    check = "import random, sys\nassert not hasattr(sys, 'leaked')\nrandom.seed(5)\nassert random.random() < 1\n"
    page = f"# Title\n\n```python\n{leak}```\n\n```python\n{check}```\n"
    assert len(stock_run(page)) == 1
    del __import__("sys").leaked
    assert ours(tiny, page) == ""


def test_torch_starts_anew_in_every_block(tiny: Tiny) -> None:
    spoil = (
        "import torch\ntorch.manual_seed(5)\ntorch.set_default_dtype(torch.float64)\ntorch.set_grad_enabled(False)\n"
    )
    look = (
        "import torch\ndtype = str(torch.ones(1).dtype)\nseed, grad = torch.initial_seed(), torch.is_grad_enabled()\n"
    )
    scripts = [tiny.snippet(spoil, "residual/a"), tiny.snippet(look, "residual/b"), tiny.snippet(look, "residual/d")]
    seen: list[dict[str, Any]] = []
    for script in scripts:  # one after the other, in one server
        ended = Runner(tiny.project).run(Job(script))
        assert ended.record, ended.error
        seen.append(dict(ended.record.values))
    assert seen[1] == seen[2]
    assert (seen[1]["dtype"], seen[1]["grad"]) == ("torch.float32", True)
    assert seen[1]["seed"] != 5


def test_there_is_no_time_limit_but_in_ours(tiny: Tiny) -> None:
    tiny.have("# limits: 1 s\nwhile True:\n    pass\n", {}, output="")
    told = ours(tiny, f"# Title\n\n[share.py]({CODE})\n")
    assert "still running after 1 s and was stopped" in told


def test_output_is_compared_to_the_last_character_and_in_ours_within_tolerance(tiny: Tiny) -> None:
    page = (
        "# Title\n\n```python\nprint(0.88121)\n```\n\n<!--pytest-codeblocks:expected-output-->\n```text\n0.88122\n```\n"
    )
    assert stock_run(page) == ["other output"]
    assert "blocks are skipped, joined or left out by this" in ours(tiny, page)
    page = f"# Title\n\n[share.py]({CODE})\n"
    tiny.have("print(f'share {0.88121}')\n", {}, output="share 0.88122\n")
    assert ours(tiny, page) == ""
    for other in ("share 0.88322\n", "shore 0.88121\n", "share 0.88121\nmore\n", ""):
        tiny.record({}, output=other)
        assert ours(tiny, page) == "snippets/residual/share.py: output.txt differs"


def test_a_shell_block_is_run(tiny: Tiny) -> None:
    page = "# Title\n\n```bash\nexit 1\n```\n"
    assert len(stock(page)) == 1
    assert f"{PAGE}:3: pytest-codeblocks would run this in a shell" in ours(tiny, page)
    tiny.page(f"# Title\n\n<!-- illustration: an example -->\n{page[9:]}")
    state = blocks.read(tiny.project)
    assert state.found.problems == []
    assert blocks.extracted(state) == []
    resolved = (tiny.project.cache / "resolved" / "residual" / "path.md").read_text(encoding="utf-8")
    assert stock(resolved) == []


# --- links that do not say what they seem to -------------------------------------------------------------------------


def rendered(text: str) -> str:
    return markdown.markdown(text, extensions=["tables"])


def test_a_bar_in_a_cell_tears_the_link(tiny: Tiny) -> None:
    tiny.have("share = 0.881\n", {"share": 0.881})
    row = f'| a | b |\n|---|---|\n| [0.88]({CODE}#share "±0.005{{}} or so") | x |\n'
    torn, whole = row.format("|"), f"| a | b |\n|---|---|\n| [0.88]({CODE}#share) | x |\n"
    assert "<a" not in rendered(torn)
    assert "<a" in rendered(whole)
    tiny.page(torn)
    assert f"{PAGE}:3: a | inside a link breaks the table row; write \\|" in tiny.problems()
    tiny.page(whole)
    assert tiny.problems() == []


def test_an_angle_bracket_in_the_target_ends_it(tiny: Tiny) -> None:
    tiny.have("gain = {'a>b': 0.881}\n", {"gain": {"a>b": 0.881}})
    tiny.page(f"It is [0.881]({CODE}#gain/a>b).\n")
    assert tiny.problems() == [f"{PAGE}:1: a link that would not render: an unmatched ]("]
    assert (1, "0.881") in tiny.unbound()
    tiny.page(f"It is [0.881]({CODE}#gain/a%3Eb).\n")
    assert tiny.problems() == []
    assert tiny.unbound() == []


def test_brackets_in_the_fragment_name_nothing(tiny: Tiny) -> None:
    tiny.have("norms = [0.881]\n", {"norms": [0.881]})
    tiny.page(f"It is [0.881]({CODE}#norms[0]).\n")
    (told,) = tiny.problems()
    assert told.startswith(f"{PAGE}:1: [0.881]({CODE}#norms[0]): the snippet has no recorded variable 'norms[0]'")


@pytest.mark.parametrize("text", ["0.881", "at every depth", "where it grows"])
@pytest.mark.parametrize(
    "target",
    [
        "../../snipets/residual/share.py#share",
        "../snippets/residual/share.py#share",
        "../../snippets/residual/shar.py#share",
        "../../snippets/residual/share.py#shar",
        "../../snippets/residual/share.pyy#share",
        "share.py#share",
    ],
)
def test_a_misspelt_target_is_not_published_as_it_stands(tiny: Tiny, text: str, target: str) -> None:
    tiny.have("share = 0.881\n", {"share": 0.881})
    assert f'href="{target}"' in rendered(f"[{text}]({target})")
    tiny.page(f"# Title\n\nIt is [{text}]({target}).\n")
    (told,) = tiny.problems()
    assert told.startswith(f"{PAGE}:3: ")
