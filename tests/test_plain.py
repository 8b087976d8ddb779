"""Which variables of a snippet are recorded: plain data, up to a depth and a length, in a form that JSON can hold."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from evidence.plain import LIMIT, decode, plain_values


def kept(value: Any) -> Any:
    """What comes back of a variable, after JSON; KeyError if it is not recorded."""
    return decode(json.loads(json.dumps(plain_values({"x": value})["x"])))


@pytest.mark.parametrize(
    "value",
    [
        10**308,
        -(10**308),
        int(1.7976931348623157e308),
        [[[[1]]]],
        {"a": {"b": {"c": {"d": 1}}}},
        ([{"a": [1]}],),
        "x" * (LIMIT - 2),
    ],
)
def test_the_deepest_and_the_longest_are_recorded(value: Any) -> None:
    assert json.dumps(kept(value)) == json.dumps(value)


@pytest.mark.parametrize(
    "value",
    [
        [[[[[1]]]]],
        {"a": {"b": {"c": {"d": {"e": 1}}}}},
        [[[[range(1)]]]],
        "x" * (LIMIT - 1),
        "x" * 3 * LIMIT,
        range(LIMIT + 1),
        [0] * (LIMIT // 2),
        None,
        {(1, 2): 3},
        {None: 1},
        {"\ud800": 1},
        10**309,
        -(10**309),
        {10**309: 1},
        {"a": 1, (1, 2): 3},
        {"b": {"a": 1, None: 3}},
        {1, 2},
        b"1",
        1j,
        "\ud800",
        [object()],
        math,
    ],
)
def test_what_is_deeper_longer_or_not_plain_is_not_recorded(value: Any) -> None:
    assert plain_values({"x": value, "y": 1}) == {"y": 1}


def test_how_long_is_counted_in_characters_of_json() -> None:
    assert LIMIT == 20_000


@pytest.mark.parametrize(
    ("value", "back"),
    [
        (range(3), [0, 1, 2]),
        ((1, 2.5), [1, 2.5]),
        ([None, True], [None, True]),
        ({1: "a", 0.5: {"b": -math.inf}}, {1: "a", 0.5: {"b": -math.inf}}),
        ({"float": 1}, {"float": 1}),
        ({"items": [1]}, {"items": [1]}),
        (math.inf, math.inf),
    ],
)
def test_what_json_lacks_comes_back(value: Any, back: Any) -> None:
    assert kept(value) == back
    assert type(kept(value)) is type(back)


def test_nan_comes_back_and_a_private_name_is_not_recorded() -> None:
    assert math.isnan(kept([math.nan])[0])
    assert plain_values({"_x": 1, "x_": 1}) == {"x_": 1}


def test_a_subclass_is_recorded_as_what_it_is_a_kind_of() -> None:
    class Text(str):
        pass

    class Count(int):
        pass

    class Share(float):
        pass

    for value, kind in ((Text("a"), str), (Count(1), int), (Share(0.5), float)):
        assert type(plain_values({"x": value})["x"]) is kind
