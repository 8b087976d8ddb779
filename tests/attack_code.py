"""Attacks the code: attack_code.py engine|snippets [--all FOLDER | --count N] [--seed N] [--only NAMES]

engine    each mutant of a module is held against the module's own tests: they must fail
snippets  each mutant of a snippet is run, and every page judged by what it gives: a statement must fail

Without --all, a sample that changes with the date, and nothing is written. --all takes hours, notes each module or
snippet in FOLDER as it is done, and goes on where it was stopped; code that changed since is attacked again.
The code changes in a copy.
(mutmut and cosmic-ray were looked at: both ask a test suite, and a snippet's test is the sentence that cites it.)
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import math
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hypothesis.strategies  # noqa: F401 - so that no fork has to
import psutil  # noqa: F401
import pytest
import yaml  # noqa: F401

from attack_summary import Outcome, digest, write_summary
from attack_tails import Tails, controls
from evidence import check, compare
from evidence.check import Findings
from evidence.project import Project
from evidence.record import Record
from evidence.run import Job, Runner
from evidence.snippet import name_of
from mutate import Change, changes

ROOT = Path(__file__).resolve().parents[1]
TESTS = {  # the engine's modules, with the tests that are about them
    "statement": "test_statement_words.py test_statement.py test_statement_edges.py test_statement_refused.py",
    "links": "test_links.py",
    "bare": "test_bare_edges.py test_bare.py test_bare_harmless.py",
    "check": "test_check.py test_check_beside.py test_check_edges.py test_check_form.py",
    "form": "test_check_form.py test_check.py test_traps.py",
    "markup": "test_markup.py",
    "beside": "test_check_beside.py",
    "project": "test_project.py test_check.py",
    "plain": "test_plain.py test_record.py",
    "record": "test_record.py test_record_swap.py",
    "compare": "test_record.py",
    "tables": "test_tables.py test_table_cells.py test_check.py test_check_edges.py",
    "snippet": "test_snippet.py test_snippet_form.py test_check.py test_check_form.py test_traps.py",
    "resolve": "test_resolve.py",
    "ledger": "test_ledger.py",
}
SERVED = {  # those whose tests start a fork server, which has to import the mutant: seconds each, so last
    "unchanged": "test_unchanged.py",
    "refresh": "test_refresh.py test_refresh_killed.py",
    "run": "test_run_edges.py test_run_many.py test_run.py test_run_faults.py test_run_reads.py",
    "child": "test_child_edges.py test_run.py test_run_faults.py test_run_reads.py",
    "keeper": "test_keeper.py test_run_faults.py test_faults.py test_holes.py",
    "confine": "test_run_reads.py test_holes.py",
    "elsewhere": "test_elsewhere_edges.py test_elsewhere.py",
    "tally": "test_elsewhere.py",
    "__main__": "test_commands_beside.py test_commands.py",
}
QUIET = "ignore::pytest.PytestAssertRewriteWarning"  # of what was imported before the fork
PATIENCE = 600  # seconds that the tests of a module may take
PATIENT = (
    5  # times what they take without the change that the tests of a mutant may; times its limit that a snippet may
)
Result = tuple[str, Change, str]  # module or snippet, what was changed, and its fate
Attack = Callable[[Sequence[tuple[str, Change]]], Iterator[Result]]


def sample(places: Mapping[str, str], seed: int, count: int) -> list[tuple[str, Change]]:
    every = [(name, change) for name, source in places.items() for change in changes(source)]
    return random.Random(seed).sample(every, min(count, len(every)))


# --- the engine ------------------------------------------------------------------------------------------------------


def modules() -> dict[str, str]:
    return {name: (ROOT / f"scripts/evidence/{name}.py").read_text(encoding="utf-8") for name in (*TESTS, *SERVED)}


def engine(made: Sequence[tuple[str, Change]]) -> Iterator[Result]:
    sources = modules()
    with tempfile.TemporaryDirectory(prefix="attack-", ignore_cleanup_errors=True) as scratch:
        copy = Path(scratch) / "copy"
        copy.parent.chmod(0o755)  # some tests become another user
        for name in ("scripts", "tests"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        for name in ("docs", "snippets", "mkdocs.yml"):
            (copy / name).symlink_to(ROOT / name)
        patience = {}
        for name in sorted({name for name, _ in made}):
            began = time.monotonic()
            if not _holds(copy, name, PATIENCE):  # the control
                raise SystemExit(f"the tests of {name} fail as it is")
            patience[name] = 30 + PATIENT * (time.monotonic() - began)
        for name, change in made:
            module = copy / f"scripts/evidence/{name}.py"
            module.write_text(change.source, encoding="utf-8")
            yield name, change, "survived" if _holds(copy, name, patience[name]) else "killed"
            module.write_text(sources[name], encoding="utf-8")


def _holds(copy: Path, name: str, patience: float) -> bool:
    if name in TESTS:
        return passes(copy, TESTS[name].split(), patience)
    tests = [f"tests/{test}" for test in SERVED[name].split()]
    command = [*_alone(), sys.executable, "-B", "-m", "pytest", *_options(copy), *tests]
    environment = {**os.environ, "PYTHONPATH": f"{copy / 'scripts'}{os.pathsep}{copy / 'tests'}"}
    with contextlib.suppress(subprocess.TimeoutExpired):  # a mutant that hangs is one that is noticed
        return not subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=patience).returncode
    return False


@functools.cache
def _alone() -> list[str]:
    """Root's mutants may mount something, so they get a view of the file systems that ends with them."""
    way = ["unshare", "--mount"]
    root = hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("unshare")
    return way if root and not subprocess.run([*way, "true"], capture_output=True).returncode else []


def passes(folder: Path, tests: list[str], patience: float = PATIENCE) -> bool:
    """Whether these tests of the copy pass, in a fork that has not imported the engine yet."""
    process = multiprocessing.get_context("fork").Process(target=_pytest, args=(folder, tests))
    process.start()
    process.join(patience)
    if process.exitcode is None:
        process.kill()
        process.join()
    return process.exitcode == 0


def _pytest(folder: Path, tests: list[str]) -> None:
    os.chdir(folder)
    ours = {ROOT, ROOT / "scripts", ROOT / "tests"}  # and not the packages, which may lie below ROOT too
    for name, module in list(sys.modules.items()):  # the engine, and the tests that a run of the suite has imported
        parents = Path(getattr(module, "__file__", None) or os.devnull).parents
        if name != "__main__" and (ROOT / "tests" in parents or ROOT / "scripts" in parents):
            del sys.modules[name]
    sys.path[:] = [path for path in sys.path if Path(path) not in ours]
    sys.path[:0] = [str(folder / "scripts"), str(folder / "tests")]
    sys.dont_write_bytecode = True
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1), os.dup2(null, 2)
    there = [f"tests/{name}" for name in tests if (folder / "tests" / name.partition("::")[0]).exists()]
    os._exit(int(pytest.main([*_options(folder), "--hypothesis-profile=ci", "-W", QUIET, *there])))


def _options(folder: Path) -> list[str]:
    """Each run has a folder of its own: what another one leaves there, even mounted, would be taken for a failure."""
    return ["-x", "-q", "-p", "no:cacheprovider", f"--basetemp={tempfile.mkdtemp(prefix='t', dir=folder.parent)}"]


# --- the snippets ----------------------------------------------------------------------------------------------------


class Site:
    """The pages, and the snippets that they cite, as far as these are the same in each run (no timings)."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.scripts, self.records, self.found = check.load(project)
        if self.found.problems:
            raise SystemExit(f"the site is not sound to begin with: {self.found.problems[0]}")
        cited = {name_of(claim.source) for claim in self.found.claims if claim.source.endswith(".py")}
        names = sorted(cited & self.scripts.keys())
        self.sources = {name: self.scripts[name].source for name in names if not self.scripts[name].timed}

    def attack(self, made: Sequence[tuple[str, Change]]) -> Iterator[Result]:
        with ThreadPoolExecutor(2) as pool:
            names = dict.fromkeys(name for name, _ in made)
            at_once = 1 if len(names) > 1 else 2
            changed = [[change for place, change in made if place == name] for name in names]
            for results in pool.map(self._of_snippet, names, changed, [at_once] * len(names)):
                yield from results

    def _of_snippet(self, name: str, made: Sequence[Change], at_once: int) -> list[Result]:
        every = [*made, *controls(self.sources[name], made)]
        runner = Tails(self.project, every, PATIENT, at_once)  # a busy machine kills no mutant
        control = runner.run(Job(self.scripts[name]))
        told = control.record and list(compare.differences(self.records[name], control.record))
        if control.error or not control.record or told:
            raise SystemExit(f"{name} differs from its record as it is: {control.error or told}")
        for number in range(len(made), len(every)):
            if (run := runner.ends.pop(number, None)) and not _same(run.record, control.record):
                raise SystemExit(f"{name} forked at line {every[number].line} is another as it is: {run.error or ''}")
        whole = [number for number in range(len(made)) if number not in runner.ends]
        jobs = [Job(dataclasses.replace(self.scripts[name], source=made[number].source)) for number in whole]
        sources = {made[number].source: number for number in whole}
        for run in Runner(self.project, workers=at_once, patience=PATIENT).run_all(jobs):
            runner.ends[sources[run.snippet.source]] = run
        return [
            (name, change, self._fate(name, runner.ends[number].record, control.record))
            for number, change in enumerate(made)
        ]

    def _fate(self, name: str, mutant: Record | None, unchanged: Record) -> str:
        if mutant is None:
            return "killed: the run fails"
        again = Findings()
        for path in {claim.link.page for claim in self.found.claims if name_of(claim.source) == name}:
            check.judge_page(self.project, self.found.pages[path], self.scripts, {**self.records, name: mutant}, again)
        if again.problems:
            return "killed: a statement fails"
        if any(compare.differences(self.records[name], mutant)):
            return "killed: the record differs"
        if _same(mutant, unchanged):
            return "equivalent"
        return "survived: " + _moved(unchanged, mutant)


def _same(a: Record | None, b: Record) -> bool:
    return a is not None and (repr(a.values), a.files) == (repr(b.values), b.files)


def _moved(old: Record, new: Record) -> str:
    """The value that moved most, of those that moved by less than another processor may move them."""
    pairs = [pair for name, value in old.values.items() for pair in _numbers(name, value, new.values[name])]
    if not pairs:
        return "only " + ", ".join(name for name in old.files if old.files[name] != new.files.get(name)) + " differs"
    name, a, b = max(pairs, key=lambda pair: abs(pair[2] - pair[1]) / max(abs(pair[1]), abs(pair[2])))
    return f"moves {name} most: {a:.9g} → {b:.9g}"


def _numbers(name: str, old: Any, new: Any) -> Iterator[tuple[str, float, float]]:
    if isinstance(old, dict):
        for key in old:
            yield from _numbers(name, old[key], new[key])
    elif isinstance(old, list):
        for a, b in zip(old, new, strict=True):
            yield from _numbers(name, a, b)
    elif isinstance(old, float) and old != new and not (math.isnan(old) and math.isnan(new)):
        yield name, old, new


def basis(what: str, name: str, source: str) -> str:
    """What the outcome for a place rests on: its code, and for a module its tests."""
    tests = {test.partition("::")[0] for test in {**TESTS, **SERVED}[name].split()} if what == "engine" else ()
    return digest(source, ((ROOT / "tests" / test).read_text(encoding="utf-8") for test in sorted(tests)))


def in_full(what: str, sources: Mapping[str, str], names: Iterable[str], attack: Attack, outcome: Outcome) -> None:
    """Attacks one module or snippet after the other, of those named, and notes each."""
    digests = {name: basis(what, name, source) for name, source in sources.items()}
    for name in names:
        if outcome.knows(what, name, digests[name]):
            continue
        began = time.monotonic()
        made = [(name, change) for change in changes(sources[name])]
        fates = [(change, fate) for _, change, fate in attack(made)]
        outcome.note(what, name, digests[name], fates)
        counts = dict(Counter(fate.partition(":")[0] for _, fate in fates))
        print(f"{what} {name}: {counts} in {time.monotonic() - began:.0f} s", flush=True)
    outcome.write()
    done, counted = outcome.told(what, digests)
    print(f"{done} of {len(digests)} are done: {counted[0]} mutants, {counted[1]} killed, {counted[3]} equivalent")
    command = f"tests/attack_code.py {what} --all, {done} of {len(digests)} done"
    write_summary(outcome.folder / "outcome.csv", command, {what: counted})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["engine", "snippets"])
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="every mutant; hours")
    parser.add_argument("--count", type=int, default=20, help="of a sample; default: %(default)s")
    parser.add_argument("--seed", type=int, help="of a sample; default: the date")
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of the names of modules or snippets")
    options = parser.parse_args()
    site = Site(Project(ROOT)) if options.what == "snippets" else None
    attack, sources = (site.attack, site.sources) if site else (engine, modules())
    names = list(dict.fromkeys(name for start in options.only for name in sources if name.startswith(start)))
    if not names:
        parser.error(f"nothing begins with {' or '.join(options.only)}")
    if options.all:
        in_full(options.what, sources, names, attack, Outcome(options.all))
        return 0
    seed = options.seed or datetime.now(UTC).date().toordinal()
    print(f"a sample of {options.count}, seed {seed}", flush=True)
    fates = Counter[str]()
    for name, change, fate in attack(sample({name: sources[name] for name in names}, seed, options.count)):
        fates[fate] += 1
        print(f"{fate}: {name}, {change}", flush=True)
    killed = sum(count for fate, count in fates.items() if fate.startswith("killed"))
    print(f"{killed} of {sum(fates.values())} killed: {dict(fates)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
