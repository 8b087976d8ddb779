"""A Python-Markdown extension: renders evidence links, embedded snippets, figures and tables.

It works from the page's text alone, so it needs no plugin of a particular site generator. Links in the source must
equal links rendered, one by one; a difference fails the build.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from functools import cache
from html import unescape
from typing import Any
from xml.etree import ElementTree

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from math_core import LatexError, LatexToMathML

from evidence import check, tables
from evidence.links import FRONT_MATTER, Link, Page
from evidence.project import Problem, Refusal, find
from evidence.record import Record
from evidence.snippet import Snippet, name_of
from evidence.statement import lookup
from evidence_site import html

NEGATIVE_SPACE = re.compile(r'<mspace style="[^"]*"(?:/>|></mspace>)')  # \\!: only fine tuning, and an inline style

STYLE = re.compile(r' style="([^"]*)"')
CELLS = {"text-align: right": "cell-right", "text-align: left": "cell-left", "padding-left:1em": "cell-gap"}

State = tuple[dict[str, Snippet], dict[str, Record], check.Findings]


class Current:
    """What pages are rendered from: set by whoever builds, else the project as it is committed."""

    state: State | None = None
    refused: list[Problem] | None = None  # a server collects problems here; without it they raise

    _pages: tuple[check.Findings, dict[str, Page]] | None = None

    @classmethod
    def page(cls, body: str) -> Page | None:
        """The page with this text; Markdown is not told its name."""
        found = cls.get()[2]
        if cls._pages is None or cls._pages[0] is not found:
            cls._pages = found, {_body(page.text): page for page in reversed(found.pages.values())}
        return cls._pages[1].get(body)

    @classmethod
    def get(cls) -> State:
        if cls.state is None:
            cls.state = check.load(find())
        return cls.state


@cache
def _latex() -> LatexToMathML:
    return LatexToMathML(fancy_error=False)


def _classes(style: re.Match[str]) -> str:
    """Inline styles of aligned cells as classes: the site's policy forbids inline styles."""
    return f' class="{" ".join(name for part, name in CELLS.items() if part in style[1])}"'


def _body(text: str) -> str:
    return FRONT_MATTER.sub("", text).strip()


class _Remember(Preprocessor):
    """Keeps the page's text as it came, before any other extension touches it."""

    def run(self, lines: list[str]) -> list[str]:
        self.md.evidence_source = "\n".join(lines)  # type: ignore[attr-defined]
        return lines


class _Render(Treeprocessor):
    def run(self, root: ElementTree.Element) -> None:
        source = _body(self.md.evidence_source)  # type: ignore[attr-defined]
        snippets, records, found = Current.get()
        page = Current.page(source) or Page("docs/unknown.md", source)
        try:
            _Rendering(self.md, page, snippets, records, found).run(root)
        except Refusal as refusal:
            if Current.refused is None:
                raise
            Current.refused += refusal.problems


class _Rendering:
    """The rendering of one page."""

    def __init__(
        self,
        md: Markdown,
        page: Page,
        snippets: dict[str, Snippet],
        records: dict[str, Record],
        found: check.Findings,
    ) -> None:
        self.md, self.page, self.snippets, self.records = md, page, snippets, records
        self.claims = found.of(page.path)
        self.names = {id(claim): name for claim, name in zip(self.claims, html.addresses(self.claims), strict=True)}
        self.rendered: list[str] = []
        self.noted: list[tuple[str, check.Claim]] = []

    def run(self, root: ElementTree.Element) -> None:
        for parent in list(root.iter()):
            for child in list(parent):
                if (
                    child.tag == "p"
                    and len(child) == 1
                    and not (child.text or "").strip()
                    and not (child[0].tail or "").strip()
                ):
                    self._block(parent, child, child[0])
        for anchor in list(root.iter("a")):
            self._inline(anchor)
        formulas = [element for element in root.iter() if "arithmatex" in (element.get("class") or "").split()]
        if len(formulas) != len(self.page.formulas):
            told = f"{len(self.page.formulas)} formulas in the source, {len(formulas)} rendered"
            raise Refusal([Problem(self.page.path, 0, told)])
        for element in formulas:
            self._formula(element)
        expected = sorted(link.target for link in self.page.links if link.role not in {"plain", "definition"})
        if sorted(self.rendered) != expected:
            lost = [target for target in expected if self.rendered.count(target) != expected.count(target)]
            extra = [target for target in self.rendered if target not in expected]
            line = next((link.line for link in self.page.links if link.target in lost), 0)
            raise Refusal([Problem(self.page.path, line, f"did not render as a link: {', '.join(lost or extra)}")])
        if self.noted:
            self._evidence_list(root)

    def _path(self, target: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.page.path), target.partition("#")[0]))

    def _published(self, path: str) -> str:
        """A file below snippets/, as a link of this page to the published copy of it (docs/ is the site's root)."""
        if path.startswith("snippets/lab/") and path.endswith(".py"):
            path = path.removeprefix("snippets/")  # the page that the lab is
        return posixpath.relpath(path, posixpath.dirname(self.page.path.removeprefix("docs/")) or ".")

    def _block(self, parent: ElementTree.Element, paragraph: ElementTree.Element, only: ElementTree.Element) -> None:
        target = only.get("href" if only.tag == "a" else "src") or ""
        path = self._path(target)
        if not path.startswith("snippets/") or "://" in target:
            return
        link = next((link for link in self.page.links if link.target == target and link.alone), None)
        if link is None or link.role not in {"snippet", "figure", "table"}:
            return
        folder = name_of(path if path.endswith(".py") else posixpath.dirname(path))
        if folder not in self.records and not (link.role == "table" and (find().root / path).is_file()):
            return  # said by the check; while serving it stays a link
        self.rendered.append(target)
        build: Callable[[], ElementTree.Element] = {
            "snippet": lambda: html.snippet(
                self.stash, self._published, self.snippet(path), self.record(path), self.claims
            ),
            "figure": lambda: html.figure(self.stash, self._published, path, self.file(path), link),
            "table": lambda: html.table(self._published, path, *self.rows(path, link), caption=link.text),
        }[link.role]
        block = build()
        block.tail = paragraph.tail
        parent[list(parent).index(paragraph)] = block

    def _inline(self, anchor: ElementTree.Element) -> None:
        target = anchor.get("href") or ""
        path = self._path(target)
        if "://" in target or not path.startswith("snippets/") or anchor.get("data-done"):
            anchor.attrib.pop("data-done", None)
            return
        self.rendered.append(target)
        claim = next(
            (c for c in self.claims if c.link.target == target and c not in [seen for _, seen in self.noted]),
            None,
        )
        if claim is None:
            anchor.set("href", self._published(path))
            return
        name = self.names[id(claim)]
        self.noted.append((name, claim))
        anchor.attrib.clear()
        refuted = "" if claim.verdict.holds else " refuted"
        anchor.attrib.update(
            {
                "class": f"stated footnote-ref stated-{claim.verdict.kind}{refuted}",
                "id": name,
                "href": f"#evidence:{name}",
            }
        )

    def _formula(self, element: ElementTree.Element) -> None:
        """LaTeX, as pymdownx.arithmatex found it, to MathML: nothing to load, and a screen reader can say it."""
        text = (element.text or "").strip()
        latex, display = unescape(text[2:-2].strip()), element.tag == "div"
        try:
            mathml = _latex().convert_with_local_state(latex, displaystyle=display)
        except LatexError as error:
            at = next((start for start, formula in self.page.formulas if formula.strip() == latex), 0)
            raise Refusal([Problem(self.page.path, self.page.line(at), f"{latex}: {error}")]) from None
        mathml = STYLE.sub(_classes, NEGATIVE_SPACE.sub("", mathml))
        tail = element.tail
        element.clear()
        element.set("class", "formula")
        if display:
            element.attrib.update({"tabindex": "0", "role": "group", "aria-label": "Formula"})
        element.text, element.tail = self.md.htmlStash.store(mathml), tail

    def _evidence_list(self, root: ElementTree.Element) -> None:
        heading = ElementTree.SubElement(root, "h2", {"id": "evidence", "data-search-exclude": ""})
        heading.text = "Evidence"
        names = {name_of(claim.source) for _, claim in self.noted}
        root.append(html.measured_with(self.records[name] for name in sorted(names) if name in self.records))
        root.append(html.evidence_list(self._published, self.noted))

    def stash(self, text: str) -> ElementTree.Element:
        """Finished HTML as a placeholder that no later step rewrites."""
        holder = ElementTree.Element("p")
        holder.text = self.md.htmlStash.store(text)
        return holder

    def snippet(self, path: str) -> Snippet:
        return self.snippets[name_of(path)]

    def record(self, path: str) -> Record:
        return self.records[name_of(path)]

    def rows(self, path: str, link: Link) -> tuple[tables.Rows, list[str]]:
        """Head and rows of a table, and the lines that cite its source."""
        if path.endswith(".py"):
            value, _ = lookup(dict(self.record(path).values), link.fragment)
            return tables.of_value(value, tables.heads(link.title)), []
        text = self.file(path).decode("utf-8-sig")
        return tables.chosen(tables.of_csv(text), tables.heads(link.title)), tables.citation(text)

    def file(self, path: str) -> bytes:
        folder, name = posixpath.split(path.removeprefix("snippets/"))
        if folder in self.records:
            return self.records[folder].files[name]
        return (find().root / path).read_bytes()


class EvidenceExtension(Extension):
    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Python-Markdown's name
        md.preprocessors.register(_Remember(md), "evidence_remember", 100)
        # after inline patterns (20) have made the links, before MkDocs (0) resolves them
        md.treeprocessors.register(_Render(md), "evidence_render", 15)


def makeExtension(**options: Any) -> EvidenceExtension:  # noqa: N802 - Python-Markdown's name
    return EvidenceExtension(**options)
