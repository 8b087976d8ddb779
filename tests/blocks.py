"""What pytest-codeblocks extracts from the resolved chapters: what it should be, and what running it says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_codeblocks import extract_from_file

from evidence import bare, check, compare, resolve
from evidence.check import Findings
from evidence.links import Page
from evidence.project import Project
from evidence.record import Record
from evidence.run import Job, Run, Runner
from evidence.snippet import Snippet

PYTHON = re.compile(r"^[ \t>*+-]*(?:`{3,}|~{3,})[^`\n]*\b(?:i?py\d?|python\d?|pycon)\b", re.MULTILINE | re.IGNORECASE)
SHOWS_MARKDOWN = {"md", "markdown"}

Results = dict[str, tuple[Run, dict[str, str]]]  # by the script's name: its run, and what failed by tail


@dataclass(frozen=True)
class Block:
    """One extracted block. `place` is the file and line it comes from, `tail` the assertions below the script."""

    page: str
    place: str
    code: str
    script: Snippet
    tail: str


@dataclass(frozen=True)
class State:
    """A project as it stands, read once."""

    project: Project
    snippets: dict[str, Snippet]
    records: dict[str, Record]
    found: Findings


def read(project: Project) -> State:
    return State(project, *check.load(project))


def extracted(state: State) -> list[Block]:
    """Writes the resolved chapters and gives the Python blocks that pytest-codeblocks finds in them."""
    blocks = []
    for path in resolve.write_all(state.project, state.found, state.snippets, state.records):
        page = "docs/" + path.relative_to(state.project.cache / "resolved").as_posix()
        lines = json.loads(path.with_suffix(".lines.json").read_text(encoding="utf-8"))
        for block in extract_from_file(path):
            if block.syntax == "python":
                origin, line = lines[
                    block.lineno
                ]  # the line after the opening fence: lines count from 1, the list from 0
                blocks.append(_block(state, page, origin, line, block.code))
    return blocks


def _block(state: State, page: str, origin: str, line: int, code: str) -> Block:
    script = state.snippets.get(origin.removeprefix("snippets/").removesuffix(".py"))
    if script is None:  # a fence of the page itself; the blank lines give its traceback the page's line numbers
        path = state.project.root / page
        return Block(page, f"{page}:{line}", code, Snippet(f"{page}:{line}", path, "\n" * (line - 1) + code), "")
    source = script.source.rstrip("\n") + "\n"
    assert code.startswith(source), f"{page}: a block of {origin} does not begin with the snippet"
    return Block(page, f"{page} ({origin})", code, script, code.removeprefix(source))


def expected(state: State, page: Page) -> list[str]:
    """The code of every block of a page, told from the page: its own fences, what it embeds, and what it cites."""
    claims = state.found.of(page.path)
    embedded = [link.path or "" for link in page.links if link.role == "snippet"]
    cited = [claim.evidence.partition("#")[0] for claim in claims if ".py#" in claim.evidence]
    codes = [fence.code for fence in page.fences if fence.collected and fence.reason is None]
    for path in dict.fromkeys(embedded + cited):
        name = path.removeprefix("snippets/")[:-3]
        if name not in state.snippets:
            continue
        asserted = [line for line, _ in resolve.assertions(claims, name)]
        tail = "".join(f"{line}\n" for line in [resolve.HEADING, *asserted]) if asserted else ""
        codes.append(state.snippets[name].source.rstrip("\n") + "\n" + tail)
    return codes


def uncollected(state: State, blocks: Iterable[Block]) -> list[str]:
    """What differs between the Python fences that stand in the pages and the blocks that were extracted."""
    told = []
    for page in state.found.pages.values():
        shown = [fence for fence in page.fences if fence.info.split(" ")[0] in SHOWS_MARKDOWN]
        lines = [page.line(match.start()) for match in PYTHON.finditer(page.text)]
        lines = [line for line in lines if not any(fence.line < line < fence.end for fence in shown)]
        seen = [fence.line for fence in page.fences if fence.looks_python]
        told += [f"{page.path}:{line}: a Python fence that only one of two counts sees" for line in {*lines} ^ {*seen}]
        found = [block.code for block in blocks if block.page == page.path]
        if sorted(found) != sorted(expected(state, page)):
            told.append(f"{page.path}: {len(found)} blocks collected, not those {len(expected(state, page))} it holds")
    return told


def run(project: Project, blocks: Iterable[Block], more: Iterable[Snippet] = ()) -> Results:
    """Runs each script once, isolated, two at a time."""
    tails: dict[str, list[str]] = {}
    scripts = {block.script.name: block.script for block in blocks} | {script.name: script for script in more}
    for block in blocks:
        tails.setdefault(block.script.name, []).append(block.tail)
    jobs = [Job(script, checks=tuple(tails.get(name, ()))) for name, script in scripts.items()]
    results: Results = {}
    for ended in Runner(project).run_all(jobs):
        name = ended.snippet.name
        failed = {tail: said for tail, said in zip(tails.get(name, []), ended.checks, strict=False) if said}
        results[name] = ended, failed
    return results


def failure(block: Block, results: Results) -> str | None:
    """What is wrong with a block that was run; None if it passed."""
    ended, failed = results[block.script.name]
    if ended.error:
        return f"{block.place}: {ended.error}"
    if block.tail and len(ended.checks) == 0:
        return f"{block.place}: its assertions did not run"
    return f"{block.place}: {failed[block.tail]}" if block.tail in failed else None


def drift(state: State, name: str, results: Results) -> list[str]:
    """What a fresh run of a snippet says otherwise than its record."""
    ended, _ = results[name]
    if ended.record is None:
        return [f"snippets/{name}.py failed: {ended.error}"]
    if name not in state.records:
        return [f"snippets/{name}.py has no usable record"]
    return [f"snippets/{name}.py: {line}" for line in compare.differences(state.records[name], ended.record)]


def everything(project: Project) -> list[str]:
    """Whatever the suite would report on a project; empty if it is sound."""
    state = read(project)
    blocks = extracted(state)
    results = run(project, blocks, state.snippets.values())
    told = [str(problem) for problem in state.found.problems]
    told += [f"{one.page}:{one.line}: {one.text!r} is unbound" for one in bare.unbound(*_of(state))[0]]
    told += uncollected(state, blocks)
    told += [said for block in blocks if (said := failure(block, results))]
    return told + [line for name in state.snippets for line in drift(state, name, results)]


def _of(state: State) -> tuple[Findings, dict[str, Snippet], dict[str, Record]]:
    return state.found, state.snippets, state.records
