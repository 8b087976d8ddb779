"""Do two runs of one snippet say the same, but for what another processor or another moment may move?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from evidence.record import Record

NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")


def differences(old: Record, new: Record) -> Iterator[str]:
    """What the new run says otherwise than the old, beyond what another processor may move.

    Figures are compared only between equal versions and machines: elsewhere the ids inside an SVG differ, and what it
    draws stands in the CSV beside it. Of timings only the form is compared; what is stated of them has a band.
    """
    timed = bool(new.machine.get("timed"))
    for name in sorted(old.values.keys() | new.values.keys()):
        if name not in old.values or name not in new.values:
            yield f"{name} is {'new' if name in new.values else 'gone'}"
        elif not timed and not close(old.values[name], new.values[name]):
            yield f"{name}: {_short(old.values[name])} → {_short(new.values[name])}"
    for name in sorted(old.files.keys() | new.files.keys()):
        if name not in old.files or name not in new.files:
            yield f"{name} is {'new' if name in new.files else 'gone'}"
        elif timed or (name.endswith(".svg") and (old.versions, old.machine) != (new.versions, new.machine)):
            continue  # what is stated of a timed run is held by the bands of the statements
        elif not same_text(old.files[name], new.files[name]):
            yield f"{name} differs"


def close(old: Any, new: Any, relative: float = 1e-3, absolute: float = 1e-5) -> bool:
    """Equal, or floats within what instruction sets move: 1e-3 relative, 1e-5 absolute where sums cancel."""
    if isinstance(old, dict) and isinstance(new, dict):
        return list(old) == list(new) and all(close(old[key], new[key], relative, absolute) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(close(a, b, relative, absolute) for a, b in zip(old, new, strict=True))
    if isinstance(old, float) and isinstance(new, float):
        if math.isnan(old) or math.isnan(new):
            return math.isnan(old) and math.isnan(new)
        return math.isclose(old, new, rel_tol=relative, abs_tol=absolute)
    return type(old) is type(new) and bool(old == new)


def same_text(old: bytes, new: bytes) -> bool:
    """Equal, or text that differs only in numbers, each by at most 1e-3 or two units of its last written digit."""
    if old == new:
        return True
    try:
        a, b = old.decode(), new.decode()
    except UnicodeDecodeError:
        return False
    if NUMBER.split(a) != NUMBER.split(b):
        return False
    for left, right in zip(NUMBER.findall(a), NUMBER.findall(b), strict=True):
        if left == right:
            continue
        if left.lstrip("+-").isdigit() or right.lstrip("+-").isdigit():
            return False  # a count is exact
        digits, _, exponent = left.lower().partition("e")
        try:
            unit = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
        except (OverflowError, ValueError):
            return False
        if not math.isclose(float(left), float(right), rel_tol=1e-3, abs_tol=2.01 * unit):
            return False
    return True


def _short(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    return text if len(text) < 60 else text[:57] + "…"
