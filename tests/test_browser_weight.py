"""Proves that pages stay light: what a first visit transfers, compressed, with all that the page needs."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Response

from browsing import pages

CHAPTER, NOTEBOOK = 250_000, 400_000  # bytes
LISTS = {"/ledger.html", "/about/status.html"}  # a table of all statements each, which has a notebook's limit


def test_what_a_visit_transfers(browser: Browser, address: str, site: Path) -> None:
    heavy = []
    for path in pages(site):
        context = browser.new_context()  # nothing kept from the page before
        page = context.new_page()
        seen: list[Response] = []
        page.on("response", seen.append)
        page.goto(address + path, wait_until="networkidle")
        total = sum(int(response.headers.get("content-length", 0)) for response in seen)
        context.close()
        print(f"{path} {total / 1000:.0f} kB in {len(seen)} requests")
        assert total > 50_000, "the responses were not counted"
        if total > (NOTEBOOK if path.startswith("/lab/") or path in LISTS else CHAPTER):
            heavy.append(f"{path}: {total} bytes")
    assert heavy == []
