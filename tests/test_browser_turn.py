"""Proves that the figures to turn compute what their snippets computed, work by keyboard, and say what they show."""

from __future__ import annotations

import csv
import json
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page

from browsing import ROOT


def values(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "snippets" / name / "record.json").read_text(encoding="utf-8"))["values"]
    return found


def turn(page: Page, name: str, **settings: str) -> Locator:
    figure = page.locator(f".turn[data-turn={name}]")
    for key, value in settings.items():
        figure.locator(f"[name={key}]").evaluate(
            "(e, v) => { e.value = v; e.dispatchEvent(new Event('input', {bubbles: true})) }", value
        )
    return figure.locator("output")


@pytest.fixture(scope="module")
def growth(browser: Browser, address: str) -> Page:
    page = browser.new_page()
    page.goto(f"{address}/residual/growth-through-depth.html")
    return page


def test_the_norm_by_placement_is_that_of_the_snippet(growth: Page) -> None:
    record = values("residual/norm_by_placement")
    for name, expected in record["at_end"].items():
        placement, gain = name.split()
        said = turn(growth, "norm-by-placement", placement=placement, gain=gain, layer=str(record["depth"]))
        assert float(said.get_attribute("data-value") or "nan") == pytest.approx(expected, rel=1e-9), name


def test_the_row_mean_is_that_of_the_snippet(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/rmsnorm/rmsnorm.html")
    table = (ROOT / "snippets/rmsnorm/row_statistics/row_statistics.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(table.splitlines()):
        said = turn(page, "row-statistics", mean=row["ratio"], std="1")
        shown = float(said.get_attribute("data-value") or "nan")
        assert shown == pytest.approx(float(row["mean_theory"]), rel=5e-3), row["ratio"]  # the file has three digits
    page.close()


def test_a_key_turns_it_and_the_readout_says_so(growth: Page) -> None:
    said = turn(growth, "norm-by-placement", placement="pre", gain="1", layer="8")
    assert said.inner_text() == "After 8 layers the RMS of a token is 3; at the input it is 1."
    growth.locator(".turn [name=layer]").focus()
    growth.keyboard.press("ArrowRight")
    assert said.inner_text().startswith("After 9 layers the RMS of a token is 3.162")
    assert said.get_attribute("aria-live") == "polite"
    assert "After 9 layers" in (growth.locator(".turn svg").get_attribute("aria-label") or "")
