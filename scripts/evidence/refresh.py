"""Brings the records up to date: runs what is stale, judges every statement, and only then accepts what is new."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock

from evidence import bare, check, record, snippet
from evidence.compare import differences
from evidence.project import Problem, Project, Refusal
from evidence.record import Damaged, Record
from evidence.run import Job, Runner
from evidence.snippet import Snippet


@dataclass
class Refreshed:
    """What a refresh came to: `ran` names the snippets run now, `changed` the records that were rewritten and why.

    `elsewhere` holds the problems that do not concern the snippets asked for; without such a choice there are none.
    `exempt` counts by kind the numerals that may stand unlinked.
    """

    snippets: dict[str, Snippet]
    records: dict[str, Record]
    found: check.Findings
    ran: list[str] = field(default_factory=list)
    changed: dict[str, list[str]] = field(default_factory=dict)
    elsewhere: list[Problem] = field(default_factory=list)
    exempt: Counter[str] = field(default_factory=Counter)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def refresh(
    project: Project,
    fresh: bool = False,
    only: Iterable[str] | None = None,
    tell: Callable[[str], None] = say,
) -> Refreshed:
    """Runs what is stale (`fresh`: everything; `only`: just these and what reads their files), then checks all pages.

    A run is kept in `.cache/runs`, so the same source, inputs and versions are never run twice on one machine. The
    committed record is replaced only if the source changed or the run says something else beyond tolerance, and only
    if every statement of every page still holds (`only`: every statement about these). Raises `Refusal` otherwise;
    the records are then untouched.
    """
    project.cache.mkdir(exist_ok=True)
    with FileLock(project.cache / "refresh.lock"):
        shutil.rmtree(project.cache / "parts", ignore_errors=True)  # what a killed refresh left
        snippets = snippet.load_all(project)
        for name in snippets:
            record.recover(project.snippets / name)
        wanted = set(snippets) if only is None else set(only)
        problems = [problem for script in snippets.values() for problem in script.problems(project)]
        faulty = {problem.page for problem in problems}
        current, standing = check.committed(project, snippets)
        candidates: dict[str, Record] = {}
        result = Refreshed(snippets, candidates, check.Findings())
        for level in _levels(snippets):
            jobs = []
            for name in level:
                script = snippets[name]
                if script.rel in faulty:
                    continue
                files = {path: found for path in script.reads if (found := _written(project, path, result, current))}
                if any(_owner(path, snippets) in wanted for path in script.reads):
                    wanted.add(name)
                if name not in wanted:
                    continue  # its record stands as it is
                lost = [path for path in script.reads if not (files.get(path) or project.root / path).is_file()]
                if lost:
                    said = f"cannot run without {', '.join(lost)}; the snippet that writes it has failed, or did not"
                    problems.append(Problem(script.rel, 1, said))
                    continue
                key = record.fingerprint(project, script, files)
                # the run kept here comes before the committed record, which someone may have edited
                known = [] if fresh or only is not None else [_kept(project, name), current.get(name)]
                match = next((one for one in known if one and one.fingerprint == key), None)
                if script.lacks and not match:
                    match = _stands_without(project, script, current.get(name), problems, tell)
                    if match is None:
                        continue
                if match:
                    candidates[name] = _prefer(current.get(name), match)
                else:
                    jobs.append(Job(script, files=files))
            _run(project, jobs, current, problems, result, tell)
        for name, last_good in current.items():  # a failed snippet is one problem, not one for each number it bears
            candidates.setdefault(name, last_good)
        result.found = check.check(project, snippets, candidates)
        problems += [p for p in result.found.problems if p not in problems]
        left, result.exempt = bare.unbound(result.found, snippets, candidates)
        problems += [unbound_problem(one) for one in left]
        problems += [p for p in standing if "without its snippet" in p.message]
        blocking = [p for p in problems if only is None or any(_concerns(p, name) for name in wanted)]
        result.elsewhere = [problem for problem in problems if problem not in blocking]
        if blocking:
            refusal = Refusal(blocking)
            refusal.partial = result
            raise refusal
        damaged = {problem.page: problem.message.partition(";")[0] for problem in standing}
        for name, new in candidates.items():
            if current.get(name) is not new:
                old = current.get(name)
                why = list(differences(old, new)) if old else []
                plain = "its source or input changed; it says the same" if old else "new"
                result.changed[name] = why or [damaged.get(f"snippets/{name}/record.json", plain)]
        try:
            accepted = {project.snippets / name: candidates[name] for name in result.changed}
            record.save_all(accepted, project.cache / "parts")
        except OSError as error:
            raise Refusal([Problem("snippets", 0, f"records cannot be written: {error}")]) from None
        for name, why in result.changed.items():
            tell(f"record of {name}: {'; '.join(why)}")
        hold = sum(claim.verdict.holds for claim in result.found.claims)
        tell(f"{len(result.ran)} of {len(snippets)} snippets run; {hold} statements hold")
        return result


def _run(
    project: Project,
    jobs: list[Job],
    current: Mapping[str, Record],
    problems: list[Problem],
    result: Refreshed,
    tell: Callable[[str], None],
) -> None:
    for count, run in enumerate(Runner(project).run_all(jobs) if jobs else (), 1):
        name = run.snippet.name
        result.ran.append(name)
        tell(f"[{count}/{len(jobs)}] ran {run.snippet.rel}" + (": failed" if run.error else ""))
        if run.stderr.strip():
            tell(run.stderr.rstrip())
        if run.error or not run.record:
            problems.append(
                Problem(
                    run.snippet.rel,
                    0,
                    f"failed: {run.error}\nmend it, and run: python3 scripts/dev.py run {run.snippet.name}",
                )
            )
            continue
        try:
            record.save(run.record, project.cache / "runs" / name, project.cache / "parts")
        except OSError as error:
            problems.append(Problem(run.snippet.rel, 0, f"its run cannot be kept: {error}"))
            continue
        result.records[name] = _prefer(current.get(name), run.record)


def _stands_without(
    project: Project, script: Snippet, old: Record | None, problems: list[Problem], tell: Callable[[str], None]
) -> Record | None:
    """The committed record of a snippet that cannot run here, since a package that it requires is not installed."""
    lacks = ", ".join(script.lacks)
    if old and dict(old.inputs) == record.inputs(project, script):
        tell(f"{script.rel} needs {lacks}, which is not installed: its committed record stands")
        return old
    said = f"needs {lacks}, which is not installed, and has no record of this source; pip install {lacks}"
    problems.append(Problem(script.rel, 1, said))
    return None


def _prefer(old: Record | None, new: Record) -> Record:
    """The committed record if it is of the same source and inputs and the new run says the same within tolerance."""
    if old and dict(old.inputs) == dict(new.inputs) and not any(differences(old, new)):
        return old
    return new


def _concerns(problem: Problem, name: str) -> bool:
    return any(f"snippets/{name}{end}" in str(problem) for end in (".py", "/"))


def _kept(project: Project, name: str) -> Record | None:
    try:
        return record.load(project.cache / "runs" / name)
    except (FileNotFoundError, Damaged):
        return None


def _owner(path: str, snippets: Mapping[str, Snippet]) -> str | None:
    """The snippet that writes the file, if one does."""
    name = Path(path).parent.as_posix().removeprefix("snippets/")
    return name if name in snippets else None


def _written(project: Project, path: str, result: Refreshed, current: Mapping[str, Record]) -> Path | None:
    """Where a file that another snippet writes lies while its new record is not accepted yet; None: in its place."""
    owner = _owner(path, result.snippets)
    if owner is None or owner not in result.records or result.records[owner] is current.get(owner):
        return None
    return project.cache / "runs" / owner / Path(path).name


def _levels(snippets: Mapping[str, Snippet]) -> list[list[str]]:
    """Snippets in an order in which files are written before they are read."""
    depth: dict[str, int] = {}

    def level(name: str, above: tuple[str, ...] = ()) -> int:
        if name in above:
            raise Refusal([Problem(snippets[name].rel, 1, f"reads in a circle: {' → '.join((*above, name))}")])
        if name not in depth:
            owners = [owner for path in snippets[name].reads if (owner := _owner(path, snippets))]
            depth[name] = 1 + max((level(owner, (*above, name)) for owner in owners), default=-1)
        return depth[name]

    order: list[list[str]] = []
    for name in snippets:
        while len(order) <= level(name):
            order.append([])
        order[level(name)].append(name)
    return order


def unbound_problem(one: bare.Bare) -> Problem:
    return Problem(
        one.page,
        one.line,
        f"{one.text!r} is bound to nothing; link it to the variable that bears it out, or say it without a number",
    )
