"""What a command does beside its work: when a build is skipped or noted, what is passed on, how it is interrupted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Tiny
from evidence import check, ledger, refresh, unchanged
from evidence.__main__ import main
from evidence_site import publish


@pytest.fixture
def here(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> Tiny:
    tiny.have("share = 0.881\n", {"share": 0.881})
    tiny.page("# T\n\nIt is [0.881](../../snippets/residual/share.py#share).\n")
    monkeypatch.chdir(tiny.root)
    return tiny


@pytest.mark.parametrize(
    ("arguments", "same", "status", "done"),
    [
        ([], True, 0, []),
        ([], False, 0, ["build", "remember"]),
        ([], False, 3, ["build"]),
        (["--fresh"], True, 0, ["refresh", "build", "remember"]),
        (["--fresh"], False, 0, ["refresh", "build", "remember"]),
    ],
)
def test_a_build_is_skipped_only_if_nothing_changed_and_noted_only_if_it_ended_well(
    here: Tiny,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    same: bool,
    status: int,
    done: list[str],
) -> None:
    asked: list[str] = []

    def again(*_: Any, fresh: bool) -> None:
        assert fresh
        asked.append("refresh")

    def build(_: Any) -> int:
        asked.append("build")
        return status

    monkeypatch.setattr(unchanged, "since_last_build", lambda *_: same)
    monkeypatch.setattr(unchanged, "remember", lambda *_: asked.append("remember"))
    monkeypatch.setattr(refresh, "refresh", again)
    monkeypatch.setattr(publish, "build", build)
    assert main(["build", *arguments]) == status
    assert asked == done
    assert ("nothing changed since the last build" in capsys.readouterr().err) == (not done)


@pytest.mark.parametrize(
    ("arguments", "address"), [([], "127.0.0.1:8000"), (["--address", "0.0.0.0:80"], "0.0.0.0:80")]
)
def test_where_the_site_is_served(
    here: Tiny, monkeypatch: pytest.MonkeyPatch, arguments: list[str], address: str
) -> None:
    asked: list[str] = []

    def serve(_: Any, where: str) -> int:
        asked.append(where)
        return 4

    monkeypatch.setattr(publish, "serve", serve)
    assert main(["serve", *arguments]) == 4
    assert asked == [address]


def test_when_all_was_verified_is_noted_in_the_built_site(here: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    target = here.write("site/data/verified.json", "{}")
    assert main(["stamp"]) == 0
    assert json.loads(target.read_text())["verified"].startswith("20")
    assert capsys.readouterr().out == f"wrote {target}\n"


@pytest.mark.parametrize(("wrote", "said"), [(True, "rewritten"), (False, "is up to date")])
def test_whether_the_ledger_was_written_is_told(
    here: Tiny, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], wrote: bool, said: str
) -> None:
    monkeypatch.setattr(ledger, "write", lambda _: wrote)
    assert main(["ledger"]) == 0
    assert capsys.readouterr().out == f"{ledger.PAGE} {said}\n"


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (KeyboardInterrupt(), 130, ""),
        (OSError(28, "No space left on device"), 1, "python3 scripts/dev.py: No space left on device\n"),
        (OSError(28, "No space left on device", "a/b"), 1, "a/b: No space left on device\n"),
        (OSError("odd"), 1, "python3 scripts/dev.py: odd\n"),
    ],
)
def test_what_stops_a_command_is_told_in_a_line(
    here: Tiny,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    raised: BaseException,
    status: int,
    said: str,
) -> None:
    def load(_: Any) -> None:
        raise raised

    monkeypatch.setattr(check, "load", load)
    assert main(["check"]) == status
    assert capsys.readouterr().err.partition("\n\n")[0] == said.strip()


def test_a_table_is_noted_of_all_snippets_and_of_no_others(here: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--csv", "versions.csv", "residual/share"]) == 1
    assert capsys.readouterr().err.startswith("versions.csv: notes a run over all snippets")
    assert main(["verify", "residual/share"]) == 0
    assert not Path("versions.csv").exists()
    assert main(["verify", "--csv", "versions.csv"]) == 0
    assert Path("versions.csv").read_text().count("\n") == 5


def test_a_file_beside_the_snippets_is_none(here: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    here.write("docs/residual/other.py", "x = 1\n")
    assert main(["run", "docs/residual/other.py"]) == 2
    assert "there is no snippet docs/residual/other" in capsys.readouterr().err
