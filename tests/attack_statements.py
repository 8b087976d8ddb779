"""Attacks what the site states: attack_statements.py [--all] [--csv FILE]

Each stated number is written as the nearest one that a reader would call different, each condition is turned into its
negation; the check must go red and name page, line and text. Without --all, a sample that changes with the date.
Nothing is written but the summary: pages and records are changed in memory.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attack_summary import write_summary
from evidence import check
from evidence.check import Claim, Findings
from evidence.links import Page
from evidence.project import Project
from evidence.record import Record
from evidence.snippet import Snippet
from evidence.statement import IN_WORDS, PERCENT, Malformed, number, numerals

ROOT = Path(__file__).resolve().parents[1]
OUTCOME = "docs/about/how-this-could-be-wrong.md"  # states the counts, and would change what it counts
SAMPLE = 60  # statements in a sample
OTHERS = ("half", "two", "three", "ten", "a third")  # for a number in words

State = tuple[Mapping[str, Snippet], Mapping[str, Record]]


@dataclass(frozen=True)
class Mutant:
    """A statement written otherwise: what was done to it, and its link's text and title then."""

    claim: Claim
    how: str
    text: str
    title: str | None


@dataclass(frozen=True)
class Outcome:
    """`fate` is killed, within band (its author allows it), equivalent (says the same number), or survived."""

    mutant: Mutant
    fate: str

    def __str__(self) -> str:
        link, v = self.mutant.claim.link, self.mutant.claim.verdict
        title = f' "{self.mutant.title}"' if self.mutant.title else ""
        told = f"{link.text!r} as {self.mutant.text!r}{title}, measured {v.measured!r}"
        return f"{link.page}:{link.line}: {self.fate}: {self.mutant.how}: {told}"


def mutants(claim: Claim, others: list[Claim]) -> Iterator[Mutant]:
    """All mutants of one stated number or text. `others` are the claims of its page, for a swapped pair."""
    link = claim.link
    found = numerals(link.text)
    written: dict[str, str] = {}
    if claim.verdict.kind == "condition":
        return
    if isinstance(claim.verdict.stated, str) and claim.verdict.kind != "definition":
        written["another text"] = link.text.rstrip("`*_") + "x"
    elif len(found) == 1 and "base" in found[0].re.groupindex:
        written["factor ten"] = link.text[: found[0].end()] + "0" + link.text[found[0].end() :]
    elif len(found) == 1:
        written = _digits(claim, found[0])
    else:
        match = IN_WORDS.search(link.text)
        for word in OTHERS if match else ():
            assert match
            written[f"another word ({word})"] = link.text[: match.start()] + word + link.text[match.end() :]
    for how, text in written.items():
        if text != link.text:
            yield Mutant(claim, how, text, link.title)
    if link.title and (n := re.search(r"n\s*=\s*(\d+)", link.title)):
        title = link.title[: n.start(1)] + str(int(n[1]) + 1) + link.title[n.end(1) :]
        yield Mutant(claim, "another n", link.text, title)
    if len(found) == 1 and not isinstance(claim.verdict.stated, (str, bool)):
        later = [other for other in others if other.link.start > link.start]
        for other in later:
            if other.verdict.kind == claim.verdict.kind and not isinstance(other.verdict.stated, (str, bool)):
                if len(numerals(other.link.text)) == 1:
                    yield Mutant(claim, "swapped with the next", other.link.text, link.title)
                break


def _digits(claim: Claim, match: re.Match[str]) -> dict[str, str]:
    text, tolerance = claim.link.text, claim.verdict.tolerance or 0.0
    plain = re.sub("[,_]", "", match["digits"])
    decimals, value = len(plain.partition(".")[2]), float(plain)
    start, end = match.span("digits")
    scale = 10.0 ** int((match["exponent"] or "0").replace("−", "-"))
    percent = PERCENT.match(text, match.end())

    def other(number: float, digits: int) -> str:
        return text[:start] + f"{number:.{max(digits, 0)}f}" + text[end:]

    written = {}
    for name, sign in (("up", 1), ("down", -1)):
        steps = {f"last digit by two, {name}": 2 * 10.0**-decimals}
        if claim.link.title and tolerance:
            steps[f"past the band, {name}"] = 2 * tolerance * (100 if percent else 1) / scale + 10.0**-decimals
        for how, step in steps.items():
            if value + sign * step >= 0:
                written[how] = other(value + sign * step, decimals)
    written["factor ten"] = other(value * 10, decimals - 1)
    written["a tenth"] = other(value / 10, decimals + 1)
    negative = match["sign"] in {"-", "−"} and bool(match["sign"])
    written["sign"] = text[: match.start("sign")] + ("" if negative else "-") + text[start:]
    if percent:
        written["percent for fraction"] = text[: percent.start()] + text[percent.end() :]
    else:
        written["percent for fraction"] = text[: match.end()] + "%" + text[match.end() :]
    return written


def source(text: str, mutant: Mutant) -> str:
    """The link as the page's text has it, written otherwise."""
    old, new = mutant.claim.link.text, mutant.text
    changed = text.replace(f"[{old}](", f"[{new}](", 1)
    if mutant.title != mutant.claim.link.title:
        changed = changed.replace(f'"{mutant.claim.link.title}"', f'"{mutant.title}"', 1)
    return changed


def attack(project: Project, state: State, page: Page, made: list[Mutant]) -> Iterator[Outcome]:
    """Checks the page with as many of its mutants at once as have lines of their own, so that each is told apart."""
    waiting = made
    while waiting:
        batch: dict[int, Mutant] = {}
        later = []
        for mutant in waiting:
            line = mutant.claim.link.line
            later.append(mutant) if line in batch else batch.setdefault(line, mutant)
        text = page.text
        for mutant in sorted(batch.values(), key=lambda one: -one.claim.link.start):
            link = mutant.claim.link
            text = text[: link.start] + source(text[link.start : link.end], mutant) + text[link.end :]
        found = Findings()
        check.judge_page(project, dataclasses.replace(page, text=text), *state, found)
        said: dict[int, list[str]] = {}
        for problem in found.problems:
            said.setdefault(problem.line, []).append(problem.message)
        for line, mutant in batch.items():
            named = any(mutant.text in message for message in said.get(line, []))
            yield Outcome(mutant, "killed" if named else _excuse(mutant))
        waiting = later


def _excuse(mutant: Mutant) -> str:
    """Why a mutant may live: it says the same number, or one that the written band or digits allow."""
    verdict = mutant.claim.verdict
    if mutant.title != mutant.claim.link.title:
        return "survived"  # another n says something else, whatever the number
    try:
        said = number(mutant.text).value
    except Malformed:
        return "stated by its source" if verdict.kind == "definition" else "survived"
    if said == verdict.stated:
        return "equivalent"
    if verdict.kind == "definition":
        return "stated by its source"
    if (
        isinstance(verdict.measured, (int, float))
        and abs(said - verdict.measured) <= (verdict.tolerance or 0) * 1.000001
    ):
        return "within band"
    return "survived"


def negated(project: Project, state: State, page: Page, claims: list[Claim]) -> Iterator[tuple[Claim, bool]]:
    """Each condition of the page with whether its negation in the record turns the page red, on its line."""
    snippets, records = state
    found = Findings()
    changed = {name: dataclasses.replace(one, values=_flip(one.values)) for name, one in records.items()}
    check.judge_page(project, page, snippets, changed, found)
    said = {(problem.line, problem.message.partition("]")[0]) for problem in found.problems}
    for claim in claims:
        if claim.verdict.kind == "condition":
            yield claim, (claim.link.line, f"[{claim.link.text}") in said


def _flip(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, dict):
        return {key: _flip(item) for key, item in value.items()}
    return [_flip(item) for item in value] if isinstance(value, list) else value


def controls(project: Project, state: State, page: Page) -> list[str]:
    """What the check says of the page with its white space and its plain words changed: nothing."""
    text = page.text.replace("\n\n", "\n\n\n")
    inside = [range(link.start, link.end) for link in Page(page.path, text).links]
    words = list(re.finditer(r"(?<= )(?:the|is|and|with)(?= )", Page(page.path, text).prose))
    for match in reversed([m for m in words if not any(m.start() in span for span in inside)]):
        text = (
            text[: match.start()]
            + {"the": "this", "is": "was", "and": "plus", "with": "given"}[match[0]]
            + text[match.end() :]
        )
    found = Findings()
    check.judge_page(project, Page(page.path, text), *state, found)
    return [str(problem) for problem in found.problems]


def sample(claims: list[Claim], seed: int, count: int) -> list[Claim]:
    return claims if len(claims) <= count else random.Random(seed).sample(claims, count)


def run(project: Project, seed: int | None) -> tuple[list[Outcome], list[tuple[Claim, bool]], list[str]]:
    """Outcomes of the mutants, of the negations, and problems of the controls. `seed` None: of everything."""
    snippets, records, found = check.load(project)
    if found.problems:
        raise SystemExit(f"the site is not sound to begin with: {found.problems[0]}")
    state = snippets, records
    chosen = found.claims if seed is None else sample(found.claims, seed, SAMPLE)
    outcomes: list[Outcome] = []
    negations: list[tuple[Claim, bool]] = []
    wrong: list[str] = []
    for page in found.pages.values():
        if page.path == OUTCOME:
            continue
        claims = [claim for claim in chosen if claim.link.page == page.path]
        made = [mutant for claim in claims for mutant in mutants(claim, found.of(page.path))]
        outcomes += attack(project, state, page, made)
        negations += negated(project, state, page, claims)
        if claims:
            wrong += controls(project, state, page)
    return outcomes, negations, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="every statement; else a sample by date")
    parser.add_argument("--csv", type=Path, help="note the outcome in this file")
    options = parser.parse_args()
    seed = None if options.all else datetime.now(UTC).date().toordinal()
    began = time.monotonic()
    outcomes, negations, wrong = run(Project(ROOT), seed)
    for outcome in outcomes:
        if outcome.fate == "survived":
            print(outcome)
    for claim, red in negations:
        if not red:
            print(f"{claim.link.page}:{claim.link.line}: survived: [{claim.link.text}] with its condition negated")
    print("\n".join(wrong))
    fates = Counter(outcome.fate for outcome in outcomes)
    conditions = Counter(red for _, red in negations)
    by_kind = Counter((outcome.mutant.how.partition(" (")[0].partition(",")[0], outcome.fate) for outcome in outcomes)
    for (how, fate), count in sorted(by_kind.items()):
        print(f"{count:6} {how}: {fate}")
    print(
        f"{'all statements' if options.all else f'sample {seed}'}: {len(outcomes)} mutants, {dict(fates)}; "
        f"{conditions[True]} of {len(negations)} negated conditions red; {len(wrong)} controls red; "
        f"{time.monotonic() - began:.0f} s"
    )
    if options.csv:
        rows = {
            "numbers": (len(outcomes), fates["killed"], fates["within band"], fates["equivalent"]),
            "conditions": (len(negations), conditions[True], 0, 0),
        }
        write_summary(options.csv, "tests/attack_statements.py --all", rows)
    return 1 if fates["survived"] or conditions[False] or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
