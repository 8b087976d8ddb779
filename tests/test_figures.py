"""Proves that an inlined figure is drawn as its snippet drew it: by smaller steps, through the same places."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evidence_site import figures

ROOT = Path(__file__).parents[1]
DRAWN = re.compile(r'<path (?:id="[^"]*" )?d="([^"]*)"')


def places(path: str) -> list[tuple[str, float, float]]:
    """The letters of a path with where they lead, in any of its two forms."""
    found, here, start = [], (0.0, 0.0), (0.0, 0.0)
    for letter, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        values = [float(number) for number in re.findall(r"-?[\d.]+(?:e-?\d+)?", numbers)]
        origin = here if letter.islower() else (0.0, 0.0)
        for x, y in zip(values[::2], values[1::2], strict=True):
            here = (origin[0] + x, origin[1] + y)
            found.append((letter.upper(), *here))
        start = here if letter in "Mm" else start
        here = here if values else start
    return found


@pytest.mark.parametrize("path", ["residual/identity_share/share.svg", "training/without_norm/without_norm.svg"])
def test_a_path_leads_through_the_same_places(path: str) -> None:
    text = (ROOT / "snippets" / path).read_text(encoding="utf-8")
    inlined = figures.inline(text, "alt", "f")
    before, after = DRAWN.findall(text), re.findall(r' d="([^"]*)"', inlined)
    assert len(before) == len(after) > 10
    for one, other in zip(before, after, strict=True):
        assert [letter for letter, *_ in places(one)] == [letter for letter, *_ in places(other)]
        for (_, x, y), (_, near_x, near_y) in zip(places(one), places(other), strict=True):
            assert (near_x, near_y) == pytest.approx((x, y), abs=0.0051)
    assert len(inlined) < 0.6 * len(text)


def test_curves_and_closed_parts_keep_their_places() -> None:
    path = "M 1.004 2 \nC 1 2 -3.5 4 5 6 \nQ 7 8 9 10.126 \nz\nM 0.1 0 \nL 0.104 0 \nL 0.108 0 \n"
    assert figures.path(path) == "m1 2c0 0-4.5 2 4 4q2 2 4 4.13zm-0.9-2l0 0l0.01 0"


def test_ids_that_are_used_stay_and_the_others_go() -> None:
    text = (ROOT / "snippets/training/without_norm/without_norm.svg").read_text(encoding="utf-8")
    inlined = figures.inline(text, "alt", "f")
    ids, used = set(re.findall(r' id="([^"]*)"', inlined)), set(re.findall(r"#([^)\"]+)", inlined))
    assert ids == used
    assert all(one.startswith("f-") for one in ids)


def test_lines_and_marks_are_opaque_and_areas_are_not() -> None:
    drawn = '<path d="M 0 0 L 1 1" style="stroke: #0072b2; stroke-opacity: 0.5"/><defs><path id="m" d="M 0 0"/></defs>'
    drawn += '<use href="#m" style="fill: #0072b2; fill-opacity: 0.5; stroke: #0072b2; stroke-opacity: 0.5"/>'
    drawn += '<use href="#m" style="fill: #0072b2; fill-opacity: 0.3"/><path d="M 0 0 z" style="opacity: 0.25"/>'
    inlined = figures.inline(f'<svg xmlns="{figures.SVG}" viewBox="0 0 9 9">{drawn}</svg>', "alt", "f")
    assert re.findall(r"[\w-]*opacity=\S*", inlined) == ['fill-opacity="0.3"', 'fill-opacity="0.25"']
