"""The attack on stated numbers works: it kills what is wrong, lets live what says the same, and spares no page."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

import attack_statements as attack
from attack_summary import write_summary
from conftest import UP, Tiny
from evidence import check
from evidence.project import Project


def test_a_sample_of_the_site_by_date() -> None:
    seed = datetime.now(UTC).date().toordinal()
    print("seed", seed)
    outcomes, negations, wrong = attack.run(Project(attack.ROOT), seed)
    assert len(outcomes) > 100
    lived = [str(one) for one in outcomes if one.fate == "survived"]
    assert [one for one in lived if '"definition: ' not in one] == []  # a definition's source is read by nobody here
    assert [claim.link.text for claim, red in negations if not red] == []
    assert wrong == []


@pytest.fixture
def sound(tiny: Tiny) -> Tiny:
    values = {"share": 0.8812, "count": 3, "grows": True, "seeds": list(range(10)), "zero": 0, "name": "Norm"}
    tiny.have("share = 0.8812\n", values)
    code = f"{UP}/residual/share.py"
    tiny.page(
        f"# T\n\n[0.88]({code}#share) and [88%]({code}#share), [three]({code}#count), [0]({code}#zero), "
        f'[it grows]({code}#grows),\n[0.9]({code}#share "n=10 ±0.04")? [Norm]({code}#name) is the one with\n'
        '[1e-5](https://arxiv.org "definition: there").\n'
    )
    return tiny


def test_each_kind_of_mutant_and_its_fate(sound: Tiny) -> None:
    outcomes, negations, wrong = attack.run(sound.project, None)
    assert [(claim.link.text, red) for claim, red in negations] == [("it grows", True)]
    assert wrong == []
    fates = Counter((one.mutant.claim.link.text, one.fate) for one in outcomes)
    assert fates["0.88", "killed"] == 6  # digits up and down, ten times, a tenth, sign, percent
    assert fates["0.88", "equivalent"] == 1  # swapped with 88%
    assert fates["0.9", "killed"] >= 7
    assert fates["three", "killed"] == 4
    assert fates["Norm", "killed"] == 1
    assert {one.fate for one in outcomes if one.mutant.claim.link.text == "0"} == {"killed", "equivalent"}
    assert {one.fate for one in outcomes if one.mutant.claim.link.text == "1e-5"} == {"stated by its source"}
    assert "survived" not in {one.fate for one in outcomes}


def test_a_check_that_sees_nothing_is_found_out(sound: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    state = check.load(sound.project)
    monkeypatch.setattr(check, "judge_page", lambda *_: None)
    monkeypatch.setattr(check, "load", lambda _: state)
    outcomes, negations, _ = attack.run(sound.project, None)
    assert "killed" not in {one.fate for one in outcomes}
    assert [red for _, red in negations] == [False]


def test_a_sample_is_the_same_on_one_day_and_another_on_the_next(sound: Tiny) -> None:
    claims = sound.found().claims
    assert attack.sample(claims, 5, 3) == attack.sample(claims, 5, 3)
    assert any(attack.sample(claims, 5, 3) != attack.sample(claims, day, 3) for day in range(6, 12))


def test_the_summary_keeps_what_other_attacks_noted(tmp_path: Path) -> None:
    path = tmp_path / "a" / "outcome.csv"
    write_summary(path, "tests/x.py --all", {"numbers": (10, 7, 2, 1)})
    write_summary(path, "tests/y.py", {"engine": (5, 4, 0, 0)})
    write_summary(path, "tests/x.py --all", {"numbers": (11, 7, 2, 1)})
    lines = path.read_text().splitlines()
    assert [line.split(",")[0] for line in lines[:2]] == [
        "# engine: python tests/y.py",
        "# numbers: python tests/x.py --all",
    ]
    assert sorted(lines[2:]) == [
        "attack,made,killed,allowed,equivalent,survived", "engine,5,4,0,0,1", "numbers,11,7,2,1,1",
    ]  # fmt: skip
