"""Holds the statements where their author did not look: in a fresh interpreter, on other seeds, on other machines."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evidence import check, compare, tally
from evidence.check import Claim, Findings
from evidence.project import Problem, Project, Refusal
from evidence.record import Record, versions
from evidence.run import Job, Runner
from evidence.snippet import Snippet, name_of, with_seeds

PER_DAY, DAYS = 2000, 490  # seeds from one day to the next; after so many days they recur, so that they stay short
SLOWER = 5  # times its limit that a run may take: without the processor's vectors, or beside other work
NEAR = 0.8  # share of a band from which a statement that holds is told as well
TOLD = 0.05  # share of its tolerance by which a value has to move on another machine for that to be told
LEAST = {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41", "MKL_CBWR": "COMPATIBLE"}
AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_CBWR": "AVX2"}
MACHINES: dict[str, tuple[int, dict[str, str]]] = {  # threads, and what the libraries are told to use
    "one thread": (1, {}),
    "two threads": (2, {}),
    "AVX2 in all": (1, AVX2),
    "ATen without vectors": (1, {"ATEN_CPU_CAPABILITY": "default"}),
    "oneDNN with SSE4.1": (1, {"ONEDNN_MAX_CPU_ISA": "SSE41"}),
    "MKL as on any processor": (1, {"MKL_CBWR": "COMPATIBLE"}),
    "the least of each, two threads": (2, LEAST),
}


def verify(project: Project, names: Iterable[str] = (), table: Path | None = None) -> int:
    """Old → new for every value that differs, forked and cold, the share of tolerance used, and the pages it is on.

    `table`: a file in which the row of this Python and torch is to say what came of it.
    """
    tally.VERSIONS.ready(table)
    snippets, records, found = _sound(project)
    failed = moved = 0
    judged: list[tuple[Claim, Claim | None]] = []
    runs: dict[tuple[str, bool], Record] = {}
    chosen = _chosen(snippets, names)
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
        problems, pairs = _again(project, snippets, records, fresh, found)
        failed += _moved(problems, pairs)
        if not cold:
            steady = {name: record for name, record in fresh.items() if not record.machine.get("timed")}
            moved = sum(_bits(records[name]) != _bits(record) for name, record in steady.items())
            judged = _judged(pairs, steady)
    print(
        f"{len(runs)} runs of {len(chosen)} snippets compared: some bit differs in {moved}, "
        f"{failed} differences beyond tolerance"
    )
    if table:
        row: dict[str, Any] = {name: value for name, value in versions().items() if name != "matplotlib"}
        row |= {"snippets": len(chosen), "moved": moved, "statements": len(judged), "failed": failed}
        row["shift"] = _most(judged)
        tally.VERSIONS.note(table, [row])
    return 1 if failed else 0


def unseen(project: Project, names: Iterable[str] = (), start: int | None = None, table: Path | None = None) -> int:
    """Judges what is stated of snippets with seeds on as many others: those of the day, or from `start` on.

    `table`: a file in which the row of these seeds is to say what came of it.
    """
    tally.UNSEEN.ready(table)
    if start is None:
        start = 10_000 + datetime.now(UTC).date().toordinal() % DAYS * PER_DAY
    snippets, records, found = _sound(project)
    jobs = []
    for script in _chosen(snippets, names):
        seeds = records[script.name].values.get("seeds")
        try:
            source = with_seeds(script.source, f"range({start}, {start} + {len(seeds or '')})")
        except ValueError:
            continue
        if isinstance(seeds, list):
            jobs.append(Job(dataclasses.replace(script, source=source)))
    print(f"seeds from {start} on, for {len(jobs)} snippets; again: verify --unseen --start {start}", flush=True)
    fresh, failed = _run(Runner(project, patience=SLOWER), jobs)
    held = 0
    _, pairs = _again(project, snippets, records, fresh, found)
    for claim, new in _judged(pairs, fresh):
        told = _told(new)
        if told is None:
            held += 1
        elif told.startswith("holds"):
            held += 1
            print(f"{_place(claim)}: {told}")
        else:
            failed += 1
            print(f"FAILS {_place(claim)}: {told}")
    print(f"{held} statements hold on seeds from {start} on, {failed} do not (or their snippet failed)")
    if table:
        row = {"seeds from": start, "snippets": len(jobs), "held": held, "failed": failed}
        tally.UNSEEN.note(table, [row])
    return 1 if failed else 0


def machines(project: Project, names: Iterable[str] = (), table: Path | None = None) -> int:
    """Judges all statements with other threads and instruction sets; `table`: a file for what came of it.

    Timings are left out: what is stated of them is stated of one machine.
    """
    tally.MACHINES.ready(table)
    snippets, records, found = _sound(project)
    jobs = [Job(script) for script in _chosen(snippets, names) if not script.timed]
    base: dict[str, Record] = {}
    rows: list[dict[str, Any]] = []
    for machine, (threads, environment) in MACHINES.items():
        runner = Runner(project, workers=2 // threads, threads=threads, environment=environment, patience=SLOWER)
        fresh, failed = _run(runner, jobs)
        problems, pairs = _again(project, snippets, records, fresh, found)
        for problem in problems:
            print(problem)
        base = base or fresh
        judged = _judged(pairs, fresh)
        _tell_shifts(judged)
        row = {
            "setting": machine,
            "told": " ".join(f"{name}={value}" for name, value in environment.items()) or "nothing",
            "threads": threads,
            "snippets": len(fresh),
            "moved": sum(_bits(base[name]) != _bits(record) for name, record in fresh.items() if name in base),
            "statements": len(judged),
            "failed": failed + len(problems),
            "shift": _most(judged),
        }
        rows.append(row)
        print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    if table:
        tally.MACHINES.note(table, rows)
    if not any(row["moved"] for row in rows):
        print("no setting changed a bit here, so this shows nothing")
        return 1
    return 1 if any(row["failed"] for row in rows) else 0


def _most(judged: list[tuple[Claim, Claim | None]]) -> float:
    return round(max((_shift(old, new) for old, new in judged if new), default=0.0), 2)


def _shift(old: Claim, new: Claim) -> float:
    """How far a value moved from the record's, in tolerances of what is stated of it."""
    before, after, tolerance = old.verdict.measured, new.verdict.measured, new.verdict.tolerance
    if before == after or not tolerance or not isinstance(before, (int, float)) or not isinstance(after, (int, float)):
        return 0.0
    return abs(after - before) / tolerance


def _tell_shifts(judged: list[tuple[Claim, Claim | None]]) -> None:
    for old, new in judged:
        if new and (shift := _shift(old, new)) >= TOLD:
            values = f"{old.verdict.measured!r} → {new.verdict.measured!r}"
            print(f"{_place(new)}: {values}, {shift:.0%} of the tolerance")


def _sound(project: Project) -> tuple[dict[str, Snippet], dict[str, Record], Findings]:
    snippets, records, found = check.load(project)
    if found.problems:
        raise Refusal(found.problems)
    return snippets, records, found


def _chosen(snippets: Mapping[str, Snippet], names: Iterable[str]) -> list[Snippet]:
    """The snippets named, or all, without those that lack a package here: their records stand."""
    chosen = [snippets[name] for name in names] or list(snippets.values())
    for script in chosen:
        if script.lacks:
            print(f"{script.rel} is left out: it needs {', '.join(script.lacks)}, which is not installed")
    return [script for script in chosen if not script.lacks]


def _run(runner: Runner, jobs: list[Job]) -> tuple[dict[str, Record], int]:
    """The records by name, and how many runs failed; those are told."""
    fresh: dict[str, Record] = {}
    for run in runner.run_all(jobs):
        if run.record and not run.error:
            fresh[run.snippet.name] = run.record
        else:
            print(f"{run.snippet.rel}: run failed: {run.error}")
    return fresh, len(jobs) - len(fresh)


def _judged(pairs: list[tuple[Claim, Claim | None]], fresh: Mapping[str, Record]) -> list[tuple[Claim, Claim | None]]:
    """Those of the pairs that are about these snippets; a setting is not measured."""
    return [(old, new) for old, new in pairs if name_of(old.source) in fresh and old.verdict.kind != "setting"]


def _told(new: Claim | None) -> str | None:
    """What is to be told of a statement judged again: nothing, that it holds barely, or not."""
    if new is None:
        return "can no longer be judged"
    v = new.verdict
    share = "" if v.used is None or not math.isfinite(v.used) else f", {v.used:.0%} of its band"
    told = f"{v.kind}: stated {new.link.text}, measured {_short(v.measured)}{share}"
    near = v.used is not None and v.used >= NEAR and v.kind == "statistical"
    return f"holds, {told}" if v.holds and near else None if v.holds else told


def _moved(problems: list[Problem], pairs: list[tuple[Claim, Claim | None]]) -> int:
    """Tells each problem of the pages, and each stated value that moved; how many problems there are."""
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
