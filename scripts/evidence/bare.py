"""Lists the numerals and quantity words of a page that nothing bears out.

A numeral may stand unlinked if it is equal to a bound one of the page, printed by a snippet that the page embeds,
marked as a quotation of the article (`<q>`, as the ledger has it), or of a harmless form below. Each exemption is
counted by its kind, so that a growing one is seen.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evidence.check import Claim, Findings
from evidence.links import FRONT_MATTER, Page
from evidence.record import Record
from evidence.snippet import Snippet, name_of
from evidence.statement import PERCENT, Malformed, number, numerals

_PLACES = (
    r"sections|chapters|tables|figures|figs\.|eqs\.|equations|lemmas|theorems|propositions|corollaries|claims|exercises|"
    r"pages|pp\.|steps(?=\s\d\b(?![.,]\d))"
)
_PLACE = (
    r"section|chapter|table|figure|fig\.|eq\.|equation|lemma|theorem|proposition|corollary|claim|exercise|page|p\.|appendix|"
    r"algorithm|volume|step(?=\s\d\b(?![.,]\d))"
)
_REFERENCE = r"[A-Z]?\(?(?!0\.)\d+(?:\.\d+)*\)?(?:[a-z]\b|\([a-z]\))?(?![\d%×]|[.,]\d|\s[%×]|\s?per\s?cent)"
HARMLESS = {  # kind: forms in prose that state no result
    "arXiv": r"arXiv:\s?\b(?<![\d.,])(?:0[7-9]|[12]\d)(?:0[1-9]|1[0-2])\.\d{4,5}(?:v\d+)?\b(?!\.\d)",
    "year": r"(?<![\d.,$])\b(?:19[5-9]\d|20[0-3]\d)(?![\d%×]|[.,]\d|\s[%×]|-[a-z]|x\b|"
    r"\s+(?:by|x|of)\b|\s+(?!(?:was|has|is|as|its|this|thus|does|uses|shows|gives)\b)[a-z]+s\b)",
    "reference": rf"(?i:\b(?:{_PLACES})\s){_REFERENCE}(?:(?:,\s|\s?[–-]\s?|,?\s(?:and|to)\s){_REFERENCE})*|"
    rf"(?:(?i:\b(?:{_PLACE})\s)|§\s?){_REFERENCE}",
    "version": r"(?i:\b(?:pytorch|torch|numpy|matplotlib|transformers|mkdocs|version|wcag)\s)\d+(?:\.\d+)+|"
    r"(?i:\b(?:python|opset|cuda|version)\s)\d+(?:\.\d+)*|[=><~]=\s?\d+(?:\.\d+){2,}",
    "name": r"\b(?:GPT|BERT|LLaMA|Llama|OLMo|Gemma|Qwen|Phi|GLM|ViT|ResNet|Swin|DeepSeek|Falcon|Mistral|Kimi|EXAONE|"
    r"StarCoder|Granite|Nemotron|CIFAR|WMT|IWSLT|Apache|CC BY|MIT)(?:-?v?\d+(?:\.\d+)*\w*|"
    r"\s[vK]?\d(?:\.\d)?(?![\d%×]|[.,]\d|\s[%×])|(?<=WMT|MIT)\s?\d\d\b)|"
    r"\b(?:8|16|32|64)-bit\b|(?<![\w.])[1-4]-?D\b|(?<=[A-Z][-‑])\d+(?:\.\d+)*\w*",
    "percentile": r"\b\d+(?:th|st|nd|rd)(?: (?:to|and) \d+(?:th|st|nd|rd))? percentiles?\b",
    "heading": r"^#+\s+[1-9]\d?(?:\.[1-9]\d?)*\.(?=\s)",
    "word": r"\b[Ff]irst(?:,|-order|-class)|\bat first\b|\b(?:[Hh]alf|[Dd]ouble)[ -]precision\b|\b[Dd]ouble-check",
}
MARKUP = re.compile(
    r"\{:?(?:\s*(?:[#.][A-Za-z][\w:.-]*|[\w-]+=\"[^\"\n]*\"))+\s*\}|</?[A-Za-z][\w:-]*(?:\s[^<>]*)?/?>|<?https?://[^\s<>]+>?|\[\^(?:\d\d?|[A-Za-z][\w-]*)\]:?|\b10\.\d{4,9}/\S+"
)
QUOTED = re.compile(r"<q>([^<]*)</q>")
SHOWN = re.compile(r"\b(?:alt|title|label|aria-label|placeholder|content|data-caption)\s*=\s*(?:\"[^\"]*\"|'[^']*')")
TARGET = re.compile(r"(?<=\])\((?:[^()\"\n]|\"[^\"\n]*\")*\)")
UNREAD = re.compile(r"^(?!title:|description:).*$", re.MULTILINE)  # of the front matter
LISTED = re.compile(r"^(?P<indent>[ \t>]*)(?P<number>\d+)[.)](?=\s)", re.MULTILINE)
_SMALL = "one|two|three|four|five|six|seven|eight|nine|ten"
_BIG = (
    "eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|"
    rf"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-(?:{_SMALL}))?"
)
_SCALE = "dozens?|hundreds?|thousands?|millions?|billions?|trillions?"
_PART = "half|third|quarter|fifth|sixth|seventh|eighth|ninth|tenth|hundredth|thousandth|millionth"
WORDS = re.compile(
    rf"\b(?:(?:{_SMALL}|{_BIG}|{_SCALE})[\s-]+(?:times|fold|(?:{_PART})s?|per\s?cent|orders?\s+of\s+magnitude)|"
    rf"an?\s+(?:{_PART})(?=\s+(?:of|as|the|to|less|more)\b|\s*[,.;:)]|\s*$)|"
    rf"(?:zero|{_SMALL}|{_BIG})\s+point(?:\s+(?:zero|oh|{_SMALL}))+|"
    rf"(?:{_SMALL})\s+(?:in|out\s+of)\s+(?:{_SMALL}|{_BIG}|(?:a\s+)?(?:{_SCALE}))|{_BIG}|{_SCALE}|"
    r"half|halves|halved|halving|twice|thrice|doubl(?:e|es|ed|ing)|(?:tripl|quadrupl)(?:e|es|ed|ing)|quarters?|"
    r"\w+fold|orders?\s+of\s+magnitude|never|always|every|none|first)\b|"
    r"\d*[¼-¾⅐-⅞↉]|[①-⓿❶-➓]|(?<![\w)\]{}⁺⁻₊₋])[₀-₉]+|(?<![\w)\]}⁺⁻])[⁰¹²³⁴-⁹]+(?!\w)|&#?\w*\d\w*;|&#\w*\d\w*|&half;|(?<=[a-z.]\.)\d[\d.]*",
    re.IGNORECASE | re.MULTILINE,
)
NOT_FOLD = re.compile(r"(?i)^(?:unfold|scaffold|manifold|blindfold|fold|folded)$")
SCRIPTS = re.compile(r"(?<!\d)(?:_\{[^{}.]*\}|\^\{[^{}]*\}|[_^]\\?\w+)")
TOKENS = re.compile(  # of Python; the standard library's tokenizer takes as long as all the rest of a check
    r"(?P<text>\"\"\"(?:[^\\]|\\.)*?\"\"\"|\'\'\'(?:[^\\]|\\.)*?\'\'\'|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')|"
    r"(?P<comment>#[^\n]*)|(?<![\w.])(?P<number>(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?)(?!\w)",
    re.DOTALL,
)
ASIDE = re.compile(r"# (?:(?:limits|reads|requires|timed):|type|noqa|ruff)")  # comments for machines
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
        known = STRUCTURE.copy()
        if name in records:
            known |= _values(records[name].output)
            known |= {float(value) for value in records[name].values.values() if _is_number(value)}
        left += _comments(script.source, script.rel, 0, known, exempt)
    return left, exempt


def _page(
    page: Page,
    found: Findings,
    snippets: Mapping[str, Snippet],
    records: Mapping[str, Record],
    exempt: Counter[str],
) -> Iterator[Bare]:
    claims = found.of(page.path)
    bound = {_read(c.link.text, m)[0] for c in claims if c.verdict.kind != "condition" for m in numerals(c.link.text)}
    bound |= {float(len(seeds)) for c in claims if c.verdict.kind == "statistical" and (seeds := _seeds(c, records))}
    shown = [name_of(link.path) for link in page.links if link.role == "snippet" and link.path]
    printed = {value for name in shown if name in records for value in _values(records[name].output)}
    source = {value for name in shown if name in snippets for value in _literals(snippets[name].source)}
    settings = {float(v) for name in shown if name in records for v in records[name].values.values() if _is_number(v)}

    def judge(part: str, match: re.Match[str], structural: bool, code: bool) -> str | None:
        stated, *other = values = _read(part, match)
        if stated in bound:
            return "equal to a bound one"
        if structural and stated in STRUCTURE and not other:
            return "structure"
        if printed.intersection(values) and (code or len(re.sub(r"\D", "", match[0])) > 1):
            return "printed by the page's snippet"
        if code and (settings | source).intersection(values):
            return "setting"
        return None

    def quoted(match: re.Match[str]) -> str:
        known = " ".join(match[1].split()) in found.quotable
        exempt["quoted from the article"] += known
        return _blank(match) if known else match[0]

    text = QUOTED.sub(quoted, page.prose)
    text = MARKUP.sub(_markup, FRONT_MATTER.sub(lambda head: UNREAD.sub(_blank, head[0]), text))
    text = _harmless(text, exempt)
    places = [(0, text, False, False)]
    places += [(start, SCRIPTS.sub(_blank, code), True, False) for start, code in page.formulas]
    places += [(start, code, True, True) for start, code in page.code_spans]
    spans = [range(link.start, link.end) for link in page.links if link.role in {"statement", "definition"}]
    places = [place for place in places if not place[0] or not any(place[0] in span for span in spans)]
    # the text of an evidence link was judged as a whole, but a condition is true or false and vouches for no digits
    places += [(c.link.start + 1, c.link.text, False, False) for c in claims if c.verdict.kind == "condition"]
    lines = page.text.split("\n")
    for fence in page.fences:
        body = TARGET.sub(_blank, "\n".join(lines[fence.line : fence.end - 1]))
        if fence.reason:
            exempt["illustration"] += len(numerals(body))
        elif fence.looks_python and not fence.session:
            yield from _comments(fence.code, page.path, fence.line, bound | printed | STRUCTURE, exempt)
        else:
            places.append((sum(len(line) + 1 for line in lines[: fence.line]), _harmless(body, exempt), True, True))
    for offset, part, structural, code in places:
        for match in numerals(part):
            why = judge(part, match, structural, code)
            if why:
                exempt[why] += 1
            else:
                yield Bare(page.path, page.line(offset + match.start()), match[0])
    for offset, part in [(0, text), *page.formulas]:
        for match in WORDS.finditer(part):
            if not NOT_FOLD.match(match[0]):
                yield Bare(page.path, page.line(offset + match.start()), match[0])


def _seeds(claim: Claim, records: Mapping[str, Record]) -> list[Any]:
    """The seeds behind a statistical statement: how many they are is checked with it, so prose may say it."""
    name = name_of(claim.source)
    seeds = records[name].values.get("seeds") if name in records else None
    return seeds if isinstance(seeds, list) else []


def _comments(source: str, path: str, line: int, known: set[float], exempt: Counter[str]) -> Iterator[Bare]:
    """A comment may repeat what its own code or output says, and nothing else. `line` is that above the source."""
    known = known | _literals(source)
    comments = [match for match in TOKENS.finditer(source) if match["comment"] and not ASIDE.match(match[0])]
    texts = {match["text"] for match in TOKENS.finditer(source) if match["text"]}
    told = "\n".join(match[0] for match in comments)
    told = re.sub(r'"[^"\n]*"', lambda m: _blank(m) if m[0] in texts else m[0], told)  # names a text of the code
    text = _harmless(told, exempt)

    def place(match: re.Match[str]) -> int:
        comment = comments[text.count("\n", 0, match.start())]
        return line + 1 + source.count("\n", 0, comment.start())

    for match in numerals(text):
        if known.intersection(_read(text, match)):
            exempt["repeats its own code"] += 1
        else:
            yield Bare(path, place(match), match[0])
    for word in WORDS.finditer(text):
        if not NOT_FOLD.match(word[0]):
            yield Bare(path, place(word), word[0])


def _harmless(text: str, exempt: Counter[str]) -> str:
    """The text with its harmless forms blanked; each is counted."""
    last: dict[str, int] = {}

    def item(match: re.Match[str]) -> str:
        number, before = int(match["number"]), last.get(match["indent"])
        if number not in {1, before and before + 1}:
            return match[0]  # the last word of a sentence, not the number of a list item
        last[match["indent"]] = number
        exempt["list"] += 1
        return _blank(match)

    text = LISTED.sub(item, text)
    for kind, pattern in HARMLESS.items():
        text, count = re.subn(pattern, _blank, text, flags=re.MULTILINE)
        exempt[kind] += count
    return text


def _markup(match: re.Match[str]) -> str:
    """Blank, but for the attributes that people read or hear."""
    blanked = _blank(match)
    for shown in SHOWN.finditer(match[0]):
        blanked = blanked[: shown.start()] + shown[0] + blanked[shown.end() :]
    return blanked


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _read(text: str, match: re.Match[str]) -> tuple[float, ...]:
    """The value a numeral of `text` states; after a %, also the digits alone, as a snippet may have printed them."""
    found = []
    tail = PERCENT.match(text, match.end())
    for said in [match[0] + tail[0], match[0]] if tail else [match[0]]:
        try:
            found.append(number(said).value)
        except Malformed:
            found.append(math.nan)  # equal to nothing
    return tuple(found)


def _values(text: str) -> set[float]:
    return {value for match in numerals(text) for value in _read(text, match)}


def _literals(source: str) -> set[float]:
    """The numbers written in the code itself, its texts and comments left out."""
    return {float(match["number"].replace("_", "")) for match in TOKENS.finditer(source) if match["number"]}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
