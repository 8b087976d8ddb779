"""Proves that each copy button copies what is shown, and that what it copies runs alone and prints the same."""

from __future__ import annotations

import random
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browsing import ROOT, pages
from evidence import compare, record, snippet
from evidence.project import Project

PROJECT = Project(ROOT)
SAMPLE = 5  # run in fresh interpreters each day; `dev.py verify` runs all of them so
COPY = """async () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
    const copied = [];
    for (const block of document.querySelectorAll(".snippet:has(.snippet-name)")) {
        const code = [];
        for (const pre of block.querySelectorAll(".highlight")) {
            pre.querySelector("button[data-clipboard-target], button.md-code__button, .md-clipboard").click();
            await new Promise(done => setTimeout(done, 30));
            code.push(await navigator.clipboard.readText());
        }
        copied.push([block.querySelector(".snippet-name").textContent, block.id, ...code]);
    }
    return copied;
}"""

Copied = dict[str, tuple[str, list[str]]]


@pytest.fixture(scope="module")
def copied(browser: Browser, address: str, site: Path) -> Copied:
    """By the snippet's name: the page it was copied from, and what its buttons gave."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    found: Copied = {}
    by_stem: dict[str, list[str]] = {}
    for name in snippet.load_all(PROJECT):
        by_stem.setdefault(name.rpartition("/")[2], []).append(name)
    for path in pages(site):
        page.goto(address + path)
        page.wait_for_load_state("networkidle")
        for file, _, *code in page.evaluate(COPY):
            same = by_stem[file.removesuffix(".py")]
            chosen = [name for name in same if code and snippet.load(PROJECT, name).source.rstrip() == code[0].rstrip()]
            found[chosen[0] if chosen else same[0]] = (path, code)
    context.close()
    assert len(found) > 50
    return found


def test_a_button_copies_the_whole_snippet(copied: Copied) -> None:
    for name, (page, code) in copied.items():
        assert code[0].rstrip() == snippet.load(PROJECT, name).source.rstrip(), f"{page}: {name}"


def test_the_check_is_the_snippet_with_assertions(copied: Copied) -> None:
    checks = 0
    for name, (page, code) in copied.items():
        for check in code[1:]:
            checks += 1
            assert check.startswith(snippet.load(PROJECT, name).source.rstrip()), f"{page}: {name}"
            assert "\nassert " in check, f"{page}: {name}"
    assert checks > 50


def test_what_is_copied_runs_alone_and_prints_what_is_shown(copied: Copied, tmp_path: Path) -> None:
    """A few each day, with the files that the page offers beside them in an otherwise empty folder."""
    today = datetime.now(UTC).date().isoformat()
    quick = [name for name in sorted(copied) if not {"timed", "limits"} & set(snippet.load(PROJECT, name).header)]
    chosen = random.Random(today).sample(quick, SAMPLE)
    print(f"run alone on {today}: {', '.join(chosen)}")
    for name in chosen:
        script = snippet.load(PROJECT, name)
        folder = tmp_path / name.replace("/", "-")
        folder.mkdir()
        for path in script.reads:
            (folder / Path(path).name).write_bytes((ROOT / path).read_bytes())
        code = copied[name][1][-1]
        ran = subprocess.run(
            [sys.executable, "-I", "-W", "ignore", "-c", code], cwd=folder, capture_output=True, text=True, timeout=120
        )
        assert ran.returncode == 0, f"{name}: {ran.stderr}"
        shown = record.load(PROJECT.snippets / name).output
        printed = ran.stdout.removesuffix("all hold\n")
        assert compare.same_text(shown.encode(), printed.encode()), f"{name}: {printed!r} is not {shown!r}"
