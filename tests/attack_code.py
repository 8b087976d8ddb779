"""Attacks the code: attack_code.py engine|snippets [--all | --count N] [--seed N] [--csv FILE]

engine    each mutant of a module is held against the module's own tests: they must fail
snippets  each mutant of a snippet is run, and every page judged by what it gives: a statement must fail

Without --all, a sample that changes with the date. Nothing is written but the summary; the code changes in a copy.
(mutmut and cosmic-ray were looked at: both ask a test suite, and a snippet's test is the sentence that cites it.)
"""

from __future__ import annotations

import argparse
import dataclasses
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import hypothesis.strategies  # noqa: F401 - so that no fork has to
import psutil  # noqa: F401
import pytest
import yaml  # noqa: F401

from attack_summary import write_summary
from evidence import check, compare
from evidence.check import Findings
from evidence.project import Project
from evidence.run import Job, Runner
from evidence.snippet import name_of
from mutate import Change, changes

ROOT = Path(__file__).resolve().parents[1]
TESTS = {  # the engine's modules that need no fork server, with the tests that are about them
    "statement": "test_statement_words.py test_statement.py test_statement_refused.py",
    "links": "test_links.py",
    "bare": "test_bare.py test_bare_harmless.py",
    "check": "test_check.py test_check_beside.py test_check_form.py",
    "form": "test_check_form.py test_check.py test_traps.py",
    "record": "test_record.py test_record_swap.py",
    "compare": "test_record.py",
    "plain": "test_record.py test_run.py::test_public_plain_data_is_recorded_and_nothing_else",
    "tables": "test_tables.py test_check.py",
    "snippet": "test_snippet.py test_snippet_form.py test_check.py test_check_form.py test_traps.py",
    "resolve": "test_resolve.py",
    "ledger": "test_ledger.py",
}
QUIET = "ignore::pytest.PytestAssertRewriteWarning"  # of what was imported before the fork
PATIENCE = 600  # seconds until a mutant that hangs counts as killed
Result = tuple[str, Change, str]  # module or snippet, what was changed, and its fate


def chosen(places: dict[str, str], seed: int | None, count: int) -> list[tuple[str, Change]]:
    """All mutants of these sources, or a sample."""
    every = [(name, change) for name, source in places.items() for change in changes(source)]
    return every if seed is None else random.Random(seed).sample(every, min(count, len(every)))


# --- the engine ------------------------------------------------------------------------------------------------------


def engine(seed: int | None, count: int, modules: list[str]) -> Iterator[Result]:
    sources = {name: (ROOT / f"scripts/evidence/{name}.py").read_text(encoding="utf-8") for name in modules}
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        copy = Path(scratch)
        for name in ("scripts", "tests"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        for name in ("docs", "snippets", "mkdocs.yml"):
            (copy / name).symlink_to(ROOT / name)
        made = chosen(sources, seed, count)
        for name in sorted({name for name, _ in made}):
            if not passes(copy, TESTS[name].split()):  # the control
                raise SystemExit(f"the tests of {name} fail as it is: {TESTS[name]}")
        for name, change in made:
            module = copy / f"scripts/evidence/{name}.py"
            module.write_text(change.source, encoding="utf-8")
            yield name, change, "survived" if passes(copy, TESTS[name].split()) else "killed"
            module.write_text(sources[name], encoding="utf-8")


def passes(folder: Path, tests: list[str]) -> bool:
    """Whether these tests of the copy pass, in a fork that has not imported the engine yet."""
    process = multiprocessing.get_context("fork").Process(target=_pytest, args=(folder, tests))
    process.start()
    process.join(PATIENCE)
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
    os._exit(int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=ci", "-W", QUIET, *there])))


# --- the snippets ----------------------------------------------------------------------------------------------------


def snippets(project: Project, seed: int | None, count: int, only: str = "") -> Iterator[Result]:
    scripts, records, found = check.load(project)
    if found.problems:
        raise SystemExit(f"the site is not sound to begin with: {found.problems[0]}")
    cited = {name_of(claim.source) for claim in found.claims if claim.source.endswith(".py")}
    sources = {
        name: scripts[name].source
        for name in sorted(cited & scripts.keys())
        if name.startswith(only) and not scripts[name].timed
    }
    made = chosen(sources, seed, count)
    jobs = [Job(dataclasses.replace(scripts[name], source=change.source)) for name, change in made]
    which = {(job.snippet.name, job.snippet.source): change for job, (_, change) in zip(jobs, made, strict=True)}
    for run in Runner(project).run_all(jobs):
        name = run.snippet.name
        change = which[name, run.snippet.source]
        if run.error or not run.record:
            yield name, change, "killed: the run fails"
            continue
        again = Findings()
        for path in {claim.link.page for claim in found.claims if name_of(claim.source) == name}:
            check.judge_page(project, found.pages[path], scripts, {**records, name: run.record}, again)
        if again.problems:
            fate = "killed: a statement fails"
        elif any(compare.differences(records[name], run.record)):
            fate = "killed: the record differs"
        elif (run.record.values, run.record.files) == (records[name].values, records[name].files):
            fate = "equivalent"
        else:
            fate = "survived"
        yield name, change, fate


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["engine", "snippets"])
    parser.add_argument("--all", action="store_true", help="every mutant; hours")
    parser.add_argument("--count", type=int, default=20, help="of a sample; default: %(default)s")
    parser.add_argument("--seed", type=int, help="of a sample; default: the date")
    parser.add_argument("--only", default="", help="modules, or the beginning of snippets' names")
    parser.add_argument("--csv", type=Path, help="note the outcome in this file")
    options = parser.parse_args()
    seed = None if options.all else options.seed or datetime.now(UTC).date().toordinal()
    print("all mutants" if seed is None else f"a sample of {options.count}, seed {seed}", flush=True)
    began, fates = time.monotonic(), Counter[str]()
    if options.what == "engine":
        results = engine(seed, options.count, options.only.split() or list(TESTS))
    else:
        results = snippets(Project(ROOT), seed, options.count, options.only)
    for name, change, fate in results:
        fates[fate] += 1
        print(f"{fate}: {name}, {change}", flush=True)
    total, killed = sum(fates.values()), sum(count for fate, count in fates.items() if fate.startswith("killed"))
    print(f"{killed} of {total} killed in {time.monotonic() - began:.0f} s: {dict(fates)}")
    if options.csv:
        command = f"tests/attack_code.py {options.what} " + (
            "--all" if seed is None else f"--count {total} --seed {seed}"
        )
        write_summary(options.csv, command, {options.what: (total, killed, 0, fates["equivalent"])})
    return 0


if __name__ == "__main__":
    sys.exit(main())
