"""Wherever a reader meets a number or a quantity word that nothing bears out, the checker lists it, with its line."""

from __future__ import annotations

import pytest

from conftest import UP, Tiny

SHARE = f"[0.881]({UP}/residual/share.py#share)"
EMBEDDED = f"[share.py]({UP}/residual/share.py)"


@pytest.fixture
def sound(tiny: Tiny) -> Tiny:
    tiny.have("share = 0.881\nd_model = 64\n", {"share": 0.881, "d_model": 64}, output="0.881 of 12\n")
    return tiny


def listed(sound: Tiny, text: str) -> list[str]:
    """What is listed in `text`, which must stand where it is reported."""
    sound.page(f"# Title\n\n{text}\n")
    found = sound.unbound()
    lines = f"# Title\n\n{text}".split("\n")
    for line, one in found:
        assert one.split("\n")[0] in lines[line - 1], (line, one)
    return [one for _, one in found]


# --- every class of place --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It grows by 0.37 here.", ["0.37"]),
        ("Over\nseveral\nlines 0.37.", ["0.37"]),
        ("## It grows by 0.37 {#grows-by-0.37}", ["0.37"]),
        ("## 96 layers are enough", ["96"]),
        ("### 1.5 times larger", ["1.5"]),
        (f"![It grows by 0.37.]({UP}/residual/share/share.svg)", ["0.37"]),
        (f'![It grows.]({UP}/residual/share/share.svg "Over 37 seeds.")', ["37"]),
        (f'![It grows.]({UP}/residual/share/share.svg "Over \\"37\\" seeds.")', ["37"]),
        (f'![It grows.]({UP}/residual/share/share.svg "With `x`, over 37 seeds.")', ["37"]),
        (f'![It grows.]({UP}/residual/share/share.svg "With $x$, over $37$ seeds.")', ["37"]),
        (f'[Shares over 37 seeds.]({UP}/residual/share/share.csv "table")', ["37"]),
        ("| depth | norm |\n|---|---|\n| 37 | 0.5 |", ["37", "0.5"]),
        ("$$\nx = 0.37 y\n$$", ["0.37"]),
        (r"In a formula, $\frac{1}{2} x - 0.37$.", ["0.37"]),
        ("In a formula, $x-0.37y$ and $y-37$.", ["0.37", "37"]),
        (r"In a formula, $3 \times 10^{-4}$ and $10^{-5}$.", [r"3 \times 10^{-4}", "10^{-5}"]),
        (r"In a formula, $x \text{ at every block}$.", ["every"]),
        ("In code, `lr=0.37` and `x-37`.", ["0.37", "37"]),
        ("- item 37\n- [ ] 38", ["37", "38"]),
        ("> quoted 37", ["37"]),
        ('!!! note "After 37 layers"\n    Text.', ["37"]),
        ('??? info "Twice as large"\n    Text.', ["Twice"]),
        ("!!! note\n    After 37 layers.", ["37"]),
        ("<details><summary>After 37 layers</summary>\n\n38\n\n</details>", ["37", "38"]),
        ('<img src="a37.svg" alt="It grows 38 times">', ["38"]),
        ("<abbr title='38 times'>x</abbr>", ["38"]),
        ('Text.{ .note title="38 times" }', ["38"]),
        ("[after 37 layers](https://example.org/38)", ["37"]),
        ('[after](https://example.org/38 "37 layers")', ["37"]),
        ("[at 37 layers][ref] and [38][]", ["37", "38"]),
        ("10<sup>-37</sup>", ["10", "-37"]),
        ("_37_, __38__, **39**, *40*, ~~41~~", ["37", "38", "39", "40", "41"]),
        ("it is \\37", ["37"]),
        ("```text\nloss 0.37\n```", ["0.37"]),
        ("```console\n$ train --lr 0.37\n```", ["0.37"]),
        ("~~~\n0.37\n~~~", ["0.37"]),
        ("```mermaid\ngraph TD\n a[37 layers] --> b\n```", ["37"]),
        ("```pycon\n>>> share\n0.37\n```", ["0.37"]),
        ('```markdown\nIt is [0.37](x.py#y "±0.02") of 38.\n```', ["0.37", "38"]),
        ("```python\nx = 3.7  # about 37 of them\n```", ["37"]),
        ("<!-- illustration: -->\n```text\nabout 37\n```", ["37"]),
        ("Words: a condition [in 37 cases](x.md)", ["37"]),
        ("It is 50% of 0.5 %", ["50", "0.5"]),
        ("A share `[0.5](x)` of $5.", ["0.5", "5"]),
        ("a <37 b and c> 38", ["37", "38"]),
        ("５ apples", ["５"]),
        ("It is\n64. Then it ends.", ["64"]),
        ("0.2016 and 1.1987", ["0.2016", "1.1987"]),
        ("1. One\n2. Two\n7. Seven", ["7"]),
    ],
)
def test_a_numeral_is_listed_wherever_it_stands(sound: Tiny, text: str, expected: list[str]) -> None:
    assert sorted(listed(sound, text)) == sorted(expected)


def test_front_matter_is_read_by_people(sound: Tiny) -> None:
    sound.page("---\ntitle: Grows 37 times\norder: 38\ndescription: Twice as large\n---\n# Title\n\nText.\n")
    assert sound.unbound() == [(2, "37"), (4, "Twice")]


def test_comments_of_snippets_are_read_by_people(sound: Tiny) -> None:
    source = (
        "# 37 layers\n# limits: 99 s, 4 GB\nshare = 0.881  # 0.881 of 12 and 0.37\ntext = '#38'  # every block\n"
        'long = """\n# 39\n\\""" # 40\n"""; n = 5  # type: 41\nx = 1_000  # 88.1% of 1000 is 0.881\n# 1024 tokens\n'
    )
    sound.have(source, {"share": 0.881}, output="0.881 of 12\n")
    sound.page("# Title\n")
    assert sorted(sound.unbound()) == [(1, "37"), (3, "0.37"), (4, "every"), (10, "1024")]


@pytest.mark.parametrize(
    "text",
    [
        "half of it",
        "it is halved",
        "halving it",
        "Twice the norm",
        "thrice",
        "it doubles",
        "doubling",
        "tripled",
        "quadruples",
        "a quarter of it",
        "tenfold",
        "a ten-fold rise",
        "a tenfold rise",
        "three times as large",
        "three\ntimes",
        "ten percent",
        "fifty per cent",
        "two-thirds of it",
        "two thirds",
        "one third",
        "a third of it",
        "a tenth as large",
        "one in ten",
        "nine out of ten",
        "one in a thousand",
        "an order of magnitude",
        "two orders of magnitude",
        "twelve layers",
        "ninety-six layers",
        "a dozen",
        "a hundred blocks",
        "thousands of blocks",
        "it never grows",
        "always",
        "at every depth",
        "none of them",
        "the first block",
        "½ of it",
        "1½ of it",
        "⅔ of it",
        "③",
        "&frac12; of it",
        "&#51; of it",
        "<p>never</p>",
    ],
)
def test_a_quantity_word_is_listed(sound: Tiny, text: str) -> None:
    assert listed(sound, f"Before, {text}, after.")


# --- what a link vouches for, and what it does not -------------------------------------------------------------------


def test_a_bound_number_vouches_for_its_equals_on_the_page_only(sound: Tiny) -> None:
    sound.page("# Title\n\n0.881 again.\n", "docs/residual/other.md")
    assert listed(sound, f"{SHARE}, again 0.881, `0.881`, $0.881$ and 88.1%, but 0.8810001 and −0.881.") == [
        "0.881",  # of the other page
        "0.8810001",
        "−0.881",
    ]


def test_a_percentage_is_not_its_digits(sound: Tiny) -> None:
    sound.have("n = 50\np = 0.25\n", {"n": 50, "p": 0.25}, "residual/n")
    bound = f"[50]({UP}/residual/n.py#n) and [25%]({UP}/residual/n.py#p)"
    assert listed(sound, f"{bound}, again 50, 25% and 0.25, but 50% and 25.") == ["50", "25"]


def test_a_condition_vouches_for_its_words_and_for_no_digits(sound: Tiny) -> None:
    sound.have("grows = True\n", {"grows": True}, "residual/grows")
    condition = f"[at every one of 37 depths]({UP}/residual/grows.py#grows)"
    assert listed(sound, f"{condition}, and 37.") == ["37", "37"]


def test_a_definition_vouches_for_its_text(sound: Tiny) -> None:
    assert listed(sound, '[1e-5](https://arxiv.org "definition: the manual"), so 1e-5 and 0.00001, not 1e-6.') == [
        "1e-6"
    ]


def test_a_misspelt_or_unknown_target_vouches_for_nothing(sound: Tiny) -> None:
    for target in (
        "../../snipets/residual/share.py#share",
        f"{UP}/residual/shar.py#share",
        f"{UP}/residual/share.py#x",
    ):
        sound.page(f"# Title\n\n[0.37]({target}) and 0.37\n")
        assert (3, "0.37") in sound.unbound()


def test_printed_by_a_snippet_counts_where_it_is_embedded(sound: Tiny) -> None:
    assert listed(sound, "It printed 0.881 and 12.") == ["0.881", "12"]
    assert listed(sound, f"{EMBEDDED}\n\nIt printed 0.881 and 12, `12`, not 13.") == ["13"]


def test_one_printed_digit_is_no_evidence_in_prose(sound: Tiny) -> None:
    sound.have("share = 0.881\n", {"share": 0.881}, output="7\n")
    assert listed(sound, f"{EMBEDDED}\n\nIt printed 7, `7`.") == ["7"]


def test_a_setting_may_be_repeated_in_code_only(sound: Tiny) -> None:
    assert listed(sound, f"{EMBEDDED}\n\nWith `d_model=64` and a width of 64.") == ["64"]
    assert listed(sound, "With `d_model=64`.") == ["64"]


def test_structure_counts_in_formulas_and_code_only(sound: Tiny) -> None:
    text = r"$1 + \frac{1}{2}x^2 - 2y_{12}$, $x^{37}$, $x_{37}$ and `x[0] ** 2`, but 1 and 2 and $3x$."
    assert listed(sound, text) == ["1", "2", "3"]


def test_what_a_snippet_prints_counts_only_where_it_is_shown(sound: Tiny) -> None:
    assert listed(sound, f"{EMBEDDED}\n\nIt is {SHARE} of 12.") == []
    assert listed(sound, f"It is {SHARE} of 12.") == ["12"]


def test_how_many_seeds_there_are_may_be_said_where_it_is_checked(sound: Tiny) -> None:
    sound.record({"share": 0.881, "seeds": list(range(37))})
    code = f"{UP}/residual/share.py#share"
    assert listed(sound, f'It is [0.881]({code} "n=37 ±0.002") over 37 seeds, not 36.') == ["36"]


def test_items_of_a_list_are_numbered_from_the_beginning_and_without_a_gap(sound: Tiny) -> None:
    assert listed(sound, "1. norm\n2. sum\n3. norm") == []
    assert listed(sound, "1. norm\n3. sum") == ["3"]
    assert listed(sound, "7. norm\n8. sum") == ["7", "8"]
