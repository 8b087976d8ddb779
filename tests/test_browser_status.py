"""Proves that the status page shows when all was last verified and with which versions, where a script can run."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from browsing import settle, watch
from evidence_site import machines
from test_browser import SHIFT, SHIFTS

WHERE = "about/status.html"
NOTED = machines.verified(datetime(2026, 11, 30, 8, 20, tzinfo=UTC))


def noted(page: Page, content: str = NOTED) -> Page:
    """As if continuous integration had noted this in the published site."""
    page.route(f"**/{machines.VERIFIED}", lambda route: route.fulfill(body=content, content_type="application/json"))
    return page


def test_it_says_when_and_with_which_versions(browser: Browser, address: str) -> None:
    page = noted(browser.new_page(viewport={"width": 390, "height": 844}))
    page.add_init_script(SHIFTS)
    told = watch(page, address)
    page.goto(f"{address}/{WHERE}#last-verified")
    shown = page.locator("#verified")
    expect(shown).to_contain_text("Last verified 2026-11-30 08:20 UTC with python 3.")
    expect(shown).to_contain_text("torch 2.")
    expect(shown).to_contain_text("numpy 2.")
    settle(page)
    assert page.evaluate(SHIFT) < 0.02
    assert told == []
    page.close()


def test_a_copy_that_was_not_verified_says_so(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/{WHERE}")
    expect(page.locator("#verified")).to_contain_text("without being verified")
    page.close()


def test_without_a_note_or_a_script_or_a_server_the_link_remains(browser: Browser, address: str, site: Path) -> None:
    broken = noted(browser.new_page(), "<html>")
    still = browser.new_context(java_script_enabled=False).new_page()
    pages = {broken: f"{address}/{WHERE}", still: f"{address}/{WHERE}", browser.new_page(): f"file://{site}/{WHERE}"}
    for page, there in pages.items():
        told = watch(page, there.partition("/about")[0])
        page.goto(there)
        assert page.locator("a[href$='verified.json']").is_visible()
        assert page.locator("#verified").inner_text() == ""
        # from a disk Chromium complains of fonts that are preloaded, whatever the page
        assert [line for line in told if line.startswith("error") or "verified" in line] == []
        page.close()
