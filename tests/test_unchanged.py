"""A build with nothing changed does nothing; any change of what the site is made from, or of the site, is noticed."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from conftest import Tiny
from evidence import refresh, unchanged
from evidence.__main__ import main
from evidence_site import publish


@pytest.fixture
def built(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> tuple[Tiny, list[str]]:
    """A project with its site built, and the calls of the renderer so far."""
    calls: list[str] = []

    def build(project: object) -> int:
        calls.append("built")
        refresh.refresh(tiny.project, tell=lambda _: None)
        tiny.write("site/index.html", "share 0.881")
        return 0

    monkeypatch.setattr(publish, "build", build)
    monkeypatch.chdir(tiny.root)
    tiny.page("# Share {#share}\n\nThe share is [0.881](../../snippets/residual/share.py#share).\n")
    tiny.have("share = 0.881\n", {"share": 0.881})
    tiny.write("scripts/engine.py", "x = 1\n")
    assert main(["build"]) == 0
    return tiny, calls


def test_nothing_changed_nothing_is_done(built: tuple[Tiny, list[str]], capfd: pytest.CaptureFixture[str]) -> None:
    tiny, calls = built
    tiny.write("scripts/__pycache__/engine.pyc", "x")
    assert main(["build"]) == 0
    assert calls == ["built"]
    assert "nothing changed since the last build" in capfd.readouterr().err


CHANGES: dict[str, Callable[[Tiny, pytest.MonkeyPatch], object]] = {
    "page": lambda tiny, _: tiny.page("# Share {#share}\n"),
    "new page": lambda tiny, _: tiny.page("# Other {#other}\n", "docs/residual/other.md"),
    "asset": lambda tiny, _: tiny.write("docs/assets/a.css", ""),
    "snippet": lambda tiny, _: tiny.have("share = 0.8811\n", {"share": 0.8811}),
    "record": lambda tiny, _: tiny.record({"share": 0.8811}),
    "engine": lambda tiny, _: tiny.write("scripts/engine.py", "x = 2\n"),
    "configuration": lambda tiny, _: tiny.write("mkdocs.yml", "site_name: other\n"),
    "site edited": lambda tiny, _: tiny.write("site/index.html", "share 0.882"),
    "site added to": lambda tiny, _: tiny.write("site/other.html", ""),
    "site gone": lambda tiny, _: (tiny.root / "site/index.html").unlink(),
    "Python": lambda _, patch: patch.setattr(sys, "version", "4.0"),
    "packages": lambda tiny, patch: patch.syspath_prepend(tiny.write("lib/x-2.0.dist-info/METADATA", "").parents[1]),
    "memory lost": lambda tiny, _: (tiny.project.cache / "built").unlink(),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_noticed(built: tuple[Tiny, list[str]], monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    tiny, calls = built
    CHANGES[what](tiny, monkeypatch)
    assert main(["build"]) == 0
    assert calls == ["built", "built"]


def test_fresh_is_done_anyway(built: tuple[Tiny, list[str]]) -> None:
    assert main(["build", "--fresh"]) == 0
    assert built[1] == ["built", "built"]


def test_an_edit_while_the_site_is_built_counts(tiny: Tiny) -> None:
    before = unchanged.inputs(tiny.project)
    tiny.project.cache.mkdir()
    tiny.page("# Edited {#edited}\n")
    unchanged.remember(tiny.project, before)
    assert not unchanged.since_last_build(tiny.project, unchanged.inputs(tiny.project))


def test_a_build_that_failed_is_not_remembered(built: tuple[Tiny, list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    tiny, _ = built
    tiny.page("# Edited {#edited}\n")
    monkeypatch.setattr(publish, "build", lambda _: 1)
    assert main(["build"]) == 1
    assert main(["build"]) == 1
