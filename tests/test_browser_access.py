"""Proves with axe that pages can be used by keyboard and screen reader, in both schemes, on a phone and on a desk."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from playwright.sync_api import Browser, Page

from browsing import be_still, pages, put_scheme

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
WIDTHS = {390: 844, 1280: 900}
COLOR = ["color-contrast", "link-in-text-block"]  # the rules whose finding a scheme can change
# All is unfolded; of elements with one chain of tags and classes, which look the same in any scheme, one is left.
THIN = """() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
    const seen = new Set();
    for (const element of [...document.body.querySelectorAll("*")].reverse()) {
        if (element.children.length || element.tagName === "INPUT") continue;
        let look = "";
        for (let one = element; one !== document.body; one = one.parentElement)
            look += `${one.tagName}.${one.getAttribute("class") || ""} `;
        if (seen.has(look)) element.remove();
        seen.add(look);
    }
    return seen.size;
}"""


def violations(page: Page, rules: list[str] | None = None) -> list[str]:
    """Of all rules, or of some."""
    settings = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    found = page.evaluate("settings => axe.run(settings)", settings)["violations"]
    return [f"{one['id']}: {node['target']}: {node['failureSummary']}" for one in found for node in one["nodes"]]


def put_width(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": WIDTHS[width]})


def each_page(page: Page, address: str, site: Path) -> Iterator[str]:
    """Each page in turn, loaded on a desk, with colors that are still."""
    for path in pages(site):
        put_width(page, 1280)
        page.goto(address + path)
        be_still(page)
        yield path


def test_axe_finds_nothing(browser: Browser, address: str, site: Path) -> None:
    """Light on a desk and dark on a phone by all rules; then the other way round by those that color can change."""
    context = browser.new_context(bypass_csp=True)
    context.add_init_script(AXE)
    page = context.new_page()
    told = []
    for path in each_page(page, address, site):
        put_scheme(page, "light")
        told += [f"{path} light 1280: {one}" for one in violations(page)]
        put_width(page, 390)
        put_scheme(page, "dark")
        told += [f"{path} dark 390: {one}" for one in violations(page)]
        page.evaluate(THIN)
        put_scheme(page, "light")
        told += [f"{path} light 390: {one}" for one in violations(page, COLOR)]
        put_width(page, 1280)
        put_scheme(page, "dark")
        told += [f"{path} dark 1280: {one}" for one in violations(page, COLOR)]
    context.close()
    assert not told, "\n".join(told)


def test_axe_would_find_something(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content("<html lang='en'><title>t</title><main><h1>t</h1><img src='x.png'></main></html>")
    page.evaluate(AXE)
    assert any(one.startswith("image-alt") for one in violations(page))
    page.close()


# Focuses one element of each look, and tells of those whose ring is not drawn, or cut off on most sides. Not the
# search, which opens when it takes the focus, nor the button to the top, which is there while a reader scrolls up.
FOCUS = """() => {
    const seen = new Set(), told = [];
    for (const element of document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")) {
        if (element.closest(".md-search, .md-top") || !element.checkVisibility({visibilityProperty: true})) continue;
        let look = "";
        for (let one = element; one !== document.body; one = one.parentElement)
            look += `${one.tagName}.${one.getAttribute("class") || ""} `;
        if (seen.has(look)) continue;
        element.focus();
        if (document.activeElement !== element) continue;
        seen.add(look);
        // the theme's switch of schemes is a radio button that is not seen, with what is seen after it
        const drawn = element.matches("[name=__palette]") ? element.nextElementSibling : element;
        if (!drawn.checkVisibility()) continue;
        const style = getComputedStyle(drawn), box = drawn.getBoundingClientRect();
        const wide = parseFloat(style.outlineWidth);
        const out = parseFloat(style.outlineOffset) + wide / 2;
        const ring = {left: box.left - out, right: box.right + out, top: box.top - out, bottom: box.bottom + out};
        const sides = new Set(Object.keys(ring));
        for (let one = drawn.parentElement; one && one !== document.body; one = one.parentElement) {
            const {overflowX, overflowY} = getComputedStyle(one), frame = one.getBoundingClientRect();
            if (overflowX !== "visible" && ring.left < frame.left) sides.delete("left");
            if (overflowX !== "visible" && ring.right > frame.right) sides.delete("right");
            if (overflowY !== "visible" && ring.top < frame.top) sides.delete("top");
            if (overflowY !== "visible" && ring.bottom > frame.bottom) sides.delete("bottom");
        }
        if (style.outlineStyle === "none" || !(wide >= 1) || style.opacity === "0") told.push(`no ring: ${look}`);
        else if (sides.size < 2) told.push(`a ring seen only ${[...sides]}: ${look}`);
    }
    return [seen.size, told];
}"""


def test_the_focus_is_seen_wherever_it_goes(browser: Browser, address: str, site: Path) -> None:
    """One element of each look takes the focus, as by keyboard: it is ringed, and the ring is not cut off."""
    page = browser.new_page()
    told = []
    for path in each_page(page, address, site):
        page.keyboard.press("Tab")  # what takes the focus by a script after that shows it as by keyboard
        looks = 0
        for width in WIDTHS:
            put_width(page, width)
            count, missing = page.evaluate(FOCUS)
            looks += count
            told += [f"{path} {width}: {one}" for one in missing]
        assert looks >= 5, path
    page.close()
    assert not told, "\n".join(told)


def test_the_focus_is_seen_on_its_way_through_a_page(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/residual/identity-path.html")
    for _ in range(60):
        page.keyboard.press("Tab")
        look = page.evaluate(
            """() => { const e = document.activeElement, s = getComputedStyle(e);
            return [e.tagName, e.className, s.outlineStyle, parseFloat(s.outlineWidth)] }"""
        )
        assert look[2] != "none", look
        assert look[3] >= 1, look
    page.close()


def test_a_lost_focus_would_be_told(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/cheat-sheet.html")
    be_still(page)
    page.keyboard.press("Tab")
    page.evaluate("""() => {
        const style = new CSSStyleSheet();
        style.replaceSync(`a.stated { outline: none !important } .snippet pre { outline-offset: .3rem !important }
            .snippet .highlight { overflow: hidden }`);
        document.adoptedStyleSheets.push(style);
    }""")
    told = page.evaluate(FOCUS)[1]
    page.close()
    assert any(one.startswith("no ring: A.stated") for one in told), told
    assert any(one.startswith("a ring seen only") and ": PRE." in one for one in told), told
