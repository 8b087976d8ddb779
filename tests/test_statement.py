"""A stated number holds exactly when its digits, band or condition do, and what could not be refuted is malformed."""

from __future__ import annotations

import math
from typing import Any

import pytest

from evidence.statement import Malformed, Number, Verdict, judge, lookup, number, numerals

VALUES: dict[str, Any] = {
    "share": 0.881,
    "count": 96,
    "drop": -0.25,
    "eps": 1e-5,
    "tiny": 3e-8,
    "nothing": 0.0,
    "ratio": 2.1,
    "seeds": list(range(200)),
    "grows": True,
    "shrinks": False,
    "activation": "gelu",
    "broken": math.nan,
    "endless": math.inf,
    "norms": [1.5, 2.5, 3.5],
    "gain": {"pre": 1.25, "post": {"mean": 0.5}},
    "by_depth": {2: 0.3, 0.5: 0.7, -1: 0.9},
}


def verdict(text: str, title: str | None = None, fragment: str = "share") -> Verdict:
    return judge(text, title, fragment, VALUES)


# --- reading a number ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "unit", "whole"),
    [
        ("0.881", 0.881, 0.001, False),
        ("0.880", 0.88, 0.001, False),
        (".5", 0.5, 0.1, False),
        ("96", 96, 1, True),
        ("+96 layers", 96, 1, True),
        ("1,000", 1000, 1, True),
        ("1,234,567.5", 1234567.5, 0.1, False),
        ("1_000", 1000, 1, True),
        ("-0.25", -0.25, 0.01, False),
        ("−0.25", -0.25, 0.01, False),  # U+2212, the typographic minus
        ("12%", 0.12, 0.01, False),
        ("12.5 %", 0.125, 0.001, False),
        ("12 percent", 0.12, 0.01, False),
        ("3 percentage points", 0.03, 0.01, False),
        (r"50\%", 0.5, 0.01, False),
        ("1e-5", 1e-5, 1e-5, False),
        ("1.5e−5", 1.5e-5, 1e-6, False),
        ("3 × 10⁻⁴", 3e-4, 1e-4, False),
        ("3·10^-4", 3e-4, 1e-4, False),
        (r"$3 \times 10^{-4}$", 3e-4, 1e-4, False),
        ("10⁻⁵", 1e-5, 1e-5, False),
        ("10^{6}", 1e6, 1e6, True),
        ("2^-24", 2**-24, 2**-24 / 1000, False),
        ("2¹⁰", 1024, 1.024, True),
        ("**0.881**", 0.881, 0.001, False),
        ("_0.881_", 0.881, 0.001, False),
        ("rank-8 update", 8, 1, True),
        ("a 3-layer stack", 3, 1, True),
        ("GPT-2 with 12 layers", 12, 1, True),
        ("fp16 gives 0.5", 0.5, 0.1, False),
        ("twice", 2, 1, True),
        ("doubles", 2, 1, True),
        ("three times", 3, 1, True),
        ("tenfold", 10, 1, True),
        ("a hundred times", 100, 100, True),
        ("five percent", 0.05, 0.01, False),
        ("half", 0.5, 0.05, False),
        ("Halved", 0.5, 0.05, False),
        ("two thirds", 2 / 3, 0.05, False),
        ("a quarter", 0.25, 0.05, False),
    ],
)
def test_number(text: str, value: float, unit: float, whole: bool) -> None:
    read = number(text)
    assert (read.value, read.unit) == pytest.approx((value, unit), rel=1e-12)
    assert read.whole is whole


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the share",
        "GPT-2",
        "fp16",
        "x_1",
        "2.13.0",
        "0.5 to 0.7",
        "0.5±0.1",
        "1/2",
        "one in ten",
        "half a million",
        "1½",
        "0.5²",
        "10⁻",
        "2^k 3",
        "3^2",
    ],
)
def test_not_one_number(text: str) -> None:
    with pytest.raises(Malformed):
        number(text)


@pytest.mark.parametrize("text", ["– 0.25", "–0.25", "- 0.25", "‐0.25", "minus 0.25", "by minus 0.25", "negative 0.25"])
def test_a_minus_that_could_be_overlooked_is_malformed(text: str) -> None:
    with pytest.raises(Malformed, match="negative"):
        number(text)


@pytest.mark.parametrize("text", ["1e400", "1e-400", "10^999999999", "1e99999999999999999999", "3 × 10^88888888"])
def test_a_number_beyond_floats_is_malformed(text: str) -> None:
    with pytest.raises(Malformed, match="beyond any number"):
        number(text)


def test_a_range_is_two_positive_numerals() -> None:
    assert [match[0] for match in numerals("0.8-0.9, 3×10⁻⁴, 10⁻⁵")] == ["0.8", "0.9", "3×10⁻⁴", "10⁻⁵"]


# --- looking a value up ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fragment", "value", "expression"),
    [
        ("share", 0.881, "share"),
        ("norms/0", 1.5, "norms[0]"),
        ("norms/-1", 3.5, "norms[-1]"),
        ("gain/pre", 1.25, "gain['pre']"),
        ("gain/post/mean", 0.5, "gain['post']['mean']"),
        ("by_depth/2", 0.3, "by_depth[2]"),
        ("by_depth/0.5", 0.7, "by_depth[0.5]"),
        ("by_depth/-1", 0.9, "by_depth[-1]"),
    ],
)
def test_lookup(fragment: str, value: float, expression: str) -> None:
    assert lookup(VALUES, fragment) == (value, expression)
    assert eval(expression, dict(VALUES)) == value


def test_lookup_reads_what_an_address_must_escape() -> None:
    assert lookup({"Pre LN (ours)/b": {"En-De": 26.6}}, "Pre%20LN%20%28ours%29%2Fb/En-De")[0] == 26.6


@pytest.mark.parametrize(
    ("fragment", "message"),
    [
        ("shar", "no recorded variable 'shar'; did you mean share"),
        ("zzz", "it has: activation, broken, by_depth"),
        ("", "no recorded variable ''"),
        ("norms/3", "norms has no entry '3'"),
        ("norms/a", "norms has no entry 'a'"),
        ("norms[0]", "no recorded variable 'norms\\[0\\]'"),
        ("gain/middle", "gain has no entry 'middle'"),
        ("share/0", "share has no entry '0'"),
        ("gain/pre/0", r"gain\['pre'\] has no entry '0'"),
    ],
)
def test_unknown_variable(fragment: str, message: str) -> None:
    with pytest.raises(Malformed, match=message):
        lookup(VALUES, fragment)


# --- every kind, holding and not -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "title", "fragment", "kind", "holds"),
    [
        ("0.881", None, "share", "rounded", True),
        ("0.88", None, "share", "rounded", True),
        ("0.8810", None, "share", "rounded", True),
        ("88.1%", None, "share", "rounded", True),
        ("0.882", None, "share", "rounded", False),
        ("0.8811", None, "share", "rounded", False),
        ("0.87", None, "share", "rounded", False),
        ("0.881%", None, "share", "rounded", False),
        ("88.1", None, "share", "rounded", False),
        ("-0.881", None, "share", "rounded", False),
        ("−0.25", None, "drop", "rounded", True),
        ("0.25", None, "drop", "rounded", False),
        ("96", None, "count", "exact", True),
        ("97", None, "count", "exact", False),
        ("96.0", None, "count", "rounded", True),
        ("1e-5", None, "eps", "rounded", True),
        ("10⁻⁵", None, "eps", "rounded", True),
        ("10⁻⁴", None, "eps", "rounded", False),
        ("0", None, "nothing", "exact", True),
        ("0", None, "norms/0", "exact", False),
        ("zero", None, "tiny", "exact", False),
        ("0.00", None, "tiny", "rounded", True),
        ("0.88", "±0.002", "share", "rounded", True),
        ("0.88", "± 0.0005", "share", "rounded", False),
        ("0.88", "±2%", "share", "rounded", True),
        ("0.9", "± 2 %", "share", "rounded", False),
        ("0.87", "0.85 to 0.89", "share", "rounded", True),
        ("0.89", "0.885 to 0.9", "share", "rounded", False),
        ("88%", "86% to 90%", "share", "rounded", True),
        ("0.88", "n=200 ±0.01", "share", "statistical", True),
        ("0.88", "n = 200, ±0.01", "share", "statistical", True),
        ("0.86", "n=200 ±0.01", "share", "statistical", False),
        ("0.87", "n=200 0.85 to 0.89", "share", "statistical", True),
        ("2", "ratio 1.5 to 2.5", "ratio", "ratio", True),
        ("twice", "ratio 1.5 to 2.5", "ratio", "ratio", True),
        ("3", "ratio 2.5 to 4", "ratio", "ratio", False),
        ("96", "setting", "count", "setting", True),
        ("0.00001", "setting", "eps", "setting", True),
        ("0.00002", "setting", "eps", "setting", False),
        ("0.88", "setting", "share", "setting", False),
        ("every time", None, "grows", "condition", True),
        ("every time", None, "shrinks", "condition", False),
        ("`gelu`", None, "activation", "exact", True),
        ("relu", None, "activation", "exact", False),
        ("half", None, "gain/post/mean", "rounded", True),
        ("half", None, "share", "rounded", False),
    ],
)
def test_judge(text: str, title: str | None, fragment: str, kind: str, holds: bool) -> None:
    said = verdict(text, title, fragment)
    assert (said.kind, said.holds) == (kind, holds)
    assert eval(said.assertion, dict(VALUES)) is holds
    assert (said.used is not None and said.used <= 1) is holds


def test_a_cited_cell_is_equal_not_near() -> None:
    assert judge("26.6", None, "LN/bleu", {"LN": {"bleu": 26.6}}, cited=True).kind == "cited"
    assert judge("26.60", None, "LN/bleu", {"LN": {"bleu": 26.6}}, cited=True).holds
    assert not judge("27", None, "LN/bleu", {"LN": {"bleu": 26.6}}, cited=True).holds
    assert judge("26.6%", None, "LN/share", {"LN": {"share": "26.6%"}}, cited=True).holds


def test_the_digits_as_written_are_the_tolerance() -> None:
    for measured, holds in [(0.88051, True), (0.88149, True), (0.88049, False), (0.88151, False)]:
        said = judge("0.881", None, "x", {"x": measured})
        assert said.holds is holds
        assert said.tolerance == 0.0005
        assert said.assertion == "abs(x - 0.881) <= 0.0005"


def test_used_is_the_share_of_the_tolerance() -> None:
    assert verdict("0.88", "±0.002").used == pytest.approx(0.5)
    assert verdict("0.883", "0.88 to 0.893").used == pytest.approx(2 / 3)  # towards the nearer end
    assert judge("0.881", None, "x", {"x": 0.8825}).used == pytest.approx(3)
    assert verdict("relu", None, "activation").used == math.inf


def test_a_text_may_be_wrapped() -> None:
    assert judge("two\nwords", None, "x", {"x": "two words"}).holds


def test_number_is_plain_data() -> None:
    assert number("1.50") == Number(1.5, 0.01, False)
