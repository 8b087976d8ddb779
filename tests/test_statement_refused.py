"""A title that says nothing refutable is refused, and page and assertion never disagree about what was measured."""

from __future__ import annotations

import contextlib
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.statement import Malformed, judge, number, numerals
from test_statement import VALUES, verdict

MEASURED = st.floats(1e-4, 9e5) | st.floats(-9e5, -1e-4)


@pytest.mark.parametrize(
    ("text", "title", "fragment", "message"),
    [
        ("0.88", "", "share", "malformed title ''"),
        ("0.88", "about", "share", "malformed title 'about'"),
        ("0.88", "+-0.01", "share", "malformed title"),
        ("0.88", "±", "share", "malformed title"),
        ("0.88", "±0.0.1", "share", "malformed title"),
        ("0.88", "±0.01 or so", "share", "malformed title"),
        ("0.88", "n=200", "share", "malformed title"),
        ("0.88", "n=many ±0.01", "share", "malformed title"),
        ("0.88", "ratio", "share", "malformed title"),
        ("0.88", "settings", "share", "malformed title"),
        ("0.88", "0.8 until 0.9", "share", "malformed title"),
        ("0.88", "low to high", "share", "states one number"),
        ("0.88", "±0", "share", "does not hold the stated"),
        ("0.88", "0.9 to 0.95", "share", "does not hold the stated"),
        ("0.88", "0.9 to 0.8", "share", "does not hold the stated"),
        ("0.88", "±0.05", "share", "another leading digit"),
        ("0.88", "±10%", "share", "another leading digit"),
        ("0.88", "0.8 to 0.93", "share", "another leading digit"),
        ("0.88", "±1e999", "share", "another leading digit"),
        ("0.88", "n=200 ±0.5", "share", "another leading digit"),
        ("−0.25", "±0.06", "drop", "another leading digit"),
        ("96", "±5", "count", "another leading digit"),
        ("0.0", "±0.2", "nothing", "wider than the digits of a stated zero"),
        ("0", "±2%", "nothing", "near zero"),
        ("3e-8", "±2%", "tiny", "near zero"),
        ("0.001", "±2%", "tiny", "near zero"),
        ("2", "ratio 1 to 3", "ratio", "by over 2.5 times"),
        ("2", "ratio -1 to 3", "ratio", "by over 2.5 times"),
        ("0.88", "n=100 ±0.01", "share", "the title says n=100, the snippet has 200"),
        ("nan", None, "broken", "broken is nan"),
        ("0.88", None, "broken", "broken is nan"),
        ("0.88", "±0.01", "endless", "endless is inf"),
        ("0.88", None, "norms", "norms is a list"),
        ("0.88", None, "gain", "gain is a dict"),
        ("0.88", None, "gone", "no recorded variable 'gone'"),
        *(
            (f"{word} 0.88", None, "share", "link the digits alone")
            for word in ("at most", "at least", "up to", "bounded by", "never", "less than")
        ),
        *(
            (f"0.88{unit}", None, "share", "link the digits alone")
            for unit in ("k", " k", " M", " T", " tenths", " thousandths", " orders of magnitude")
        ),
        ("it grows", None, "share", "states one number"),
        ("0.88 to 0.89", None, "share", "has 2; link each by itself"),
        ("at every depth", "±0.01", "grows", "a condition; it takes no title"),
        ("gelu", "setting", "activation", "a text; it takes no title"),
    ],
)
def test_refused(text: str, title: str | None, fragment: str, message: str) -> None:
    with pytest.raises(Malformed, match=message):
        verdict(text, title, fragment)


def test_seeds_are_a_list_of_more_than_one() -> None:
    with pytest.raises(Malformed, match="no list `seeds`"):
        judge("0.88", "n=200 ±0.01", "share", {"share": 0.88, "seeds": 200})
    with pytest.raises(Malformed, match="no list `seeds`"):
        judge("0.88", "n=200 ±0.01", "share", {"share": 0.88})
    with pytest.raises(Malformed, match="a single seed proves nothing"):
        judge("0.88", "n=1 ±0.01", "share", {"share": 0.88, "seeds": [0]})


@given(MEASURED, st.integers(0, 6), st.floats(-3, 3))
def test_the_assertion_says_what_the_page_says(measured: float, decimals: int, off: float) -> None:
    stated = measured + off * 10.0**-decimals
    said = judge(f"{stated:.{decimals}f}", None, "x", {"x": measured})
    assert eval(said.assertion, {"x": measured}) is said.holds
    assert (said.used is not None and said.used <= 1) is said.holds
    if abs(float(f"{stated:.{decimals}f}") - measured) > 0.51 * 10.0**-decimals:
        assert not said.holds


@given(MEASURED, st.floats(0.001, 0.045), st.floats(-2, 2), st.booleans())
def test_the_assertion_agrees_under_a_band(measured: float, share: float, off: float, two_ends: bool) -> None:
    stated = float(f"{measured * (1 + off * share):.6g}")
    band = abs(stated) * share
    title = f"{stated - band:.6f} to {stated + 0.9 * band:.6f}" if two_ends else f"±{band:.3g}"
    try:
        said = judge(f"{stated:.6f}", title, "x", {"x": measured})
    except Malformed:
        return  # so near a power of ten that the band reaches another leading digit, or too small for its decimals
    assert eval(said.assertion, {"x": measured}) is said.holds
    assert (said.used is not None and said.used <= 1) is said.holds


@given(st.integers(-999_999, 999_999).filter(bool), st.integers(0, 5), st.randoms())
def test_the_nearest_other_number_never_holds(digits: int, decimals: int, chance: random.Random) -> None:
    """Last digit off by two, another sign, a factor of ten, percent for fraction: all refuted, for any digits."""
    stated = digits / 10**decimals
    unit = 10.0**-decimals
    values = {"x": stated + chance.uniform(-0.49, 0.49) * unit}
    assert judge(f"{stated:.{decimals}f}", None, "x", values).holds
    others = [stated + 2 * unit, stated - 2 * unit, 10 * stated]
    others += [-stated] if abs(stated) > unit else []  # 1 and -1 may both round from 0.4: zero is between them
    for other in others:
        assert not judge(f"{other:.{decimals}f}", None, "x", values).holds
    assert not judge(f"{stated:.{decimals}f}%", None, "x", values).holds


@given(st.integers(-(10**9), 10**9), st.integers(-3, 3).filter(bool))
def test_a_count_is_exact(count: int, off: int) -> None:
    assert judge(f"{count:,}", None, "n", {"n": count}).holds
    assert not judge(str(count + off), None, "n", {"n": count}).holds


@given(st.text(alphabet="0123456789.,-−+%eE×^{}⁻²½ _xnto±\\ percnhalf", max_size=30))
def test_reading_never_fails_otherwise_than_by_saying_so(text: str) -> None:
    for match in numerals(text):
        assert match[0].strip()
    for title in (None, text):
        with contextlib.suppress(Malformed):
            assert math.isfinite(number(text).value)
            judge(text, title, "share", VALUES)
