"""The HTML of one evidence link, snippet, figure, table or evidence list. Whatever a snippet printed is escaped."""

from __future__ import annotations

import html
import math
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from evidence import tables
from evidence.check import Claim
from evidence.links import Link
from evidence.record import Record
from evidence.resolve import HEADING, assertions
from evidence.snippet import Snippet
from evidence_site import figures, highlighted

_PART = r"[\d.,]+(?:e[+-]?\d+)?\s?[%×]?"
# a cell that is a link, to the web or to a file of the project
LINKED = re.compile(r"\[([^\[\]]+)\]\((https?://\S+|(?!\w+:)\S+)\)")
NUMERIC = re.compile(rf"[–—]?|[~≤≥<>±+-]?\s?{_PART}(?:\s?(?:±|to|–)\s?{_PART})?")  # with a unit, a band, or none at all
LONG = 25  # rows

Stash = Callable[[str], Element]
Published = Callable[[str], str]


def code(source: str) -> str:
    """Python in a block that the keyboard can scroll."""
    return f'<div class="highlight"><pre tabindex="0"><code>{highlighted.python(source)}</code></pre></div>'


def snippet(stash: Stash, published: Published, script: Snippet, record: Record, claims: Iterable[Claim]) -> Element:
    """File name and links, code, captured output, and a block that holds the page's numbers against live variables."""
    path, name = script.rel, posixpath.basename(script.rel)
    block = Element("div", {"class": "snippet", "id": f"snippet-{posixpath.basename(script.name)}"})
    head = SubElement(block, "p", {"class": "snippet-head"})
    source = SubElement(head, "a", {"href": published(path), "class": "snippet-name", "data-done": "1"})
    source.text = name
    SubElement(
        head, "a", {"href": published(path), "download": name, "class": "snippet-download", "data-done": "1"}
    ).text = "download"
    if script.reads:
        block.append(_reads(published, script.reads))
    block.append(stash(code(script.source)))
    if record.output.strip():
        output = f"<samp>{html.escape(record.output)}</samp>"
        block.append(stash(f'<pre class="output" tabindex="0" aria-label="Output of {name}">{output}</pre>'))
    tests = [line for line, _ in assertions(claims, script.name)]
    if tests:
        whole = script.source.rstrip("\n") + f"\n\n{HEADING}\n" + "\n".join(tests) + '\nprint("all hold")\n'
        # an id of its own: the theme's copy button takes the nearest one for its target
        details = SubElement(
            block, "details", {"class": "check-yourself", "id": f"check-{posixpath.basename(script.name)}"}
        )
        SubElement(details, "summary").text = "Check it yourself"
        note = SubElement(details, "p")
        note.text = (
            f"The snippet with the {len(tests)} statements this page makes about it, as assertions; it runs alone"
            f"{', beside the files above' if script.reads else ''}."
        )
        details.append(stash(code(whole)))
    return block


def _reads(published: Published, paths: Iterable[str]) -> Element:
    """Links to the files that have to lie beside the snippet when it is run elsewhere."""
    line = Element("p", {"class": "snippet-reads"})
    line.text = "Save beside it: "
    for path in paths:
        _download(line, published, path).tail = ", "
    line[-1].tail = ""
    return line


def _download(parent: Element, published: Published, path: str) -> Element:
    """A link that saves the published file under its own name, which is its text."""
    name = posixpath.basename(path)
    link = SubElement(parent, "a", {"href": published(path), "download": name, "data-done": "1"})
    link.text = name
    return link


def figure(stash: Stash, published: Published, path: str, content: bytes, link: Link) -> Element:
    """The SVG inlined, with alt text, caption and its data."""
    block = Element("figure", {"class": "plot"})
    block.append(stash(figures.inline(content.decode("utf-8"), link.text, posixpath.basename(path)[:-4])))
    said = (link.title or "").removeprefix("diagram: ")
    caption = SubElement(block, "figcaption")
    caption.text = said + " "
    if link.title == said:
        _download(caption, published, f"{path[:-4]}.csv").text = "Data (CSV)"
    return block


def kind_of_table(count: int) -> str:
    """The class of a table of so many rows: a long one scrolls in a frame and has a filter. Its last row is `end`."""
    return "results long" if count >= LONG else "results"


def table(published: Published, path: str, rows: tables.Rows, cited: list[str], caption: str) -> Element:
    """Rows as a table that can be scrolled by keyboard; columns of numbers, with bands or units, are aligned right."""
    frame = {"class": kind_of_table(len(rows) - 1), "tabindex": "0", "role": "region", "aria-label": caption}
    block = Element("div", frame)
    made = SubElement(block, "table")
    SubElement(made, "caption").text = caption
    numeric = [all(_is_number(row[column]) for row in rows[1:]) for column in range(len(rows[0]))]
    head = SubElement(SubElement(made, "thead"), "tr")
    for column, name in enumerate(rows[0]):
        scope = {"scope": "col", **_align(numeric[column])}
        SubElement(head, "th" if name else "td", scope if name else {}).text = _as_written(name)
    body = SubElement(made, "tbody")
    stem, named = posixpath.splitext(posixpath.basename(path))[0], set[str]()
    for row in rows[1:]:
        name = re.sub(r"[^a-z0-9]+", "-", row[0].lower()).strip("-")
        address = {} if numeric[0] or path.endswith(".py") or name in named else {"id": f"{stem}-{name}"}
        named.add(name)
        line = SubElement(body, "tr", address)
        _cell(SubElement(line, "th", {"scope": "row", **_align(numeric[0])}), row[0], published)
        for column, cell in enumerate(row[1:], 1):
            _cell(SubElement(line, "td", _align(numeric[column])), cell, published)
    for line in body[-1:]:
        line.set("class", "end")
    source = SubElement(block, "p", {"class": "table-source"})
    source.text = " ".join([*cited, ""])
    _download(source, published, path)
    return block


def addresses(claims: Iterable[Claim]) -> list[str]:
    """The id of each statement of a page, in the order of the page: snippet and variable, numbered if they recur."""
    found: list[str] = []
    seen: Counter[str] = Counter()
    for claim in claims:
        path = claim.evidence.removeprefix("snippets/").partition("/")[2]
        stem = path.replace(".py#", ".").replace("/", ".").replace("#", ".")
        seen[stem] += 1
        found.append(stem if seen[stem] == 1 else f"{stem}-{seen[stem]}")
    return found


def evidence_list(published: Published, noted: Iterable[tuple[str, Claim]]) -> Element:
    """One entry a statement, in the order of the page: what was measured, how far it may be off, and where."""
    listing = Element("ol", {"class": "evidence"})
    for name, claim in noted:
        entry = SubElement(listing, "li", {"id": f"evidence:{name}"})
        body = SubElement(entry, "p")
        back = SubElement(body, "a", {"href": f"#{name}", "class": "evidence-back", "data-done": "1"})
        back.text = " ".join(claim.link.text.split()).strip("*_`")
        back.tail = f" — {_told(claim)}, "
        path, _, fragment = claim.evidence.partition("#")
        SubElement(body, "code").text = fragment
        body[-1].tail = " in "
        SubElement(body, "a", {"href": published(path), "data-done": "1"}).text = posixpath.basename(path)
    return listing


def measured_with(records: Iterable[Record]) -> Element:
    """Which versions, how many threads, which instructions: said once for the page."""
    machines = [{**record.versions, **record.machine} for record in records if "threads" in record.machine]
    told = []
    for key, name in (("python", "Python"), ("torch", "torch"), ("numpy", "numpy"), ("instructions", "instructions")):
        found = sorted({str(machine[key]) for machine in machines if key in machine})
        if found:
            told.append(f"{name} {' and '.join(found)}")
    threads = sorted({int(machine["threads"]) for machine in machines})
    told += [f"{count} thread{'s' * (count != 1)}" for count in threads]
    note = Element("p", {"class": "measured-with"})
    note.text = f"Measured with {', '.join(told)}." if told else "From transcribed sources."
    return note


def _told(claim: Claim) -> str:
    v = claim.verdict
    if v.kind == "condition":
        return "a condition the snippet computes: true"
    if v.kind in {"setting", "exact", "cited"}:
        return {"setting": "a setting", "exact": "exact", "cited": "as printed in the source"}[v.kind]
    share = f", {v.used:.0%} of it used" if v.used is not None and math.isfinite(v.used) else ""
    n = (
        f" over n={claim.link.title.split('=')[1].split()[0]} seeds"
        if v.kind == "statistical" and claim.link.title
        else ""
    )
    return f"{v.kind}{n}: measured {_digits(v.measured)}, tolerance {_digits(v.tolerance)}{share}"


def _digits(value: Any) -> str:
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def _cell(element: Element, text: str, published: Published) -> None:
    """The text of a cell, or the link that it is."""
    linked = LINKED.fullmatch(text)
    if not linked:
        element.text = _as_written(text)
        return
    target = linked[2] if "://" in linked[2] else published(linked[2].removeprefix("docs/"))
    SubElement(element, "a", {"href": target, "data-done": "1"}).text = _as_written(linked[1])


def _as_written(text: str) -> str:
    """Markdown would leave an entity such as &#57; to the browser, which shows another text than the data has."""
    return text.replace("&", "&amp;")


def _is_number(text: str) -> bool:
    return bool(NUMERIC.fullmatch(text.strip()))


def _align(numeric: bool) -> dict[str, str]:
    return {"class": "number"} if numeric else {}
