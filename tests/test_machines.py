"""Proves that what the site says about itself is what was found: the status page, the data, the old addresses."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from mkdocs.exceptions import Abort

from conftest import UP, Tiny
from evidence_site import finish, machines


def test_each_statement_has_an_address_of_its_own(tiny: Tiny) -> None:
    tiny.have("share = 0.881\n", {"share": 0.8812})
    link = f"[0.881]({UP}/residual/share.py#share)"
    tiny.page(f"# T\n\n{link} and again {link}.\n")
    listing = json.loads(machines.claims_json(tiny.found()))
    assert [one["address"] for one in listing] == [
        "residual/path.html#share.share",
        "residual/path.html#share.share-2",
    ]
    assert listing[0]["measured"] == 0.8812
    assert listing[0]["used"] == pytest.approx(0.4)


def test_the_status_shows_the_share_used_and_the_exemptions(tiny: Tiny) -> None:
    tiny.have("share = 0.881\n", {"share": 0.8812})
    tiny.page(f"# T\n\n[0.881]({UP}/residual/share.py#share)\n")
    text = machines.status(tiny.found(), Counter({"year": 3, "word": 0}))
    assert '<a href="../residual/path.html#share.share">0.881</a>' in text
    assert "<td>40%</td>" in text
    assert "<td>year</td><td>3</td>" in text
    assert "<td>word</td>" not in text


def test_a_stamp_says_when_and_with_which_versions() -> None:
    assert json.loads(machines.verified(None)) == {"verified": None}
    told = json.loads(machines.verified(datetime(2026, 11, 30, tzinfo=UTC)))
    assert told["verified"] == "2026-11-30T00:00:00+00:00"
    assert {"python", "torch", "numpy"} <= set(told)


def test_an_old_address_leads_to_the_new_one(tmp_path: Path) -> None:
    (tmp_path / "residual").mkdir()
    (tmp_path / "residual/path.html").write_text("here", encoding="utf-8")
    finish.redirect(tmp_path, {"residual/path/": "residual/path.html#top"})
    text = (tmp_path / "residual/path/index.html").read_text(encoding="utf-8")
    assert 'url=../../residual/path.html#top"' in text


@pytest.mark.parametrize("pair", [("old.html", "gone.html"), ("here.html", "here.html")])
def test_an_address_that_leads_nowhere_is_refused(tmp_path: Path, pair: tuple[str, str]) -> None:
    (tmp_path / "here.html").write_text("here", encoding="utf-8")
    with pytest.raises(Abort):
        finish.redirect(tmp_path, dict([pair]))
