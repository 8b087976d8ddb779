"""Each statement is judged by the record it names; a refusal says page, line, values, tolerance and what to do next."""

from __future__ import annotations

import json

import pytest

from conftest import PAGE, UP, Tiny
from evidence import check, record

CODE = f"{UP}/residual/share.py"
TABLE = """# Zhang and Sennrich 2019, Table 4; https://arxiv.org/abs/1910.07467
# BLEU on newstest
model,test14,test17,note
LayerNorm,22.6,24.5,"as printed, 1,000 steps"
RMSNorm,22.4,,ok
"""


@pytest.fixture
def sound(tiny: Tiny) -> Tiny:
    values = {"share": 0.8812, "grows": False, "norms": [1.5, 2.5], "seeds": list(range(10)), "count": 3}
    tiny.have("share = 0.8812\n", values, output="0.881\n")
    return tiny


def told(sound: Tiny, text: str, path: str = PAGE) -> str:
    """The one problem of a page with this text on its third line."""
    sound.page(f"# Title\n\n{text}\n", path)
    (problem,) = sound.problems()
    assert problem.startswith(f"{path}:3: "), problem
    return problem.removeprefix(f"{path}:3: ")


def fine(sound: Tiny, text: str) -> check.Claim:
    sound.page(f"# Title\n\n{text}\n")
    assert sound.problems() == []
    (claim,) = sound.found().claims
    return claim


# --- what holds ------------------------------------------------------------------------------------------------------


def test_a_claim_as_json(sound: Tiny) -> None:
    claim = fine(sound, f'It is [0.881]({CODE}#share "n=10 ±0.002").')
    assert claim.to_json() == {
        "page": PAGE,
        "line": 3,
        "text": "0.881",
        "stated": 0.881,
        "kind": "statistical",
        "evidence": "snippets/residual/share.py#share",
        "measured": 0.8812,
        "tolerance": 0.002,
        "used": pytest.approx(0.1),
    }


def test_a_definition_is_a_claim_without_a_measurement(sound: Tiny) -> None:
    claim = fine(sound, '[1e-5](https://pytorch.org/docs "definition: torch.nn.LayerNorm")').to_json()
    assert (claim["kind"], claim["stated"], claim["measured"], claim["used"]) == ("definition", "1e-5", None, None)
    assert claim["evidence"] == "https://pytorch.org/docs"


def test_an_infinite_share_is_none_in_json(sound: Tiny) -> None:
    sound.page(f"[4]({CODE}#count)")
    (claim,) = sound.found().claims
    assert claim.to_json()["used"] is None
    json.dumps(claim.to_json(), allow_nan=False)


def test_cells_of_a_transcribed_table(sound: Tiny) -> None:
    sound.write("snippets/papers/rmsnorm.csv", "\ufeff" + TABLE)
    claim = fine(sound, f"[22.6]({UP}/papers/rmsnorm.csv#LayerNorm/test14)")
    assert (claim.verdict.kind, claim.verdict.measured) == ("cited", 22.6)
    assert fine(sound, f"[ok]({UP}/papers/rmsnorm.csv#RMSNorm/note)").verdict.holds
    assert told(sound, f"[22.5]({UP}/papers/rmsnorm.csv#LayerNorm/test14)") == (
        "states 22.5, measured 22.6 (must be equal), from snippets/papers/rmsnorm.csv#LayerNorm/test14; "
        "mend the sentence or the code, and compare snippets/papers/rmsnorm.csv with its source"
    )
    assert "did you mean LayerNorm" in told(sound, f"[22.6]({UP}/papers/rmsnorm.csv#LayerNrm/test14)")
    assert "has no entry 'test15'" in told(sound, f"[22.6]({UP}/papers/rmsnorm.csv#LayerNorm/test15)")
    assert "is a dict" in told(sound, f"[22.6]({UP}/papers/rmsnorm.csv#LayerNorm)")
    assert "states one number" in told(sound, f"[a cell]({UP}/papers/rmsnorm.csv#LayerNorm/test14)")
    assert "there is no file snippets/papers/rms.csv" in told(sound, f"[22.6]({UP}/papers/rms.csv#LayerNorm/test14)")


def test_rows_that_share_a_leading_cell_must_be_told_apart(sound: Tiny) -> None:
    sound.write("snippets/papers/t.csv", "# A paper, Table 1\nmodel,bleu\nPost LN,1.5\nPost LN,2.5\nPre,3.5\n")
    assert "has no entry 'bleu'" in told(sound, f"[2.5]({UP}/papers/t.csv#Post%20LN/bleu)")
    assert fine(sound, f"[2.5]({UP}/papers/t.csv#Post%20LN/1/bleu)").verdict.holds


def test_a_table_that_is_no_text(sound: Tiny) -> None:
    sound.write("snippets/papers/t.csv", b"model,bleu\n\xff,1\n")
    assert "is no CSV in UTF-8" in told(sound, f"[1]({UP}/papers/t.csv#x/bleu)")


def test_a_cell_of_what_a_snippet_wrote_leads_back_to_the_snippet(sound: Tiny) -> None:
    sound.record({"share": 0.8812}, files={"share.csv": b"depth,norm\n4,1.25\n"})
    assert fine(sound, f"[1.25]({UP}/residual/share/share.csv#4/norm)").verdict.kind == "rounded"
    said = told(sound, f"[1.26]({UP}/residual/share/share.csv#4/norm)")
    assert said.endswith("run: python3 scripts/dev.py run residual/share")
    said = told(sound, f"[1.25]({UP}/residual/share/shar.csv#4/norm)")
    assert "snippets/residual/share.py wrote no shar.csv (it has: output.txt, share.csv)" in said


# --- what does not ---------------------------------------------------------------------------------------------------


def test_a_refuted_number_says_everything_needed(sound: Tiny) -> None:
    assert told(sound, f'It is [0.884]({CODE}#share "±0.002").') == (
        "states 0.884, measured 0.8812 (tolerance 0.002, 140% of it used), from snippets/residual/share.py#share; "
        "mend the sentence or the code, and run: python3 scripts/dev.py run residual/share"
    )


def test_a_refuted_count_and_a_refuted_condition(sound: Tiny) -> None:
    assert "states 4, measured 3 (must be equal), from" in told(sound, f"[4]({CODE}#count)")
    said = told(sound, f"It [grows at every depth]({CODE}#grows).")
    assert "[grows at every depth] does not hold: snippets/residual/share.py#grows is False" in said
    assert said.endswith("run: python3 scripts/dev.py run residual/share")


@pytest.mark.parametrize(
    ("link", "message"),
    [
        (
            f"[0.881]({UP}/residual/shar.py#share)",
            "there is no snippet snippets/residual/shar.py; did you mean residual/share",
        ),
        (f"[0.881]({UP}/why/zzz.py#share)", "there is no snippet snippets/why/zzz.py"),
        (f"[zzz.py]({UP}/why/zzz.py)", "there is no snippet snippets/why/zzz.py"),
        (f"[0.881]({CODE}#shar)", "no recorded variable 'shar'; did you mean share"),
        (f"[0.881]({CODE}#norms[0])", "no recorded variable 'norms[0]'"),
        (f'[0.881]({CODE}#share "roughly")', "malformed title 'roughly'"),
        (f'[0.881]({CODE}#share "±0.05")', "another leading digit"),
        ("[0.881](../snippets/residual/share.py#share)", "from this page the path begins ../../snippets/"),
        ("[0.881](../../../snippets/residual/share.py#share)", "from this page the path begins ../../snippets/"),
        ("[0.881](/snippets/residual/share.py#share)", "does not lead into snippets/"),
        ("[0.881](../../snipets/residual/share.py#share)", "does not lead into snippets/"),
        ("[every time](share.py#grows)", "does not lead into snippets/"),
        ("![It grows.](share.svg)", "does not lead into snippets/"),
        (f"[0.881]({UP}/residual/share/output.txt#share)", "holds no values; a number links to a .py or .csv file"),
        (f"[data]({UP}/papers/none.csv)", "there is no file snippets/papers/none.csv"),
        ('[1e-5](https://a.org "definition")', "a definition names its source"),
        ('[1e-5](https://a.org "definition: ")', "a definition names its source"),
        ('[0.88](#here "definition: ourselves")', "a definition links to its source, https://"),
        (f'Text [Caption.]({UP}/residual/share/share.csv "table")', "wrote no share.csv"),
    ],
)
def test_a_link_that_leads_nowhere(sound: Tiny, link: str, message: str) -> None:
    said = told(sound, link)
    assert message in said
    assert said.startswith(("[", "!")), said


def test_the_way_up_is_counted_from_the_page(sound: Tiny) -> None:
    assert "begins ../../../snippets/" in told(sound, f"[0.881]({CODE}#share)", "docs/residual/deep/page.md")


# --- figures ---------------------------------------------------------------------------------------------------------


def test_figures(sound: Tiny) -> None:
    files = {"a.svg": b"<svg/>", "a.csv": b"x\n1\n", "b.svg": b"<svg/>", "c.png": b""}
    sound.record({"share": 0.8812}, files=files)
    folder = f"{UP}/residual/share"
    sound.page(f'![It grows.]({folder}/a.svg "Caption.")\n\n![How.]({folder}/b.svg "diagram: how it is joined")\n')
    assert sound.problems() == []
    assert "needs an alt text that states its conclusion" in told(sound, f"![ ]({folder}/a.svg)")
    assert "needs an alt text" in told(sound, f"![]({folder}/a.svg)")
    assert "the snippet writes no b.csv" in told(sound, f"![It grows.]({folder}/b.svg)")
    assert "a figure is an SVG" in told(sound, f"![It grows.]({folder}/c.png)")
    assert "wrote no d.svg" in told(sound, f"![It grows.]({folder}/d.svg)")
    sound.write("snippets/papers/drawn.svg", "<svg/>")
    assert "not a drawing" in told(sound, f"![It grows.]({UP}/papers/drawn.svg)")


def test_a_table_stands_alone(sound: Tiny) -> None:
    sound.record({"share": 0.8812}, files={"a.csv": b"x\n1\n"})
    said = told(sound, f'Text [Shares.]({UP}/residual/share/a.csv "table")')
    assert "a table stands in a paragraph of its own" in said


# --- records ---------------------------------------------------------------------------------------------------------


def test_a_missing_record_is_one_problem_of_the_snippet(sound: Tiny) -> None:
    sound.snippet("x = 1\n", "residual/other")
    sound.page(f"[1]({UP}/residual/other.py#x), [1]({UP}/residual/other.py#x)\n\n[other.py]({UP}/residual/other.py)")
    assert sound.problems() == [
        "snippets/residual/other.py: has no record; run: python3 scripts/dev.py run residual/other"
    ]


def test_a_stale_source(sound: Tiny) -> None:
    sound.snippet("share = 0.9\n")
    (said,) = sound.problems()
    assert said.startswith(
        "snippets/residual/share.py: was changed after its record was made; run: python3 scripts/dev"
    )


def test_a_stale_input(sound: Tiny) -> None:
    sound.write("snippets/residual/given.csv", "a\n1\n")
    sound.have("# reads: snippets/residual/given.csv\nx = 1\n", {"x": 1})
    assert sound.problems() == []
    sound.write("snippets/residual/given.csv", "a\n2\n")
    assert "was changed after its record was made" in sound.problems()[0]


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("record.json", "0.8812", "0.8822", "its digest does not match: it was edited by hand or damaged"),
        ("record.json", "}", "", "it cannot be read (JSONDecodeError"),
        ("output.txt", "0.881", "0.882", "output.txt was edited by hand or damaged"),
    ],
)
def test_a_hand_edited_record(sound: Tiny, file: str, old: str, new: str, message: str) -> None:
    path = sound.project.snippets / "residual" / "share" / file
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    (said,) = sound.problems()
    assert said.startswith(f"snippets/residual/share/record.json: {message}")
    assert said.endswith("run: python3 scripts/dev.py run residual/share")


def test_a_record_of_another_snippet(sound: Tiny) -> None:
    sound.have("share = 0.8812\n", {"share": 0.8812}, "residual/copied")
    for file in (sound.project.snippets / "residual" / "share").iterdir():
        sound.write(f"snippets/residual/copied/{file.name}", file.read_bytes())
    (said,) = sound.problems()
    assert said.startswith("snippets/residual/copied.py: was changed after its record was made; run: ")


def test_an_orphan_record(sound: Tiny) -> None:
    (sound.project.snippets / "residual" / "share.py").unlink()
    assert sound.problems() == ["snippets/residual/share/record.json: a record without its snippet; delete the folder"]


def test_a_snippet_that_would_not_run_after_pasting(sound: Tiny) -> None:
    sound.have("import evidence\n", {})
    assert "snippets/residual/share.py:1: imports evidence" in sound.problems()[0]


def test_all_problems_are_told_not_only_one(sound: Tiny) -> None:
    sound.page(f"[0.5]({CODE}#share)\n\n[0.6]({CODE}#share)\n\n[0.7]({CODE}#shar)\n")
    sound.page(f"[0.5]({CODE}#share)\n", "docs/residual/other.md")
    assert [said.split(": ")[0] for said in sound.problems()] == [
        "docs/residual/other.md:1",
        f"{PAGE}:1",
        f"{PAGE}:3",
        f"{PAGE}:5",
    ]


def test_reading_changes_nothing(sound: Tiny) -> None:
    before = {path: path.stat().st_mtime_ns for path in sound.root.rglob("*")}
    sound.found()
    assert {path: path.stat().st_mtime_ns for path in sound.root.rglob("*")} == before
    assert record.load(sound.project.snippets / "residual" / "share").values["share"] == 0.8812
