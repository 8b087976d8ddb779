"""The commands; `python3 scripts/dev.py COMMAND` sets up what they need and calls this."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from evidence import bare, check, elsewhere, ledger, record, refresh, snippet, unchanged
from evidence.project import Problem, Project, Refusal, find
from evidence.snippet import name_of
from evidence_grid import command

ENTRY = "python3 scripts/dev.py"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog=ENTRY, description="Builds and verifies the site.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="serve the site; a saved page or snippet updates it")
    serve.add_argument("--address", default="127.0.0.1:8000", help="default: %(default)s")
    build = commands.add_parser("build", help="run what is stale, check every statement, then build the site")
    build.add_argument("--fresh", action="store_true", help="run every snippet again")
    run = commands.add_parser("run", help="run snippets; show output, values and what changed")
    run.add_argument("names", nargs="+", metavar="NAME", help="chapter/name, or a path to the snippet")
    commands.add_parser("check", help="hold every stated number against its record; runs nothing")
    test = commands.add_parser("test", help="run every short snippet and all tests")
    test.add_argument("rest", nargs=argparse.REMAINDER, metavar="…", help="passed on to pytest")
    verify = commands.add_parser("verify", help="run every snippet forked and in a fresh interpreter, and compare")
    verify.add_argument("names", nargs="*", metavar="NAME", help="only these snippets")
    where = verify.add_mutually_exclusive_group()
    where.add_argument("--unseen", action="store_true", help="instead, on seeds that the date picks")
    where.add_argument("--machines", action="store_true", help="instead, with other threads and instruction sets")
    where.add_argument("--long", action="store_true", help="then train every cell of every experiment again")
    verify.add_argument("--csv", type=Path, metavar="FILE", help="over all snippets: note what came of it in this file")
    verify.add_argument("--start", type=int, metavar="SEED", help="with --unseen: from this seed on")
    train = commands.add_parser("train", help="train what an experiment has no result of yet; interrupted, it goes on")
    command.add(train)
    command.add_where(verify)
    claims = commands.add_parser("claims", help="list every stated number")
    claims.add_argument("--json", action="store_true", help="as JSON, with what is unbound")
    commands.add_parser("stamp", help="after all was verified: note when, and with which versions, in the built site")
    commands.add_parser("ledger", help="bring the ledger's page up to date with its data")
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["test"] and not {"-h", "--help"} & set(arguments):
        # argparse would take pytest's options for its own
        options = argparse.Namespace(command="test", rest=arguments[1:])
    else:
        options = parser.parse_args(arguments)
    try:
        return int(globals()[f"_{options.command}"](find(), options))
    except Refusal as refusal:
        return _refuse(refusal)
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        return _refuse(Refusal([Problem(str(error.filename or ENTRY), 0, f"{error.strerror or error}")]))


def _refuse(refusal: Refusal) -> int:
    for problem in refusal.problems:
        print(problem, file=sys.stderr)
    count = len(refusal.problems)
    print(
        f"\n{count} problem{'s' * (count != 1)}; nothing was published, records and site are as they were",
        file=sys.stderr,
    )
    return 1


def _build(project: Project, options: argparse.Namespace) -> int:
    before = unchanged.inputs(project)
    if not options.fresh and unchanged.since_last_build(project, before):
        print(f"nothing changed since the last build; {project.root / 'site'} is as it was", file=sys.stderr)
        return 0
    if wrong := list(command.problems(project)):
        raise Refusal(wrong)  # before anything is run
    if options.fresh:
        refresh.refresh(project, fresh=True)
    from evidence_site import publish

    status = publish.build(project)  # runs what is stale and checks everything, before it renders
    if status == 0:
        unchanged.remember(project, before)
    return status


def _serve(project: Project, options: argparse.Namespace) -> int:
    from evidence_site import publish

    return publish.serve(project, options.address)


def _run(project: Project, options: argparse.Namespace) -> int:
    names = [_name(project, name) for name in options.names]
    missing = [name for name in names if not (project.snippets / f"{name}.py").is_file()]
    if missing:
        known = snippet.all_names(project)
        for name in missing:
            print(f"there is no snippet {name} below {project.snippets}{snippet.meant(name, known)}", file=sys.stderr)
        return 2
    code, faulty = 0, set[str]()
    try:
        result = refresh.refresh(project, only=names)
        if result.elsewhere:
            print(f"{len(result.elsewhere)} problems elsewhere; see: {ENTRY} check", file=sys.stderr)
    except Refusal as refusal:
        code, faulty = _refuse(refusal), {problem.page for problem in refusal.problems}
    for name in names:
        try:
            found = record.load(project.cache / "runs" / name)
        except (FileNotFoundError, record.Damaged):
            continue
        if f"snippets/{name}.py" in faulty:
            continue  # what is kept is of an earlier run
        print(f"--- {name}: output\n{found.output}--- values")
        for variable, value in found.values.items():
            text = repr(value)
            print(f"{variable} = {text if len(text) < 100 else text[:97] + '…'}")
        written = sorted(set(found.files) - {record.OUTPUT})
        print(f"--- files: {', '.join(written) or 'none'}")
    return code


def _name(project: Project, given: str) -> str:
    """The snippet's name; a path to it, from where one is, serves as well."""
    path = Path(given).resolve()
    if path.suffix == ".py" and path.is_file() and path.is_relative_to(project.snippets):
        return path.relative_to(project.snippets).with_suffix("").as_posix()
    return name_of(given.removeprefix("./"))


def _check(project: Project, options: argparse.Namespace) -> int:
    snippets, records, found = check.load(project)
    left, exempt = bare.unbound(found, snippets, records)
    problems = found.problems + [refresh.unbound_problem(one) for one in left] + list(command.problems(project))
    if problems:
        raise Refusal(problems)
    _summary(found, exempt)
    return 0


def _stamp(project: Project, options: argparse.Namespace) -> int:
    from evidence_site import machines

    target = project.root / "site" / machines.VERIFIED
    target.write_text(machines.verified(datetime.now(UTC)), encoding="utf-8")
    print(f"wrote {target}")
    return 0


def _ledger(project: Project, options: argparse.Namespace) -> int:
    print(f"{ledger.PAGE} {'rewritten' if ledger.write(project) else 'is up to date'}")
    return 0


def _claims(project: Project, options: argparse.Namespace) -> int:
    snippets, records, found = check.load(project)
    left, exempt = bare.unbound(found, snippets, records)
    if options.json:
        listing = {"claims": [c.to_json() for c in found.claims], "unbound": [one.to_json() for one in left]}
        print(json.dumps(listing, indent=1, ensure_ascii=False, allow_nan=False))
    else:
        for claim in found.claims:
            one = claim.to_json()
            used = "" if one["used"] is None else f"{one['used']:.0%} used"
            place = f"{one['page']}:{one['line']}"
            print("  ".join(map(str, (place, one["text"], one["kind"], one["evidence"], one["measured"], used))))
        _summary(found, exempt)
    if found.problems:
        return _refuse(Refusal(found.problems))
    return 0


def _test(project: Project, options: argparse.Namespace) -> int:
    return subprocess.call([sys.executable, "-m", "pytest", *options.rest], cwd=project.root)


def _verify(project: Project, options: argparse.Namespace) -> int:
    names = [_name(project, name) for name in options.names]
    for name in names:
        snippet.load(project, name)  # or it is said which file there is not
    if names and options.csv:
        raise Refusal([Problem(str(options.csv), 0, "notes a run over all snippets: leave out the names, or --csv")])
    if options.unseen:
        return elsewhere.unseen(project, names, options.start, options.csv)
    if options.machines:
        return elsewhere.machines(project, names, options.csv)
    failed = elsewhere.verify(project, names, options.csv)
    if options.long:
        failed += command.verify(project, options)
    return 1 if failed else 0


def _train(project: Project, options: argparse.Namespace) -> int:
    return command.train(project, options)


def _summary(found: check.Findings, exempt: Counter[str]) -> None:
    kinds = Counter(claim.verdict.kind for claim in found.claims)
    told = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    print(f"{len(found.claims)} statements on {len(found.pages)} pages hold ({told})")
    print("left unlinked: " + (", ".join(f"{kind} {count}" for kind, count in exempt.most_common() if count) or "none"))


if __name__ == "__main__":
    sys.exit(main())
