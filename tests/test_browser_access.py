"""Proves with axe that pages can be used by keyboard and screen reader, in both schemes, on a phone and on a desk."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from browsing import pages

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
WIDTHS = {390: 844, 1280: 900}


def violations(page: Page) -> list[str]:
    found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    return [f"{one['id']}: {node['target']}: {node['failureSummary']}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_axe_finds_nothing(browser: Browser, address: str, site: Path, width: int, scheme: str) -> None:
    """Light on a desk and dark on a phone: contrast does not depend on the width, nor the layout on the scheme."""
    size = {"width": width, "height": WIDTHS[width]}
    context = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True)  # type: ignore[arg-type]
    context.add_init_script(AXE)
    page = context.new_page()
    told = []
    for path in pages(site):
        page.goto(address + path)
        told += [f"{path} {width} {scheme}: {one}" for one in violations(page)]
    context.close()
    assert told == []


def test_axe_would_find_something(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content("<html lang='en'><title>t</title><main><h1>t</h1><img src='x.png'></main></html>")
    page.evaluate(AXE)
    assert any(one.startswith("image-alt") for one in violations(page))
    page.close()


def test_the_focus_is_seen_wherever_it_goes(browser: Browser, address: str) -> None:
    """Tab through a page: each element that takes the focus changes how it looks."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/residual/identity-path.html")
    seen = 0
    for _ in range(60):
        page.keyboard.press("Tab")
        look = page.evaluate(
            """() => { const e = document.activeElement, s = getComputedStyle(e);
            return [e.tagName, e.className, s.outlineStyle, parseFloat(s.outlineWidth)] }"""
        )
        if look[0] == "BODY":
            break
        seen += 1
        assert look[2] != "none", look
        assert look[3] >= 1, look
    assert seen > 30
    page.close()
