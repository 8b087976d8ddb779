"""Proves that pages stay light: what a visit transfers, compressed, with all that the page needs.

The search, which the theme fetches in the background once a visit, is held to a limit of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Response

from browsing import pages

CHAPTER, NOTEBOOK, SEARCH = 250_000, 400_000, 320_000  # bytes
LISTS = {"/ledger.html", "/about/status.html"}  # a table of all statements each, which has a notebook's limit


def _keep(seen: list[Response]) -> Callable[[Response], None]:
    return lambda response: seen.append(response)


def test_what_a_visit_transfers(browser: Browser, address: str, site: Path) -> None:
    heavy = []
    for path in pages(site):
        context = browser.new_context()  # nothing kept from the page before
        page = context.new_page()
        seen: list[Response] = []
        page.on("response", _keep(seen))
        page.goto(address + path, wait_until="networkidle")
        sizes = {response.url: int(response.headers.get("content-length", 0)) for response in seen}
        search = sum(size for url, size in sizes.items() if "/search/" in url or "/workers/search" in url)
        total = sum(sizes.values()) - search
        context.close()
        print(f"{path} {total / 1000:.0f} kB in {len(seen)} requests, and {search / 1000:.0f} kB for the search")
        assert search < SEARCH
        assert total > 50_000, "the responses were not counted"
        if total > (NOTEBOOK if path.startswith("/lab/") or path in LISTS else CHAPTER):
            heavy.append(f"{path}: {total} bytes")
    assert heavy == []
