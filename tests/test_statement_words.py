"""Each number word has its value, by a list of its own, and what must be equal has no tolerance."""

from __future__ import annotations

import pytest

from evidence.statement import PARTS, SCALES, WORDS, judge, number

COUNTS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
VALUES = {
    **{word: value for value, word in enumerate(COUNTS)},
    "once": 1,
    "twice": 2,
    "double": 2,
    "doubles": 2,
    "doubled": 2,
    "triple": 3,
    "half": 0.5,
    "halves": 0.5,
    "halved": 0.5,
    "third": 1 / 3,
    "quarter": 0.25,
    "fifth": 0.2,
    "tenth": 0.1,
    "hundredth": 0.01,
    "hundred": 100,
    "thousand": 1000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
}


@pytest.mark.parametrize("word", VALUES)
def test_a_word_has_its_value(word: str) -> None:
    assert number(word).value == VALUES[word]


def test_no_word_is_without_a_value_here() -> None:
    assert set(VALUES) == {*WORDS, *PARTS, *SCALES}


@pytest.mark.parametrize(("text", "name"), [("grows", "grows"), ("LayerNorm", "kind"), ("3", "count")])
def test_what_must_be_equal_has_no_tolerance(text: str, name: str) -> None:
    verdict = judge(text, None, name, {"grows": True, "kind": "LayerNorm", "count": 3})
    assert (verdict.tolerance, verdict.used) == (0, 0)


@pytest.mark.parametrize(("text", "whole"), [("10^0", True), ("10^3", True), ("10^-3", False), ("2^10", True)])
def test_a_power_is_whole_unless_it_is_a_part(text: str, whole: bool) -> None:
    assert number(text).whole is whole
