"""Lists the numerals and quantity words of a page that nothing bears out.

A numeral may stand unlinked if it is equal to a bound one of the page, printed by a snippet that the page embeds, or
of a harmless form below. Each exemption is counted by its kind, so that a growing one is seen.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evidence.check import Findings
from evidence.links import Page
from evidence.record import Record
from evidence.snippet import Snippet
from evidence.statement import Malformed, number, numerals

HARMLESS = {  # kind: forms in prose that state no result
    "year": r"\b(?:19|20)\d\d\b(?!\s?[%×])",
    "reference": r"(?i:\b(?:sections?|chapters?|tables?|figures?|fig\.|eqs?\.|equations?|lemmas?|theorems?|propositions?|"
    r"corollary|appendix|claims?|exercises?|algorithm|pages?|volume|steps?)[\s ]+)(?:[A-Z]?\(?\d+(?:\.\d+)*\)?[a-z]?"
    r"(?:\s?(?:,|–|-|and|to)\s?)?)+",
    "arXiv": r"(?:arXiv:\s?)?\b\d{4}\.\d{4,5}(?:v\d+)?\b",
    "version": r"(?i:\b(?:python|pytorch|torch|numpy|matplotlib|transformers|mkdocs|version|opset|cuda|wcag)[\s ]+)\d+(?:\.\d+)*",
    "name": r"\b(?:GPT|BERT|LLaMA|Llama|OLMo|Gemma|Qwen|Phi|GLM|ViT|ResNet|Swin|DeepSeek|Falcon|Mistral|Kimi K|EXAONE|"
    r"StarCoder|Granite|Nemotron|CIFAR|WMT|IWSLT|Apache|CC BY|MIT)[\s -]?v?\d+(?:\.\d+)*\w*|\b(?:8|16|32|64)-bit\b",
    "list": r"^[ \t>]*\d+\.(?=\s)",
    "heading": r"^#+\s+\d+(?:\.\d+)*(?=\s)",
    "word": r"\b[Ff]irst(?:,|-order|-class)|\bat first\b",
}
MARKUP = re.compile(r"\{:?\s*[#.][^}\n]*\}|<[^<>\n]+>|https?://\S+")
WORDS = re.compile(
    r"\b(?:half|halves|halved|twice|thrice|doubl(?:e|es|ed|ing)|tripl(?:e|es|ed|ing)|quarter|\w+fold|never|always|every|"
    r"none|first|(?:two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million) "
    r"(?:times|thirds|fifths|percent|orders|hundred|thousand|million)|(?:dozens|hundreds|thousands|millions|billions))\b",
    re.I,
)
NOT_FOLD = re.compile(r"(?i)^(?:unfold|scaffold|manifold|blindfold|fold|folded)$")
SCRIPTS = re.compile(r"[_^](?:\{[^{}]*\}|\\?\w+)")
STRUCTURE = {0.0, 1.0, 2.0, -1.0, -2.0}  # what formulas and indices are built of


@dataclass(frozen=True)
class Bare:
    """An unbound numeral or quantity word, as written, with where it stands."""

    page: str
    line: int
    text: str

    def to_json(self) -> dict[str, Any]:
        return {"page": self.page, "line": self.line, "text": self.text}


def unbound(
    found: Findings, snippets: Mapping[str, Snippet], records: Mapping[str, Record]
) -> tuple[list[Bare], Counter[str]]:
    """Everything unbound on all pages and in all snippet comments, and the exemptions by kind."""
    exempt: Counter[str] = Counter()
    left: list[Bare] = []
    for page in found.pages.values():
        left += _page(page, found, snippets, records, exempt)
    for name, script in snippets.items():
        left += _comments(script, records.get(name), exempt)
    return left, exempt


def _page(
    page: Page,
    found: Findings,
    snippets: Mapping[str, Snippet],
    records: Mapping[str, Record],
    exempt: Counter[str],
) -> Iterator[Bare]:
    bound = {value for claim in found.of(page.path) for value in _values(claim.link.text)}
    shown = [link.path.removeprefix("snippets/")[:-3] for link in page.links if link.role == "snippet" and link.path]
    printed = {value for name in shown if name in records for value in _values(records[name].output)}
    source = {value for name in shown if name in snippets for value in _literals(snippets[name].source)}
    settings = {float(v) for name in shown if name in records for v in records[name].values.values() if _is_number(v)}

    def judge(text: str, value: float, structural: bool, code: bool) -> str | None:
        if value in bound:
            return "equal to a bound one"
        if structural and value in STRUCTURE:
            return "structure"
        if value in printed and (code or len(re.sub(r"\D", "", text)) > 1):
            return "printed by the page's snippet"
        if code and (value in settings or value in source):
            return "setting"
        return None

    text = MARKUP.sub(lambda m: " " * len(m[0]), page.prose)
    for kind, pattern in HARMLESS.items():
        text, count = re.subn(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.M)
        exempt[kind] += count
    places = [(0, text, False, False)]
    places += [(start, SCRIPTS.sub(lambda m: " " * len(m[0]), code), True, False) for start, code in page.formulas]
    places += [(start, code, True, True) for start, code in page.code_spans]
    spans = [range(link.start, link.end) for link in page.links if link.role in {"statement", "definition"}]
    for offset, part, structural, code in places:
        if offset and any(offset in span for span in spans):
            continue  # the text of an evidence link is judged as a whole
        for match in numerals(part):
            value = next(iter(_values(match[0])), None)
            why = judge(match[0], value, structural, code) if value is not None else None
            if why:
                exempt[why] += 1
            else:
                yield Bare(page.path, page.line(offset + match.start()), match[0])
    for match in WORDS.finditer(text):
        if not NOT_FOLD.match(match[0]):
            yield Bare(page.path, page.line(match.start()), match[0])


def _comments(script: Snippet, record: Record | None, exempt: Counter[str]) -> Iterator[Bare]:
    """A comment may repeat what its own code or output says, and nothing else."""
    known = _literals(script.source) | STRUCTURE
    if record:
        known |= _values(record.output) | {float(v) for v in record.values.values() if _is_number(v)}
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(script.source).readline))
    except (tokenize.TokenError, SyntaxError):
        return  # said by the snippet's own problems
    for token in tokens:
        if token.type != tokenize.COMMENT or re.match(
            r"# (?:limits|reads|requires):|# (?:type|noqa|ruff)", token.string
        ):
            continue
        text = token.string
        for pattern in HARMLESS.values():
            text = re.sub(pattern, "", text)
        for match in numerals(text):
            if _values(match[0]) <= known:
                exempt["repeats its own code"] += 1
            else:
                yield Bare(script.rel, token.start[0], match[0])
        for word in WORDS.finditer(text):
            if not NOT_FOLD.match(word[0]):
                yield Bare(script.rel, token.start[0], word[0])


def _values(text: str) -> set[float]:
    found = set()
    for match in numerals(text):
        try:
            tail = re.match(r"\s?%", text[match.end() :])
            found.add(number(match[0] + (tail[0] if tail else "")).value)
            found.add(number(match[0]).value)
        except Malformed:
            continue
    return found


def _literals(source: str) -> set[float]:
    """The numbers written in the code itself, its comments left out."""
    found: set[float] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NUMBER:
                found.add(float(token.string.replace("_", "")))
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
