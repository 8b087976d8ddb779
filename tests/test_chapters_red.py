"""A tiny project passes whole, and turns red wherever one place of the chain from snippet to sentence is corrupted."""

from __future__ import annotations

import pytest

import blocks
from conftest import UP, Tiny

SOURCE = """# Ten draws of one
seeds = range(10)
share = sum(0.0881 for seed in seeds)
grows = share > 0.5
print(f"{share:.3f}")
"""
TEXT = f"""# A page {{#page}}

The share is [0.881]({UP}/residual/share.py#share), and it [grows]({UP}/residual/share.py#grows).

[share.py]({UP}/residual/share.py)

```python
left = [1]
right = left
assert right is left
```
"""
VALUES = {"seeds": list(range(10)), "share": 0.881, "grows": True}


@pytest.fixture
def sound(tiny: Tiny) -> Tiny:
    tiny.have(SOURCE, VALUES, output="0.881\n")
    tiny.page(TEXT)
    return tiny


def test_a_sound_project_passes(sound: Tiny) -> None:
    assert blocks.everything(sound.project) == []


def test_a_corrupted_snippet_is_red_whether_or_not_its_record_knows(sound: Tiny) -> None:
    sound.snippet(SOURCE.replace("0.0881", "0.0918"))
    told = "\n".join(blocks.everything(sound.project))
    assert "was changed after its record" in told
    assert "share: 0.881 → 0.918" in told
    assert "docs/residual/path.md:3 states 0.881; share is 0.918" in told
    sound.record(VALUES, output="0.881\n")  # signed anew: the record claims to be of the corrupted source
    told = "\n".join(blocks.everything(sound.project))
    assert "another source" not in told
    assert "share: 0.881 → 0.918" in told
    assert "docs/residual/path.md:3 states 0.881; share is 0.918" in told


def test_a_corrupted_record_is_red_even_if_signed(sound: Tiny) -> None:
    sound.record({**VALUES, "share": 0.894}, output="0.881\n")
    told = "\n".join(blocks.everything(sound.project))
    assert "states 0.881, measured 0.894" in told
    assert "share: 0.894 → 0.881" in told
    sound.record(VALUES, output="0.894\n")
    assert blocks.everything(sound.project) == ["snippets/residual/share.py: output.txt differs"]


def test_a_corrupted_record_that_agrees_with_the_prose_is_red(sound: Tiny) -> None:
    sound.page(TEXT.replace("0.881", "0.894"))
    sound.record({**VALUES, "share": 0.894}, output="0.881\n")
    told = blocks.everything(sound.project)
    assert "snippets/residual/share.py: share: 0.894 → 0.881" in told
    assert any("docs/residual/path.md:3 states 0.894; share is 0.88" in line for line in told)


def test_a_changed_digit_is_red(sound: Tiny) -> None:
    sound.page(TEXT.replace("0.881", "0.883"))
    told = "\n".join(blocks.everything(sound.project))
    assert "docs/residual/path.md:3: states 0.883, measured 0.881 (tolerance 0.0005" in told
    assert "docs/residual/path.md:3 states 0.883; share is 0.88" in told


def test_a_condition_that_turns_false_is_red(sound: Tiny) -> None:
    sound.snippet(SOURCE.replace("share > 0.5", "share > 0.9"))
    assert any(line.endswith("docs/residual/path.md:3 states: grows") for line in blocks.everything(sound.project))


def test_a_failing_fence_is_named_by_page_and_line(sound: Tiny) -> None:
    sound.page(TEXT.replace("right is left", "right == []"))
    (told,) = blocks.everything(sound.project)
    assert told.startswith("docs/residual/path.md:8: ")
    assert 'path.md", line 10' in told


def test_a_variable_that_a_run_no_longer_has_is_red(sound: Tiny) -> None:
    sound.snippet(SOURCE.replace("share", "_share"))
    sound.record(VALUES, output="0.881\n")
    told = "\n".join(blocks.everything(sound.project))
    assert "share is gone" in told
    assert "NameError: name 'share' is not defined" in told


def test_a_block_that_is_not_collected_is_red(sound: Tiny) -> None:
    state = blocks.read(sound.project)
    assert blocks.uncollected(state, blocks.extracted(state)[:-1]) == [
        "docs/residual/path.md: 1 blocks collected, not those 2 it holds"
    ]
