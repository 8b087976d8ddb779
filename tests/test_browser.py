"""Proves in a real browser that pages load nothing from elsewhere, break no policy, log no error and fit the screen."""

from __future__ import annotations

import functools
import http.server
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browsing import ROOT, pages, settle, watch

SHIFTS = """window.observer = new PerformanceObserver(list => {
    for (const entry of list.getEntries()) window.shift = (window.shift || 0) + entry.value
});
window.observer.observe({type: "layout-shift", buffered: true})"""
SHIFT = """() => {
    for (const entry of window.observer.takeRecords()) window.shift = (window.shift || 0) + entry.value;
    return window.shift || 0;
}"""
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_pages_are_quiet_and_fit(browser: Browser, address: str, site: Path, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.add_init_script(SHIFTS)
    told = watch(page, address)
    for path in pages(site):
        page.goto(address + path)
        settle(page)
        shift = page.evaluate(SHIFT)
        if shift >= 0.02:
            told.append(f"{path} moves by {shift} while it loads at {width}")
        wide = page.evaluate(WIDE)
        if wide > 0:
            told.append(f"{path} scrolls sideways by {wide} pixels at {width}")
        if not page.evaluate("getComputedStyle(document.body).fontFamily").startswith('"Source Sans 3"'):
            told.append(f"{path} has no style")
    page.wait_for_load_state("networkidle")
    context.close()
    assert not told, "\n".join(told)


class InPieces(http.server.SimpleHTTPRequestHandler):
    """Serves a page as a slow network or a busy machine does: piece by piece, each drawn before the next has come."""

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.suffix != ".html":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        content = path.read_bytes()
        size = len(content) // 10 + 1
        for start in range(0, len(content), size):
            self.wfile.write(content[start : start + size])
            time.sleep(0.1)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.mark.parametrize("width", [390, 1280])
def test_a_long_table_moves_nothing_though_it_comes_in_pieces(browser: Browser, site: Path, width: int) -> None:
    found = [path for path in site.rglob("*.html") if 'class="results long"' in path.read_text("utf-8")]
    paths = sorted("/" + path.relative_to(site).as_posix() for path in found)
    assert len(paths) >= 3, paths
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(InPieces, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for path in paths:
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.add_init_script(SHIFTS)
            page.goto(f"http://127.0.0.1:{server.server_port}{path}")
            settle(page)
            assert page.evaluate(SHIFT) < 0.02, path
            expect(page.locator(".results.long").first).to_have_css("visibility", "visible")
            page.close()
        server.shutdown()


def test_a_page_that_moves_or_speaks_would_be_told(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.add_init_script(SHIFTS)
    told = watch(page, address)
    page.goto(address)
    settle(page)
    assert page.evaluate(SHIFT) < 0.02
    page.evaluate("""() => {
        const block = document.createElement("div");
        block.style.cssText = "height: 300px; width: 500px";
        document.body.prepend(block);
        const picture = new Image();
        picture.src = "https://example.org/a.png";
        document.body.append(picture);
    }""")
    page.wait_for_timeout(300)
    settle(page)
    assert page.evaluate(SHIFT) > 0.02
    assert page.evaluate(WIDE) > 0
    assert any("Content Security Policy" in line for line in told), told
    page.close()


def test_policy_forbids_inline_scripts(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        policy = text.partition('http-equiv="Content-Security-Policy" content="')[2].partition('"')[0]
        assert "script-src 'self' 'sha256-" in policy, path
        assert "unsafe" not in policy, path
        assert "https:" not in policy, path


def test_a_copied_check_runs_alone_and_holds(browser: Browser, address: str, tmp_path: Path) -> None:
    """The block's own copy button, then a fresh interpreter in an empty folder."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{address}/residual/identity-path.html")
    block = page.locator("#snippet-no_floor")
    assert block.locator("pre.output button").count() == 0
    block.locator("summary").click()
    block.locator(".check-yourself button").first.click()
    code = page.evaluate("navigator.clipboard.readText()")
    context.close()
    assert "assert " in code
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert ran.stdout.endswith("all hold\n"), ran.stderr
    shown = (ROOT / "snippets/residual/no_floor/output.txt").read_text(encoding="utf-8")
    assert ran.stdout.startswith(shown)


def test_policy_is_in_force(browser: Browser, address: str) -> None:
    """An injected script does not run: a policy that stops nothing would pass the test above."""
    page = browser.new_page()
    page.goto(address)
    page.evaluate("""() => {
        const script = document.createElement("script"); script.textContent = "window.ran = true";
        document.body.append(script) }""")
    assert page.evaluate("window.ran") is None
    page.close()


QUERIES = {
    "RMSNorm": "rmsnorm/rmsnorm.html",
    "LayerNorm": "why/layernorm.html",
    "pre-LN": "placement/post-and-pre.html",
    "γ": "why/layernorm.html",
    "final norm": "practice/final-norm.html",
    "eps bf16": "practice/what-normalization-fixes.html",
    "QK-Norm": "variants/qk-norm.html",
    "identity path": "residual/identity-path.html",
    "warm-up": "placement/learning-rate-and-warm-up.html",
    "convert checkpoint": "practice/layernorm-to-rmsnorm.html",
    "padding": "why/batch-statistics.html",
    "post_attention_layernorm": "models/where-the-norms-are.html",
}


def test_search_finds_the_right_page_first(browser: Browser, address: str) -> None:
    page = browser.new_page()
    told = watch(page, address)
    page.goto(address)
    found = {}
    field = page.locator("[data-md-component=search-query]")
    field.focus()
    expect(page.locator(".md-search-result__meta")).to_contain_text("Type to start searching", timeout=20_000)
    for query in QUERIES:
        field.fill(query)
        field.press("Shift")  # the theme looks when a key comes up
        page.wait_for_timeout(700)
        first = page.locator(".md-search-result__item a").first.get_attribute("href") or ""
        found[query] = first.removeprefix(f"{address}/").partition("?")[0].partition("#")[0]
    page.close()
    assert found == QUERIES
    assert not told, "\n".join(told)


def test_a_stated_number_leads_to_its_evidence_and_back(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/residual/identity-path.html")
    number = page.locator("a.stated").first
    number.hover()
    page.wait_for_selector(".md-tooltip2__inner >> visible=true")
    said = " ".join(page.locator(".md-tooltip2__inner").first.inner_text().split())
    number.click()
    entry = page.locator("ol.evidence li:target")
    assert " ".join(entry.inner_text().split()) == said
    entry.locator(".evidence-back").click()
    assert page.evaluate("document.querySelector('a.stated:target') !== null")
    page.close()
