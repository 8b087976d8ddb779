"""Proves that pages stay light: what a visit transfers, compressed, with all that the page needs.

The search, which the theme fetches in the background once a visit, is held to a limit of its own; so are the curves of
the heat map, which are fetched when a reader comes near.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Response

from browsing import pages, settle

SEARCHING = re.compile(r"/search[/.]")
CHAPTER, NOTEBOOK, SEARCH = 250_000, 400_000, 320_000  # bytes


def _keep(seen: list[Response]) -> Callable[[Response], None]:
    return lambda response: seen.append(response)


def _size(seen: list[Response]) -> int:
    return sum(int(response.headers.get("content-length", 0)) for response in seen)


def test_what_a_visit_transfers(browser: Browser, address: str, site: Path) -> None:
    heavy = []
    for path in pages(site):
        context = browser.new_context()  # nothing kept from the page before
        context.route(SEARCHING, lambda route: route.abort())
        page = context.new_page()
        seen: list[Response] = []
        page.on("response", _keep(seen))
        page.goto(address + path)
        settle(page)
        context.close()
        total, scripts = _size(seen), sum(response.url.endswith(".js") for response in seen)
        print(f"{path} {total / 1000:.0f} kB in {len(seen)} requests")
        assert scripts > 5, "the responses were not counted"
        if total > (NOTEBOOK if path.startswith("/lab/") else CHAPTER):
            heavy.append(f"{path}: {total} bytes")
    assert heavy == []


def test_what_the_search_transfers(browser: Browser, address: str) -> None:
    page = browser.new_context().new_page()
    seen: list[Response] = []
    page.on("response", lambda response: seen.append(response) if SEARCHING.search(response.url) else None)
    with page.expect_response("**/search_index.json"):
        page.goto(address)
    page.wait_for_load_state("networkidle")
    page.context.close()
    print(f"the search: {_size(seen) / 1000:.0f} kB in {len(seen)} requests")
    assert 50_000 < _size(seen) < SEARCH
