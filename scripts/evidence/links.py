"""Reads a page: its evidence links, its fences, and what is left as prose.

Deliberately a scanner of text and not a Markdown parser: it sees what is indented, boxed or folded as well, and the
renderer must agree with it link by link (an unrendered `](` fails the build).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

LINK = re.compile(
    r"(?<!\\)(?P<image>!?)\[(?P<text>(?:[^\[\]\\\n]|\\.|\n(?!\s*\n))*)\]"
    r"\(\s*(?P<target>[^()\s<>\"]+)(?:\s+\"(?P<title>(?:[^\"\\\n]|\\.|\n(?!\s*\n))*)\")?\s*\)"
)
FENCE = re.compile(r"^(?P<indent>[ \t>]*)(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>[^\n]*)$")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
CODE = re.compile(r"(?<![`\\])(?P<ticks>`+)(?!`)(?P<code>(?:[^\n]|\n(?!\s*\n))+?)(?<!`)(?P=ticks)(?!`)")
COMMENT_OR_CODE = re.compile(rf"{COMMENT.pattern}|{CODE.pattern}", re.DOTALL)
FORMULA = re.compile(
    r"(?<![\\$])\$\$((?:[^\n]|\n(?!\s*\n))+?)\$\$|(?<![\\$\w])\$(?!\s)((?:[^$\\\n]|\\.|\n(?!\s*\n))+?)(?<!\s)\$(?![\w$])"
)
PYTHON = re.compile(r"i?py(?:thon)?\d*|pycon\d*|pytb|repl")
BOX = re.compile(r"[ \t>]*(?:(?:!!!|\?\?\?\+?|===[!+]?) .*)?")  # a blank line, or what opens an indented box
ILLUSTRATION = re.compile(r"<!--\s*illustration:\s*(.*?)\s*-->", re.DOTALL)


@dataclass(frozen=True)
class Link:
    """One Markdown link or image. `alone` means that its paragraph holds nothing else, so it embeds its target."""

    page: str
    line: int
    start: int
    end: int
    text: str
    target: str
    title: str | None
    image: bool
    alone: bool

    @property
    def path(self) -> str | None:
        """The target's path relative to the project; None if it has a scheme or is only a fragment."""
        bare = self.target.partition("#")[0]
        if not bare or re.match(r"[a-z][a-z0-9+.-]*:|/", bare, re.IGNORECASE):
            return None
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.page), bare))

    @property
    def fragment(self) -> str:
        return self.target.partition("#")[2]

    @property
    def role(self) -> str:
        """What the link is to the engine: statement, snippet, figure, table, file, definition or plain."""
        path = self.path
        if path is None or not path.startswith("snippets/"):
            return "definition" if (self.title or "").startswith("definition") else "plain"
        if self.image:
            return "figure"
        if self.alone and (self.title or "").split(":")[0] == "table":
            return "table"
        if self.fragment:
            return "statement"
        return "snippet" if self.alone and path.endswith(".py") else "file"


@dataclass(frozen=True)
class Fence:
    """A fenced block: `line` is the opening fence's, `code` the dedented content, `reason` that of an illustration."""

    line: int
    end: int
    info: str
    marks: str
    code: str
    indent: str
    reason: str | None

    @property
    def looks_python(self) -> bool:
        """True for anything a reader would take for Python, whether pytest-codeblocks collects it or not."""
        words = re.split(r"[\s{}.,=-]+", self.info.strip().lower())
        return any(PYTHON.fullmatch(word) for word in words)

    @property
    def collected(self) -> bool:
        """True if pytest-codeblocks takes it: backticks, and exactly `python` as the whole info string."""
        return self.marks[0] == "`" and self.info == "python"

    @property
    def session(self) -> bool:
        """True for Python with its output between the lines, which is no code to run."""
        return re.search(r"pycon|pytb|repl", self.info.lower()) is not None


@dataclass(frozen=True)
class Page:
    """A page's text, and what the scanner finds in it. `path` is relative to the project."""

    path: str
    text: str

    def line(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    @cached_property
    def fences(self) -> list[Fence]:
        found: list[Fence] = []
        lines = self.text.split("\n")
        number = 0
        while number < len(lines):
            opening = FENCE.match(lines[number])
            if not opening or (opening["marks"][0] == "`" and "`" in opening["info"]):
                number += 1
                continue
            marks, first = opening["marks"], number
            number += 1
            body = []
            while number < len(lines):
                closing = FENCE.match(lines[number])
                if closing and not closing["info"].strip() and closing["marks"].startswith(marks):
                    break
                body.append(lines[number])
                number += 1
            indent = opening["indent"]
            code = "\n".join(line.removeprefix(indent) for line in body) + "\n"
            before = "\n".join(lines[max(0, first - 4) : first]).rstrip()
            reason = next((m[1] for m in ILLUSTRATION.finditer(before) if m.end() == len(before)), None)
            found.append(Fence(first + 1, number + 1, opening["info"], marks, code, indent, reason))
            number += 1
        return found

    @cached_property
    def _parts(self) -> tuple[str, list[tuple[int, str]], list[tuple[int, str]]]:
        """The text with fences, comments, code spans and formulas blanked; the code spans; the formulas."""
        text = self._masked_blocks
        codes: list[tuple[int, str]] = []
        formulas: list[tuple[int, str]] = []

        def take(into: list[tuple[int, str]], match: re.Match[str], group: int | str) -> str:
            into.append((match.start(group), match[group]))
            return _blank(match)

        text = CODE.sub(lambda m: take(codes, m, "code"), text)
        text = FORMULA.sub(lambda m: take(formulas, m, 1 if m[1] else 2), text)
        return text, codes, formulas

    @property
    def code_spans(self) -> list[tuple[int, str]]:
        return self._parts[1]

    @property
    def formulas(self) -> list[tuple[int, str]]:
        return self._parts[2]

    @cached_property
    def links(self) -> list[Link]:
        # a code span may stand inside a link's text, so links are looked for before code spans are blanked,
        # and those that begin inside a code span or a formula (where a page shows the grammar) are left out
        text = self._masked_blocks
        opaque = [(start, start + len(span)) for start, span in self.code_spans + self.formulas]
        return [link for link in self._scan(text) if not any(start <= link.start < end for start, end in opaque)]

    @cached_property
    def _masked_blocks(self) -> str:
        lines = self.text.split("\n")
        for fence in self.fences:
            for number in range(fence.line - 1, min(fence.end, len(lines))):
                lines[number] = " " * len(lines[number])
        return COMMENT_OR_CODE.sub(lambda match: match[0] if match["ticks"] else _blank(match), "\n".join(lines))

    def _scan(self, text: str) -> Iterator[Link]:
        for match in LINK.finditer(text):
            yield Link(
                page=self.path,
                line=self.line(match.start()),
                start=match.start(),
                end=match.end(),
                text=match["text"],
                target=match["target"],
                title=None if match["title"] is None else re.sub(r"\\(.)", r"\1", match["title"]),
                image=bool(match["image"]),
                alone=_alone(text, match.start(), match.end()),
            )

    @cached_property
    def prose(self) -> str:
        """The text with the same offsets, where fences, comments, code spans, formulas, link targets and the texts
        of evidence links are blanked: what is left is what must hold no bare number. Alt texts and titles stay."""
        text = self._parts[0]
        for link in self.links:
            if link.role in {"statement", "definition"}:
                text = text[: link.start] + _spaces(text[link.start : link.end]) + text[link.end :]
                continue
            inner = link.start + len("![" if link.image else "[") + len(link.text)
            blanked = _spaces(text[inner : link.end])
            match = LINK.match(self._masked_blocks, link.start)
            if match and match["title"]:  # a caption or a tooltip is read by people
                first, last = (offset - inner for offset in match.span("title"))
                blanked = blanked[:first] + text[inner + first : inner + last] + blanked[last:]
            text = text[:inner] + blanked + text[link.end :]
        return text


def _alone(text: str, start: int, end: int) -> bool:
    before = text[:start].rsplit("\n", 2)[-2:]
    after = text[end:].split("\n", 2)[:2]
    blank = re.compile(r"[ \t>]*")
    return (
        bool(blank.fullmatch(before[-1]))
        and not after[0].strip()
        and (len(before) < 2 or bool(BOX.fullmatch(before[0])))
        and (len(after) < 2 or bool(blank.fullmatch(after[1])))
    )


def _spaces(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _blank(match: re.Match[str]) -> str:
    return _spaces(match[0])
