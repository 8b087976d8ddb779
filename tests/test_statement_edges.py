"""Where a statement begins to be refused: the value on each side of each limit, and the share of a tolerance used."""

from __future__ import annotations

import pytest

from evidence.statement import Malformed, Verdict, judge, lookup, number


def of(value: float, text: str, title: str | None = None, **others: object) -> Verdict:
    return judge(text, title, "x", {"x": value, **others})


def refused(value: float, text: str, title: str | None = None, **others: object) -> str:
    with pytest.raises(Malformed) as caught:
        of(value, text, title, **others)
    return str(caught.value)


def test_a_single_seed_is_refused_but_for_settings() -> None:
    assert "a single seed" in refused(0.5, "0.5", seeds=[0])
    assert "a single seed" in refused(0.5, "0.5", "n=1 ±0.01", seeds=[0])
    assert of(0.5, "0.5", "setting", seeds=[0]).holds
    assert of(0.5, "0.5", "setting ", seeds=[0]).holds
    assert of(0.5, "0.5", seeds=[0, 1]).holds
    assert of(0.5, "0.5", "n=2 ±0.01", seeds=[0, 1]).holds


@pytest.mark.parametrize(
    ("value", "title", "tolerance", "used"),
    [
        (0.5, "0.46 to 0.53", 0.03, 0),
        (0.515, "0.46 to 0.53", 0.03, 0.5),  # each side of an uneven band has its own share
        (0.49, "0.46 to 0.53", 0.04, 0.25),
        (0.511, "±0.01", 0.01, 1.1),
        (0.505, "±2%", 0.01, 0.5),
    ],
)
def test_the_share_of_a_tolerance(value: float, title: str, tolerance: float, used: float) -> None:
    found = of(value, "0.50", title)
    assert found.tolerance == pytest.approx(tolerance)
    assert found.used == pytest.approx(used)
    assert found.holds is (used <= 1)


def test_how_wide_a_band_may_be() -> None:
    assert of(0.5, "0.50", "±0.049").holds
    assert "another leading digit" in refused(0.5, "0.50", "±0.05")
    for title in ("0.44 to 0.51", "0.49 to 0.56"):
        assert "another leading digit" in refused(0.5, "0.50", title)
    assert of(1.0, "1.0", "ratio 0.8 to 2").holds
    assert "says nothing about a ratio" in refused(1.0, "1.0", "ratio 0.8 to 2.1")


def test_a_percentage_of_a_number_near_zero() -> None:
    assert of(1e-6, "0.000001", "±2%").holds
    assert "means nothing" in refused(9e-7, "0.0000009", "±2%")


@pytest.mark.parametrize("text", ["5k", "3M", "1.5G", "2K"])
def test_a_letter_that_scales_is_refused(text: str) -> None:
    with pytest.raises(Malformed, match="beside the digits"):
        number(text)


def test_a_condition_states_that_it_is_true() -> None:
    for value in (True, False):
        found = judge("always", None, "x", {"x": value})
        assert (found.stated, found.measured, found.holds) == (True, value, value)


def test_three_near_names_are_told() -> None:
    known = {f"share_{letter}": 1 for letter in "abcd"}
    with pytest.raises(Malformed) as caught:
        lookup(known, "share")
    assert str(caught.value).count(" or ") == 2
