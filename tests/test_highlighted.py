"""What saves time in a build changes nothing: code colored once is colored the same, and search reads the same text."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pygments
import pytest
from material.plugins.search.plugin import Parser

from evidence_site import highlighted, hooks

SOURCE = "x = 1 < 2  # <b>\nprint(f'{x}')\n"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highlighted, "_known", {})
    monkeypatch.setattr(highlighted, "_used", {})


def restart() -> None:
    highlighted._known.clear()
    highlighted._used.clear()


def test_the_next_build_takes_what_the_last_one_colored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = highlighted.python(SOURCE)
    assert '<span class="n">x</span>' in first
    assert "&lt;b&gt;" in first
    highlighted.save(tmp_path / "cache")
    restart()
    highlighted.load(tmp_path / "cache")
    monkeypatch.setattr(pygments, "highlight", lambda *_: "colored again")
    assert highlighted.python(SOURCE) == first
    assert highlighted.python("y = 2\n") == "colored again"
    monkeypatch.setattr(pygments, "__version__", "99")
    assert highlighted.python(SOURCE) == "colored again"


def test_code_that_is_shown_no_more_is_dropped(tmp_path: Path) -> None:
    highlighted.python(SOURCE)
    highlighted.save(tmp_path)
    highlighted.load(tmp_path)  # a server builds again
    highlighted.python("y = 2\n")
    highlighted.save(tmp_path)
    restart()
    highlighted.load(tmp_path)
    assert ["y" in str(html) for html in highlighted._known.values()] == [True]


@pytest.mark.parametrize("lie", ["<span>x</span> = 1 &lt; 3", 5, None, ["x"], ""])
def test_a_color_of_other_code_is_not_believed(tmp_path: Path, lie: object) -> None:
    true = highlighted.python(SOURCE)
    highlighted.save(tmp_path)
    path = tmp_path / "highlighted.json"
    path.write_text(json.dumps(dict.fromkeys(json.loads(path.read_text()), lie)))
    restart()
    highlighted.load(tmp_path)
    assert highlighted.python(SOURCE) == true


@pytest.mark.parametrize("content", ['{"a": "b', "", "[1]", "3", "[" * 200_000])
def test_a_file_cut_off_is_made_anew(tmp_path: Path, content: str) -> None:
    (tmp_path / "highlighted.json").write_text(content)
    highlighted.load(tmp_path)
    assert "print" in highlighted.python(SOURCE)
    highlighted.save(tmp_path)
    assert "print" in (tmp_path / "highlighted.json").read_text()


def test_search_reads_the_same_text_without_colors() -> None:
    html = f'<h1 id="a">A <span class="b">b</span></h1><p>c</p><pre><code>{highlighted.python(SOURCE)}</code></pre>'
    page: Any = SimpleNamespace(content=html, meta={})
    methods: Any = hooks.on_page_context.methods
    before, after = methods
    nothing: Any = None
    before({}, page, nothing, nothing)
    light = page.content
    assert "<span" not in light
    assert "<h1" in light
    after({}, page, nothing, nothing)
    assert (page.content, page.meta) == (html, {})
    read = []
    for content in (html, light):
        parser = Parser()
        parser.feed(content)
        parser.close()
        read.append([("".join(section.title), "".join(section.text)) for section in parser.data])
    assert read[0] == read[1]
