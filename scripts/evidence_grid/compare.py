"""Does a cell that is trained again say what its result says?

On one machine with one release of torch, a run on one thread repeats itself bit for bit. Another processor rounds
otherwise, and training amplifies that. So of a run that survives, the final loss is compared within a band; of a run
that diverges, only that it does and about when: on the way there the smallest difference grows without bounds, and
two machines agree in kind, not in digits. Norms and curves are for reading, and are not compared.

A cell may train several members at once; then `final_losses` and `non_finite_steps` have an entry for each.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from evidence_grid.results import Result

# The bands. Relative changes of the initial weights by 1e-6, ten times what rounding does, left five digits of the
# final loss as they were (described network, 6 layers, pre and post, 300 steps); longer runs may drift further.
LOSS = 0.02  # relative, of the final loss
# With other vector instructions, runs that diverge after 14 to 20 steps did so up to 4 steps earlier or later.
STEPS, SHARE = 10, 0.1  # the band of the first non-finite step: the larger of so many steps and so much of it


def differences(old: Result, new: Result) -> Iterator[str]:
    """What the new run says otherwise, beyond what another processor may move."""
    if dict(old.cell) != dict(new.cell):
        yield f"its parameters differ: {_changed(old.cell, new.cell)}"
    a, b = old.result, new.result
    if list(a) != list(b):
        yield f"it measures other quantities: {', '.join(sorted(set(a) ^ set(b))) or 'in another order'}"
    if a.get("stalled") != b.get("stalled"):
        yield f"stalled: {a.get('stalled')} → {b.get('stalled')}"
    yield from _run("", a.get("first_non_finite"), b.get("first_non_finite"), a.get("final_loss"), b.get("final_loss"))
    members = [_list(part.get(key)) for key in ("non_finite_steps", "final_losses") for part in (a, b)]
    for number, member in enumerate(itertools.zip_longest(*members)):
        yield from _run(f"member {number}, ", *member)


def _run(name: str, first: Any, again: Any, old: Any, new: Any) -> Iterator[str]:
    """One run: whether and when it diverged, and otherwise its final loss."""
    if (first is None) != (again is None):
        yield f"{name}first non-finite step: {_step(first)} → {_step(again)}"
    elif first is not None and again is not None:
        band = max(STEPS, SHARE * first)
        if abs(first - again) > band:
            yield f"{name}first non-finite step: {first} → {again}, beyond ±{band:.0f}"
    else:
        yield from (f"{name}{said}" for said in _loss(old, new))


def _loss(old: Any, new: Any) -> Iterator[str]:
    """The band of a run that survives, on both sides."""
    if not isinstance(old, (int, float)) or not isinstance(new, (int, float)):
        if old != new:
            yield f"final loss: {old} → {new}"
    elif abs(old - new) > LOSS * abs(old):
        moved = f"{abs(new - old) / abs(old):.1%}" if old else "all of it"
        yield f"final loss: {old:.6g} → {new:.6g}, moved by {moved} with {LOSS:.0%} allowed"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _step(step: Any) -> str:
    return "none" if step is None else str(step)


def _changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    keys = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
    return ", ".join(f"{key}: {old.get(key)!r} → {new.get(key)!r}" for key in keys)
