"""Proves that the site can be read without a server, without JavaScript, and on paper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from pypdf import PdfReader

from browsing import ROOT


def test_a_page_opened_from_a_disk_works(browser: Browser, site: Path) -> None:
    """Styled, linked to pages that are there, and searchable."""
    page = browser.new_page()
    page.goto(f"file://{site}/residual/identity-path.html")
    assert page.evaluate("getComputedStyle(document.body).fontFamily").startswith('"Source Sans 3"')
    page.locator(".md-nav--primary a", has_text="Growth through depth").first.click()
    page.wait_for_url("**/growth-through-depth.html")
    assert page.locator("h1").inner_text().startswith("Growth")
    page.locator("[data-md-component=search-query]").press_sequentially("identity path", delay=20)
    page.wait_for_selector(".md-search-result__item")
    assert "identity-path.html" in (page.locator(".md-search-result__item a").first.get_attribute("href") or "")
    page.close()


def test_without_javascript_all_that_matters_is_there(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(f"{address}/residual/growth-through-depth.html")
    assert page.locator("figure.plot svg").first.is_visible()
    assert page.locator("math").first.is_visible()
    page.locator("a.stated").first.click()
    assert page.locator("ol.evidence li:target").is_visible()
    page.locator(".snippet").first.locator("xpath=ancestor::details/summary").click()
    assert page.locator(".snippet pre.output").first.is_visible()
    page.goto(f"{address}/ledger.html")
    assert page.locator(".ledger tbody tr").count() == 94
    context.close()


@pytest.fixture(scope="module")
def printed(browser: Browser, address: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of a chapter page saved as PDF."""
    target = tmp_path_factory.mktemp("pdf") / "page.pdf"
    page = browser.new_page()
    page.goto(f"{address}/residual/growth-through-depth.html", wait_until="networkidle")
    page.pdf(path=target)
    page.close()
    return "\n".join(sheet.extract_text() for sheet in PdfReader(target).pages)


def test_a_printed_page_keeps_what_is_folded(printed: str) -> None:
    """Folded code and answers, figures' texts, formulas, tables, and the evidence behind the numbers."""
    text = " ".join(printed.split())
    source = (ROOT / "snippets/residual/growth_squared.py").read_text(encoding="utf-8")
    for line in [line.strip() for line in source.splitlines() if len(line.strip()) > 20][:5]:
        assert re.sub(r"\s+", "", line) in re.sub(r"\s+", "", text), line
    assert "layer" in text
    assert "𝔼" in text or "E" in text
    assert "Evidence" in text
    assert "tolerance" in text
