"""Values: which of a snippet's variables are recorded, and how JSON holds them with what it lacks."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

LIMIT = 20_000  # characters of JSON up to which a variable is short enough to be recorded


def plain_values(variables: dict[str, Any]) -> dict[str, Any]:
    """The public top-level variables that are plain data, in a form JSON can hold."""
    found: dict[str, Any] = {}
    for name, value in variables.items():
        if name.startswith("_"):
            continue
        try:
            coded = encode(_plain(value))
            if len(json.dumps(coded)) <= LIMIT:
                found[name] = coded
        except (TypeError, ValueError):
            continue  # a tensor, a module, a function: not for a sentence
    return found


def _plain(value: Any, depth: int = 0) -> Any:
    if depth > 4 or (isinstance(value, (str, range, list, tuple, dict)) and len(value) > LIMIT):
        raise TypeError("too deep or too long")
    if isinstance(value, str):
        return value.encode().decode()  # a ValueError for half a surrogate pair; and no subclass
    if isinstance(value, bool) or (value is None and depth):
        return value
    if isinstance(value, int):
        if abs(value) > sys.float_info.max:
            raise TypeError("too large to be compared with what is stated")
        return int(value)
    if isinstance(value, float):
        return float(value)  # a numpy float is a float too
    if isinstance(value, range):
        return _plain(list(value), depth)
    if isinstance(value, (list, tuple)):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(key, (str, int, float)) for key in value):
            raise TypeError("keys")
        return {_plain(key, depth): _plain(item, depth + 1) for key, item in value.items()}
    raise TypeError(type(value).__name__)


def encode(value: Any) -> Any:
    """As JSON can hold it: what is not finite becomes {"float": "nan"}, keys that are not text {"items": [[1, …]]}."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value) and set(value) not in ({"float"}, {"items"}):
            return {key: encode(item) for key, item in value.items()}
        return {"items": [[encode(key), encode(item)] for key, item in value.items()]}
    return [encode(item) for item in value] if isinstance(value, list) else value


def decode(value: Any) -> Any:
    """What was encoded."""
    if isinstance(value, dict):
        if set(value) == {"float"}:
            return float(value["float"])
        if set(value) == {"items"}:
            return {decode(key): decode(item) for key, item in value["items"]}
        return {key: decode(item) for key, item in value.items()}
    return [decode(item) for item in value] if isinstance(value, list) else value
