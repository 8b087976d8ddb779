"""Proves that the heat map of the training chapter shows what its table says, by mouse and by keyboard."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page

from browsing import ROOT, watch

CELLS = list(csv.DictReader((ROOT / "snippets/training/heat_map/heat_map.csv").read_text("utf-8").splitlines()))
WHERE = "training/learning-rate-and-placement.html"


def schedule(cell: dict[str, str]) -> str:
    warm_up = f"warm-up over {cell['warmup']} steps" if cell["warmup"] != "0" else "no warm-up"
    return f"{warm_up}, {cell['steps']} steps"


def choose(page: Page, cell: dict[str, str]) -> Locator:
    """The square's button, chosen by mouse."""
    for name, value in {"network": cell["network"], "kind": cell["kind"], "schedule": schedule(cell)}.items():
        page.locator(f".heat-map [name={name}]").select_option(value)
    heads = page.locator(".heat-map thead th").all_inner_texts()
    row = page.locator(".heat-map tbody tr").filter(has=page.locator(f"th:text-is('{cell['depth']}')"))
    button = row.locator("td").nth(heads.index(cell["lr"]) - 1).locator("button")
    button.click()
    return button


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    page = browser.new_page()
    page.goto(f"{address}/{WHERE}")
    page.evaluate("document.querySelector('.heat-map').scrollIntoView()")  # its data is loaded when one comes near
    page.wait_for_selector(".heat-map button")
    yield page
    page.close()


def test_each_square_says_what_the_table_says(page: Page) -> None:
    assert len(CELLS) > 10
    says = page.locator(".heat-map output")
    for cell in CELLS:
        button = choose(page, cell)
        assert button.get_attribute("aria-pressed") == "true", cell
        assert page.locator(".heat-map button[aria-pressed=true]").count() == 1
        told = says.inner_text()
        assert f"{cell['depth']} layers, learning rate {cell['lr']}, {schedule(cell)}: " in told
        assert f"{cell['learned']} of {cell['seeds']} seeds learned" in told
        assert (f"{cell['not finite']} not finite" in told) == (cell["not finite"] != "0")
        assert f"{cell['learned']} of {cell['seeds']}" in button.inner_text()
        if cell["lowest"]:
            for name in ("lowest", "highest"):
                shown = float(says.get_attribute(f"data-{name}") or "nan")
                assert shown == pytest.approx(float(cell[name]), rel=1e-3), cell
        drawn = page.locator(".heat-map svg path").count()
        finite = int(cell["seeds"]) - int(cell["not finite"])
        assert finite <= drawn <= int(cell["seeds"]), "a curve for each seed, but for those that end at once"
        assert page.locator(".heat-map svg path.stroke-c0").count() == int(cell["learned"])
        assert told in (page.locator(".heat-map svg").get_attribute("aria-label") or "")
    assert says.get_attribute("aria-live") == "polite"


def test_arrow_keys_move_between_the_squares(page: Page) -> None:
    page.locator(".heat-map [name=kind]").select_option("Pre-LN")
    pressed = page.locator(".heat-map button[aria-pressed=true]")
    pressed.focus()
    before = page.locator(".heat-map output").inner_text()
    moved = set()
    for key in ("ArrowLeft", "ArrowDown", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
        assert pressed.evaluate("e => e === document.activeElement"), "focus stays on the chosen square"
        assert page.locator(".heat-map button[tabindex='0']").count() == 1, "one stop of the tab key"
        moved.add(page.locator(".heat-map output").inner_text())
    assert moved - {before}, "the readout follows"


def test_it_works_from_a_disk_and_is_left_out_in_print(browser: Browser, site: Path) -> None:
    page = browser.new_page()
    told = watch(page, "file://")
    page.goto((site / WHERE).as_uri())
    page.evaluate("document.querySelector('.heat-map').scrollIntoView()")
    page.wait_for_selector(".heat-map button")
    assert page.locator(".heat-map svg path").count() > 0
    page.emulate_media(media="print")
    assert not page.locator(".heat-map").is_visible()
    assert page.locator("figure.plot svg").first.is_visible()
    assert [line for line in told if line.startswith("error")] == []
    page.close()


def test_without_a_script_there_is_the_figure(browser: Browser, address: str) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{address}/{WHERE}")
    assert page.locator("figure.plot svg").first.is_visible()
    assert page.locator(".heat-map").inner_text() == ""
    page.close()


def test_its_data_is_small() -> None:
    assert (ROOT / "snippets/training/heat_map/curves.js").stat().st_size < 150_000
