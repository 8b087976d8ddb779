"""The ledger: what the article claims, one row a claim, with the verdict and what bears it out.

`snippets/ledger/ledger.toml` is the only place where a row is written. The table on the page is made from it and
committed, so that its numbers are held against the records like those of any page; what is published for machines is
made from it when the site is built.
"""

from __future__ import annotations

import csv
import io
import json
import tomllib
from dataclasses import asdict, dataclass

from evidence.links import LINK
from evidence.project import Problem, Project, Refusal

SOURCE = "snippets/ledger/ledger.toml"
PAGE = "docs/ledger.md"
VERDICTS = ("holds", "holds, corrected", "does not hold", "cannot be checked", "pending")
BEGIN, END = f"<!-- rows: made from {SOURCE} by: dev.py ledger -->\n", "<!-- end of rows -->"
FIELDS = ("id", "section", "claim", "stated", "verdict", "measured", "page")


@dataclass(frozen=True)
class Row:
    """One claim. `measured` is Markdown with evidence links as on the page; `page` leads to where it is answered."""

    id: str
    section: str
    claim: str
    stated: str
    verdict: str
    measured: str
    page: str

    @property
    def evidence(self) -> list[str]:
        """The values and the page that bear the verdict out, as paths of the repository."""
        found = [match["target"].removeprefix("../") for match in LINK.finditer(self.measured)]
        return list(dict.fromkeys([*found, f"docs/{self.page}"] if self.page else found))

    @property
    def said(self) -> str:
        """What was measured, without the links."""
        return LINK.sub(lambda match: match["text"], self.measured)


def load(project: Project) -> list[Row]:
    """The rows in their order; raises `Refusal` naming the row for a field that is missing, empty or unknown."""
    try:
        found = tomllib.loads((project.root / SOURCE).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refusal([Problem(SOURCE, 0, f"no TOML in UTF-8: {error}")]) from None
    rows, problems = [], []
    for number, one in enumerate(found.get("claim", []), 1):
        name = one.get("id", f"row {number}")
        wrong = sorted(set(one) ^ set(FIELDS)) + sorted(key for key, value in one.items() if not isinstance(value, str))
        if wrong:
            problems.append(Problem(SOURCE, 0, f"{name}: {', '.join(wrong)}: a row has the texts {', '.join(FIELDS)}"))
            continue
        row = Row(**{key: " ".join(one[key].split()) for key in FIELDS})
        rows.append(row)
        if row.verdict not in VERDICTS:
            problems.append(Problem(SOURCE, 0, f"{name}: the verdict is one of: {' | '.join(VERDICTS)}"))
        if not row.measured or (row.verdict != "pending" and not row.page):
            problems.append(Problem(SOURCE, 0, f"{name}: a verdict needs what was measured, and a page"))
        if [other.id for other in rows].count(row.id) > 1:
            problems.append(Problem(SOURCE, 0, f"{name}: stands there twice"))
    if problems:
        raise Refusal(problems)
    return rows


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table; the article's own words are marked as a quotation."""
    lines = ["| id | the article says | stated | what came out | verdict | page |", "|---|---|---|---|---|---|"]
    for row in rows:
        where = f"[section {row.section}]({row.page})" if row.page else f"section {row.section}"
        stated = f"<q>{row.stated}</q>" if row.stated else ""
        cells = [f"[{row.id}](#{row.id.lower()}){{#{row.id.lower()}}}", f"<q>{row.claim}</q>", stated]
        lines.append(f"| {' | '.join([*cells, row.measured, row.verdict, where])} |")
    return "\n".join(lines) + "\n"


def page(project: Project) -> str:
    """The page as it has to be: its own text, with the rows between the two marks."""
    text = (project.root / PAGE).read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise Refusal([Problem(PAGE, 0, f"needs a line {BEGIN.strip()} and, below it, a line {END}")])
    rows = f'<div class="ledger" data-choose="4" markdown="1">\n\n{table(load(project))}\n</div>\n'
    return f"{before}{begin}\n{rows}\n{end}{after}"


def write(project: Project) -> bool:
    """Brings the page up to date; True if it changed."""
    new = page(project)
    changed = new != (project.root / PAGE).read_text(encoding="utf-8")
    if changed:
        (project.root / PAGE).write_text(new, encoding="utf-8")
    return changed


def problems(project: Project) -> list[Problem]:
    """That the page is not what its data makes it, if so."""
    if not (project.root / SOURCE).is_file():
        return []
    try:
        stale = page(project) != (project.root / PAGE).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        return [Problem(PAGE, 0, f"is missing: {error}")]
    except Refusal as refusal:
        return refusal.problems
    return [Problem(PAGE, 0, f"is not what {SOURCE} says; run: python3 scripts/dev.py ledger")] if stale else []


def quotable(project: Project) -> set[str]:
    """The article's own words: what a page may quote as `<q>…</q>` without a link, since it is not said to be true."""
    try:
        return {text for row in load(project) for text in (row.claim, row.stated)}
    except (FileNotFoundError, Refusal):  # what is wrong with the ledger is told by `problems`
        return set()


def published(project: Project) -> dict[str, str]:
    """`data/ledger.json` (a list of objects) and `data/ledger.csv`, by their address."""
    if not (project.root / SOURCE).is_file():
        return {}
    objects = [asdict(row) | {"measured": row.said, "evidence": row.evidence} for row in load(project)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = ["id", "section", "claim", "stated", "measured", "verdict", "evidence"]
    writer.writerow(columns)
    writer.writerows([[*(one[key] for key in columns[:-1]), " ".join(one["evidence"])] for one in objects])
    as_json = json.dumps([{key: one[key] for key in columns} for one in objects], indent=1, ensure_ascii=False) + "\n"
    return {"data/ledger.json": as_json, "data/ledger.csv": text.getvalue()}
