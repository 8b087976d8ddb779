"""Proves that the table of models filters and sorts by keyboard, counts its rows, and is whole without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

PLACE = "models/where-the-norms-are.html"


@pytest.fixture(scope="module")
def models(browser: Browser, address: str) -> Page:
    page = browser.new_page()
    page.goto(f"{address}/{PLACE}")
    return page


def names(page: Page) -> list[str]:
    return page.locator("#models-qwen3").locator("xpath=..").locator("tr:visible th").all_inner_texts()


def test_a_filter_leaves_the_rows_that_hold_its_words(models: Page) -> None:
    field = models.get_by_label("Filter rows").first
    said = models.locator(".table-controls output").first
    whole = names(models)
    assert len(whole) > 60
    field.fill("olmo reordered")
    assert set(names(models)) == {"OLMo 2", "OLMo 3", "FlexOlmo", "OLMo Hybrid"}
    expect(said).to_have_text(f"4 of {len(whole)} rows")
    field.fill("")
    assert names(models) == whole


def test_a_head_sorts_by_keyboard_and_says_so(models: Page) -> None:
    head = models.locator(".results").first.locator("thead th").first
    head.get_by_role("button").focus()
    models.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    upward = names(models)
    assert upward[:3] == sorted(upward, key=str.lower)[:3]
    models.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    assert names(models) == upward[::-1]


def test_without_javascript_it_is_a_plain_table(browser: Browser, address: str) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{address}/{PLACE}")
    assert len(names(page)) > 60
    assert page.get_by_role("columnheader", name="year").first.get_by_role("button").count() == 0
    page.locator("#models-qwen3 a", has_text="measured").click()
    assert page.url.endswith("models/every-norm.html#norms-qwen3")


def test_the_ledger_is_filtered_by_verdict(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/ledger.html")
    rows = page.locator(".ledger tbody tr")
    assert rows.count() == 94
    page.locator(".table-controls select").select_option("does not hold")
    shown = [row for row in rows.all() if row.is_visible()]
    assert 0 < len(shown) < 94
    assert {row.locator("td").nth(4).inner_text() for row in shown} == {"does not hold"}
    assert page.locator(".table-controls output").inner_text() == f"{len(shown)} of 94 rows"
    page.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_no_row_of_the_ledger_is_cut_at_a_side(browser: Browser, address: str, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(f"{address}/ledger.html")
    frame, row = (page.locator(one).first.bounding_box() for one in (".ledger", ".ledger tbody tr"))
    page.close()
    assert frame
    assert row
    assert frame["x"] <= row["x"]
    assert row["x"] + row["width"] <= frame["x"] + frame["width"] + 0.5
