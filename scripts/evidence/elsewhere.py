"""Holds the statements where their author did not look: in a fresh interpreter, on other seeds, on other machines."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from evidence import check, compare
from evidence.check import Claim, Findings
from evidence.project import Problem, Project, Refusal
from evidence.record import Record
from evidence.run import Job, Runner
from evidence.snippet import Snippet, name_of, with_seeds

PER_DAY, DAYS = 2000, 490  # seeds from one day to the next; after so many days they recur, so that they stay short
SLOWER = 5  # times its limit that a run may take: without the processor's vectors, or beside other work
NEAR = 0.8  # share of a band from which a statement that holds is told as well
MACHINES: dict[str, tuple[int, dict[str, str]]] = {  # threads, and what the libraries are told to use
    "one thread": (1, {}),
    "two threads": (2, {}),
    "ATen without vectors": (1, {"ATEN_CPU_CAPABILITY": "default"}),
    "ATen with AVX2": (1, {"ATEN_CPU_CAPABILITY": "avx2"}),
    "oneDNN with SSE4.1": (1, {"ONEDNN_MAX_CPU_ISA": "SSE41"}),
    "MKL as on any processor": (1, {"MKL_CBWR": "COMPATIBLE"}),
    "all of these, two threads": (
        2,
        {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41", "MKL_CBWR": "COMPATIBLE"},
    ),
}


def verify(project: Project, names: Iterable[str] = ()) -> int:
    """Old → new for every value that differs, forked and cold, the share of tolerance used, and the pages it is on."""
    snippets, records, found = _sound(project)
    failed = 0
    runs: dict[tuple[str, bool], Record] = {}
    chosen = [snippets[name] for name in names] or list(snippets.values())
    for cold in (False, True):
        fresh: dict[str, Record] = {}
        for run in Runner(project, cold=cold).run_all([Job(script) for script in chosen]):
            name, how = run.snippet.name, "cold" if cold else "forked"
            if run.error or not run.record:
                print(f"{name}: {how} run failed: {run.error}")
                failed += 1
                continue
            fresh[name] = runs[name, cold] = run.record
            told = list(compare.differences(records[name], run.record))
            timed = run.record.machine.get("timed")
            if cold and not timed and (name, False) in runs and runs[name, False].output != run.record.output:
                told.append("prints otherwise cold than forked")
            for line in told:
                print(f"{name} ({how}): {line}")
            failed += bool(told)
        failed += _moved(project, snippets, records, fresh, found)
    print(f"{len(runs)} runs of {len(chosen)} snippets compared, {failed} differences beyond tolerance")
    return 1 if failed else 0


def unseen(project: Project, names: Iterable[str] = (), start: int | None = None) -> int:
    """Judges what is stated of snippets with seeds on as many others: those of the day, or from `start` on."""
    if start is None:
        start = 10_000 + datetime.now(UTC).date().toordinal() % DAYS * PER_DAY
    snippets, records, found = _sound(project)
    jobs = []
    for name in list(names) or snippets:
        seeds = records[name].values.get("seeds")
        try:
            source = with_seeds(snippets[name].source, f"range({start}, {start} + {len(seeds or '')})")
        except ValueError:
            continue
        if isinstance(seeds, list):
            jobs.append(Job(dataclasses.replace(snippets[name], source=source)))
    print(f"seeds from {start} on, for {len(jobs)} snippets; again: verify --unseen --start {start}", flush=True)
    fresh, failed = _run(Runner(project, patience=SLOWER), jobs)
    held = 0
    for claim, told in _judged(project, snippets, records, fresh, found):
        if told is None:
            held += 1
        elif told.startswith("holds"):
            held += 1
            print(f"{_place(claim)}: {told}")
        else:
            failed += 1
            print(f"FAILS {_place(claim)}: {told}")
    print(f"{held} statements hold on seeds from {start} on, {failed} do not (or their snippet failed)")
    return 1 if failed else 0


def machines(project: Project, names: Iterable[str] = ()) -> int:
    """Judges all statements with other threads and instruction sets, each in fresh interpreters."""
    snippets, records, found = _sound(project)
    chosen = [snippets[name] for name in names] or list(snippets.values())
    base: dict[str, Record] = {}
    bad, changed_somewhere = 0, False
    for machine, (threads, environment) in MACHINES.items():
        runner = Runner(project, cold=True, threads=threads, environment=environment, patience=SLOWER)
        fresh, failed = _run(runner, [Job(script) for script in chosen])
        failed += _moved(project, snippets, records, fresh, found)
        base = base or fresh
        moved = [name for name in fresh if name in base and _bits(base[name]) != _bits(fresh[name])]
        changed_somewhere |= bool(moved)
        settings = " ".join(f"{name}={value}" for name, value in environment.items())
        told = f"{machine} ({settings or f'{threads} thread' + 's' * (threads > 1)}): {failed} statements or runs fail"
        print(told + ("" if base is fresh else f"; other bits in {len(moved)} of {len(fresh)} snippets"), flush=True)
        bad += failed
    if not changed_somewhere:
        print("no setting changed a bit here, so this shows nothing")
    return 1 if bad or not changed_somewhere else 0


def _sound(project: Project) -> tuple[dict[str, Snippet], dict[str, Record], Findings]:
    snippets, records, found = check.load(project)
    if found.problems:
        raise Refusal(found.problems)
    return snippets, records, found


def _run(runner: Runner, jobs: list[Job]) -> tuple[dict[str, Record], int]:
    """The records by name, and how many runs failed; those are told."""
    fresh: dict[str, Record] = {}
    for run in runner.run_all(jobs):
        if run.record and not run.error:
            fresh[run.snippet.name] = run.record
        else:
            print(f"{run.snippet.rel}: run failed: {run.error}")
    return fresh, len(jobs) - len(fresh)


def _judged(
    project: Project,
    snippets: Mapping[str, Snippet],
    records: Mapping[str, Record],
    fresh: Mapping[str, Record],
    found: Findings,
) -> Iterable[tuple[Claim, str | None]]:
    """Each statement about these snippets with what is to be told of it: nothing, that it holds barely, or not."""
    _, pairs = _again(project, snippets, records, fresh, found)
    for claim, new in pairs:
        if name_of(claim.source) not in fresh or claim.verdict.kind == "setting":
            continue
        if new is None:
            yield claim, "can no longer be judged"
            continue
        v = new.verdict
        share = "" if v.used is None or not math.isfinite(v.used) else f", {v.used:.0%} of its band"
        told = f"{v.kind}: stated {claim.link.text}, measured {_short(v.measured)}{share}"
        near = v.used is not None and v.used >= NEAR and v.kind == "statistical"
        yield claim, f"holds, {told}" if v.holds and near else None if v.holds else told


def _moved(
    project: Project,
    snippets: Mapping[str, Snippet],
    records: Mapping[str, Record],
    fresh: Mapping[str, Record],
    found: Findings,
) -> int:
    """Tells each stated value that moved, and each problem of the pages; how many problems there are."""
    problems, pairs = _again(project, snippets, records, fresh, found)
    for problem in problems:
        print(problem)
    for old, new in pairs:
        if new and new.verdict.used is not None and old.verdict.measured != new.verdict.measured:
            values = f"{old.verdict.measured!r} → {new.verdict.measured!r}"
            print(f"{_place(new)}: {values}, {new.verdict.used:.0%} of the tolerance used")
    return len(problems)


def _again(
    project: Project,
    snippets: Mapping[str, Snippet],
    records: Mapping[str, Record],
    fresh: Mapping[str, Record],
    found: Findings,
) -> tuple[list[Problem], list[tuple[Claim, Claim | None]]]:
    """What the fresh runs make of the pages: the problems, and each claim with what became of it."""
    again = check.check(project, snippets, {**records, **fresh})
    now = {(claim.link.page, claim.link.start): claim for claim in again.claims}
    return again.problems, [(claim, now.get((claim.link.page, claim.link.start))) for claim in found.claims]


def _place(claim: Claim) -> str:
    return f"{claim.link.page}:{claim.link.line}"


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def _bits(record: Record) -> tuple[str, dict[str, bytes]]:
    return repr(dict(record.values)), dict(record.files)
