"""Proves that the ledger answers every claim of the article, with evidence, and that its page is its data."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import Tiny
from evidence import ledger
from evidence.links import Page
from evidence.project import Project, Refusal

PROJECT = Project(Path(__file__).parents[1])
CLAIMS = [f"A{number:02}" for number in range(1, 95)]
ROW = {
    "id": "A55",
    "section": "4.2",
    "claim": "identity share is 0.881",
    "stated": "0.881",
    "verdict": "does not hold",
    "measured": "It is [0.997](../snippets/residual/share.py#share).",
    "page": "residual/path.md",
}
TEXT = f"# Ledger\n\n{ledger.BEGIN}{ledger.END}\n"


def test_there_is_a_row_for_each_claim() -> None:
    assert [row.id for row in ledger.load(PROJECT)] == CLAIMS


@pytest.mark.parametrize("row", ledger.load(PROJECT), ids=lambda row: row.id)
def test_a_verdict_has_evidence(row: ledger.Row) -> None:
    """A value that the sentence links, or the place on a page; the place exists."""
    if row.verdict == "pending":
        assert "6" in row.section or row.said.startswith("Pending"), "only training rows may be pending, and say so"
        return
    name, _, heading = row.page.partition("#")
    page = Page(f"docs/{name}", (PROJECT.docs / name).read_text(encoding="utf-8"))
    assert f"{{#{heading}}}" in page.text, f"{name} has no heading {heading}"
    linked = [link for link in page.links if link.role not in {"plain", "file"}]
    assert "snippets/" in " ".join(row.evidence) or linked, "neither the sentence nor its page links to evidence"


def test_what_is_published_has_a_row_for_each_claim() -> None:
    found = ledger.published(PROJECT)
    rows = json.loads(found["data/ledger.json"])
    assert [row["id"] for row in rows] == CLAIMS
    assert set(rows[0]) == {"id", "section", "claim", "stated", "measured", "verdict", "evidence"}
    assert not [row["id"] for row in rows if "](" in row["measured"]]
    assert [row["id"] for row in csv.DictReader(io.StringIO(found["data/ledger.csv"]))] == CLAIMS


def toml(*rows: dict[str, str]) -> str:
    return "\n".join("[[claim]]\n" + "\n".join(f"{key} = '{value}'" for key, value in row.items()) for row in rows)


def test_what_is_published_reads_well(tiny: Tiny) -> None:
    given(tiny, {**ROW, "claim": "α is 1"}, {**ROW, "id": "A56", "verdict": "pending", "page": ""})
    found = ledger.published(tiny.project)
    assert found["data/ledger.json"].startswith('[\n {\n  "id": "A55",\n  "section": "4.2",\n  "claim": "α is 1",\n')
    value = "snippets/residual/share.py#share"
    evidence = [row["evidence"] for row in json.loads(found["data/ledger.json"])]
    assert evidence == [[value, "docs/residual/path.md"], [value]]


def test_a_row_of_the_table() -> None:
    row = ledger.Row(**ROW)
    bare = replace(row, id="A56", stated="", page="")
    assert ledger.table([row, bare]).splitlines()[2:] == [
        f"| [A55](#a55){{#a55}} | <q>{ROW['claim']}</q> | <q>0.881</q> | {ROW['measured']} | does not hold | "
        "[section 4.2](residual/path.md) |",
        f"| [A56](#a56){{#a56}} | <q>{ROW['claim']}</q> |  | {ROW['measured']} | does not hold | section 4.2 |",
    ]


def given(tiny: Tiny, *rows: dict[str, str]) -> None:
    tiny.have("share = 0.997\n", {"share": 0.997})
    tiny.page("# Path\n")
    tiny.write(ledger.SOURCE, toml(*rows))
    tiny.write(ledger.PAGE, TEXT)


def test_the_page_is_checked_like_any_other(tiny: Tiny) -> None:
    """The article's words are a quotation; a measured number that its snippet does not bear out is refused."""
    given(tiny, ROW)
    assert ledger.write(tiny.project)
    assert not ledger.write(tiny.project)
    assert tiny.problems() == []
    assert tiny.unbound() == []
    given(tiny, {**ROW, "measured": "It is [0.998](../snippets/residual/share.py#share), or 0.996."})
    ledger.write(tiny.project)
    assert "states 0.998, measured 0.997" in " ".join(tiny.problems())
    assert [text for _, text in tiny.unbound()] == ["0.996"]


def test_words_that_the_article_does_not_say_are_no_quotation(tiny: Tiny) -> None:
    given(tiny, ROW)
    tiny.page("# Path\n\nThe article says <q>0.881</q>, and not <q>0.882</q>.\n")
    assert [text for _, text in tiny.unbound()] == ["0.882"]


def test_a_page_that_is_not_its_data_is_refused(tiny: Tiny) -> None:
    given(tiny, ROW)
    expected = f"{ledger.PAGE}: is not what {ledger.SOURCE} says; run: python3 scripts/dev.py ledger"
    assert expected in tiny.problems()  # a whole file has no line
    for text in (f"# Ledger\n\n{ledger.BEGIN}", f"# Ledger\n\n{ledger.END}\n"):
        tiny.write(ledger.PAGE, text)
        assert any(problem.startswith(f"{ledger.PAGE}: needs a line") for problem in tiny.problems())
    (tiny.root / ledger.PAGE).unlink()
    assert any(problem.startswith(f"{ledger.PAGE}: is missing") for problem in tiny.problems())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: {**row, "verdict": "true"}, "the verdict is one of"),
        (lambda row: {**row, "measured": ""}, "needs what was measured"),
        (lambda row: {**row, "page": ""}, "needs what was measured, and a page"),
        (lambda row: {key: row[key] for key in row if key != "stated"}, "stated"),
        (lambda row: {**row, "note": "more"}, "note"),
    ],
)
def test_a_malformed_row_is_named(tiny: Tiny, change: Callable[[dict[str, str]], dict[str, str]], said: str) -> None:
    given(tiny, change(ROW))
    with pytest.raises(Refusal, match=said):
        ledger.load(tiny.project)
    assert any(problem.startswith(f"{ledger.SOURCE}: A55: ") and said in problem for problem in tiny.problems())


def test_a_row_without_a_name_is_counted(tiny: Tiny) -> None:
    given(tiny, {key: ROW[key] for key in ROW if key != "id"})
    assert any(problem.startswith(f"{ledger.SOURCE}: row 1: id: ") for problem in tiny.problems())


def test_a_row_that_stands_twice_is_named(tiny: Tiny) -> None:
    given(tiny, ROW, ROW)
    assert f"{ledger.SOURCE}: A55: stands there twice" in tiny.problems()


def test_what_is_no_toml_is_said(tiny: Tiny) -> None:
    given(tiny, ROW)
    tiny.write(ledger.SOURCE, b"\xff")
    assert any(problem.startswith(f"{ledger.SOURCE}: no TOML") for problem in tiny.problems())
