"""Proves that figures can be made out in both schemes: their lines and marks by 3 to 1, their texts by 4.5 to 1.

As rendered: colors as the page's style gives them, with all transparency, against the page, or for a text against the
areas it stands on.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browsing import be_still, pages, put_scheme, settle

FIGURES = ".md-content svg[role=img]"
CONTRAST = """selector => {
    const MARK = 15;
    const parse = text => {
        const [r, g, b, alpha = 1] = text.match(/[\\d.]+/g).map(Number);
        if (!/^rgba?\\(/.test(text)) throw new Error(`a color of another kind: ${text}`);
        return {color: [r, g, b], alpha};
    };
    const over = ({color, alpha}, below) => color.map((part, i) => alpha * part + (1 - alpha) * below[i]);
    const luminance = color => color.map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
    const ratio = (a, b) => {
        const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
        return (high + 0.05) / (low + 0.05);
    };
    const ground = element => {
        for (let one = element; one; one = one.parentElement) {
            const found = parse(getComputedStyle(one).backgroundColor);
            if (found.alpha === 1) return found.color;
        }
        return [255, 255, 255];
    };
    const told = [], counts = {lines: 0, texts: 0, areas: 0, figures: 0};
    for (const svg of document.querySelectorAll(selector)) {
        counts.figures++;
        const page = ground(svg), name = svg.getAttribute("aria-label").slice(0, 60);
        const paint = (element, kind, styled = element) => {
            const style = getComputedStyle(styled);
            if (style[kind] === "none") return null;
            const found = parse(style[kind]);
            found.alpha *= style[`${kind}Opacity`];
            for (let one = element; one !== svg; one = one.parentElement) found.alpha *= getComputedStyle(one).opacity;
            return found.alpha ? found : null;
        };
        const areas = [];
        const clipped = (area, point) => {
            const id = area.closest("[clip-path]")?.getAttribute("clip-path").match(/#([^)]+)/)[1];
            const rect = id && document.getElementById(id).querySelector("rect");
            if (!rect) return false;
            const [x, y, w, h] = ["x", "y", "width", "height"].map(key => Number(rect.getAttribute(key)));
            return point.x < x || point.x > x + w || point.y < y || point.y > y + h;
        };
        const beneath = point => areas.reduce((below, {element, fill, inverse}) => {
            const local = point.matrixTransform(inverse);
            return !clipped(element, local) && element.isPointInFill(local) ? over(fill, below) : below;
        }, page);
        const problem = (what, element, found, least) => found < least &&
            told.push(`${name}: ${what} ${element.getAttribute("class")}: ${found.toFixed(2)}`);
        for (const element of svg.querySelectorAll("path, line, rect, circle, polyline, polygon, use, text, tspan")) {
            if (element.closest("defs, clipPath")) continue;
            if (["text", "tspan"].includes(element.tagName)) {
                if (!element.textContent.trim() || element.querySelector("tspan")) continue;
                counts.texts++;
                const fill = paint(element, "fill"), box = element.getBBox(), place = element.getScreenCTM();
                let worst = Infinity;
                for (const across of [0.02, 0.25, 0.5, 0.75, 0.98]) for (const down of [0.2, 0.5, 0.8]) {
                    const point = new DOMPoint(box.x + across * box.width, box.y + down * box.height);
                    const below = beneath(point.matrixTransform(place));
                    worst = Math.min(worst, ratio(over(fill, below), below));
                }
                problem(`text "${element.textContent.trim()}"`, element, worst, 4.5);
                continue;
            }
            let styled = element, shape = element, box = element.getBBox();
            if (element.tagName === "use") {
                const target = document.getElementById(element.getAttribute("href").slice(1));
                if (/stroke-|fill-/.test(target.getAttribute("class"))) styled = target;
                if (Math.max(box.width, box.height) > MARK) {  // a band; in its place what it stands for
                    shape = target.cloneNode();
                    const [x, y] = ["x", "y"].map(key => element.getAttribute(key) || 0);
                    shape.setAttribute("transform", `translate(${x} ${y})`);
                    shape.setAttribute("visibility", "hidden");
                    element.after(shape);
                }
            }
            const stroke = paint(element, "stroke", styled), fill = paint(element, "fill", styled);
            const mark = element.matches("use, circle") && shape === element;
            const seen = [stroke, mark ? fill : null].filter(Boolean).map(one => ratio(over(one, page), page));
            if (seen.length) {
                counts.lines++;
                problem(element.tagName, element, Math.max(...seen), 3);
            }
            if (fill && !mark) {
                counts.areas++;
                areas.push({element: shape, fill, inverse: shape.getScreenCTM().inverse()});
            }
        }
    }
    return [counts, told];
}"""


def test_lines_and_texts_of_figures_stand_out(browser: Browser, address: str, site: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    told: list[str] = []
    figures = lines = texts = 0
    for path in pages(site):
        page.goto(address + path)
        settle(page)
        if not page.locator(FIGURES).count():
            continue
        be_still(page)
        if page.locator(".heat-map").count():
            page.locator(".heat-map").scroll_into_view_if_needed()
            page.locator(".heat-map svg path").first.wait_for()
        for scheme in ("light", "dark"):
            put_scheme(page, scheme)
            counts, found = page.evaluate(CONTRAST, FIGURES)
            told += [f"{path} {scheme}: {one}" for one in found]
            figures, lines, texts = figures + counts["figures"], lines + counts["lines"], texts + counts["texts"]
    page.close()
    print(f"{figures} figures, {lines} lines and marks, {texts} texts, in one scheme or the other")
    assert min(figures / 100, lines / 1000, texts / 1000) > 1
    assert not told, "\n".join(told)


BAND = '<defs><path id="b" d="M0 0h90v90z"/></defs><use href="#b" fill="#999"/>'
FAINT = {
    '<path d="M0 0L9 9" stroke="#ccc"/>': "path",
    '<path d="M0 0L9 9" stroke="#555" stroke-opacity=".3"/>': "path",
    '<g opacity=".3"><path d="M0 0L9 9" stroke="#555"/></g>': "path",
    '<circle r="2" fill="#ccc"/>': "circle",
    '<text y="20" fill="#888">a</text>': 'text "a"',
    f'{BAND}<text x="50" y="20" fill="#555">a</text>': 'text "a"',
    '<rect width="90" height="90" fill="#999"/><text y="20" fill="#555">a</text>': 'text "a"',
    '<path d="M0 0L9 9" stroke="#777" fill="none"/><rect width="9" height="9" fill="#eee"/><text y="80">a</text>': "",
}


@pytest.mark.parametrize("drawn", FAINT)
def test_what_is_faint_would_be_told(browser: Browser, drawn: str) -> None:
    page = browser.new_page()
    page.set_content(f'<svg role="img" aria-label="f" viewBox="0 0 90 90">{drawn}</svg>')
    told = page.evaluate(CONTRAST, "svg")[1]
    page.close()
    assert [one.partition(": ")[2].partition(" null")[0] for one in told] == [FAINT[drawn]] * bool(FAINT[drawn])
