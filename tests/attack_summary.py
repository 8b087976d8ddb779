"""Where the attacks note what came of them: the data files that the site's page links to and shows."""

from __future__ import annotations

import csv
import hashlib
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from mutate import Change, changes

ROOT = Path(__file__).resolve().parents[1]
HEAD = ["attack", "made", "killed", "allowed", "equivalent", "survived"]
CODE = ["code", "where", "digest", "made", "killed", "equivalent", "survived"]
CHANGE = ["code", "where", "kind", "change"]
KINDS = "# counted from equivalent.csv and survivors.csv, which tests/attack_code.py writes."


def write_summary(path: Path, command: str, rows: Mapping[str, tuple[int, int, int, int]]) -> None:
    """Replaces the rows of these attacks, and the line that says how they were made; keeps the others.

    A row is: mutants made, killed, allowed by what the page itself says (a band), equivalent. The rest survived.
    """
    notes, old = _read(path)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    table = {row[0]: row for row in old}
    for name, (count, killed, allowed, equivalent) in rows.items():
        survived = count - killed - allowed - equivalent
        table[name] = [name, *map(str, (count, killed, allowed, equivalent, survived))]
    begins = f"# {', '.join(rows)}: "
    made = f"{begins}python {command}, {datetime.now(UTC).date()}, at {commit.stdout.strip() or 'no commit'}."
    _write(path, [*(note for note in notes if not note.startswith(begins)), made], HEAD, table.values())


class Outcome:
    """What became of all mutants of code: a row for each module and snippet, and each mutant that lived.

    A survivor's reason is what the attack saw, until somebody writes a better one in the file; that stays as long as
    the change is the same. One that begins with "equivalent" says why nothing could tell the mutant from the original.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.done = {(row[0], row[1]): row for row in _read(folder / "code.csv")[1]}
        self.equivalent = {tuple(row) for row in _read(folder / "equivalent.csv")[1]}
        self.whys = {tuple(row[:4]): row[4] for row in _read(folder / "survivors.csv")[1]}

    def knows(self, code: str, where: str, digest: str) -> bool:
        return (code, where) in self.done and self.done[code, where][2] == digest

    def note(self, code: str, where: str, digest: str, fates: Iterable[tuple[Change, str]]) -> None:
        """`fates`: each change, and what became of it: killed, equivalent or survived, and after a colon why."""
        place, made = (code, where), list(fates)
        if len({(change.kind, str(change)) for change, _ in made}) != len(made):
            raise ValueError(f"two changes of {where} are described alike")
        self.equivalent = {key for key in self.equivalent if key[:2] != place}
        known = {key: self.whys.pop(key) for key in list(self.whys) if key[:2] == place}
        for change, told in made:
            fate, _, why = told.partition(": ")
            key = (*place, change.kind, str(change))
            if fate == "equivalent":
                self.equivalent.add(key)
            elif fate == "survived":
                self.whys[key] = known.get(key) or why
        self.done[place] = [*place, digest, str(len(made))]
        self.write()

    def write(self) -> None:
        """Counts what lived anew, for reasons may have been added since."""
        for place, row in self.done.items():
            whys = [why for key, why in self.whys.items() if key[:2] == place]
            same = sum(key[:2] == place for key in self.equivalent)
            lived = same + len(whys)
            same += sum(why.startswith("equivalent") for why in whys)
            row[4:] = map(str, (int(row[3]) - lived, same, lived - same))
        survivors = [[*key, why] for key, why in sorted(self.whys.items())]
        told = {key for key, why in self.whys.items() if why.startswith("equivalent")}
        alike, moved = (Counter(key[2] for key in keys) for keys in (self.equivalent | told, self.whys.keys() - told))
        kinds = [[kind, str(alike[kind]), str(moved[kind])] for kind in sorted(alike | moved)]
        _write(self.folder / "code.csv", [], CODE, sorted(self.done.values()))
        _write(self.folder / "equivalent.csv", [], CHANGE, sorted(self.equivalent))
        _write(self.folder / "survivors.csv", [], [*CHANGE, "why"], survivors)
        _write(self.folder / "kinds.csv", [KINDS], ["kind", "equivalent", "survived"], kinds)

    def told(self, code: str, digests: Mapping[str, str]) -> tuple[int, tuple[int, int, int, int]]:
        """How many of these modules or snippets are done; and of them: mutants made, killed, allowed, equivalent."""
        rows = [self.done[code, where] for where, one in digests.items() if self.knows(code, where, one)]
        made, killed, equivalent = (sum(int(row[column]) for row in rows) for column in (3, 4, 5))
        return len(rows), (made, killed, 0, equivalent)


def digest(source: str, tests: Iterable[str] = ()) -> str:
    """Of the code, its mutants and its tests: if one of them is another, the outcome is void."""
    return hashlib.sha256("\n".join([source, *map(str, changes(source)), *tests]).encode()).hexdigest()[:12]


def _read(path: Path) -> tuple[list[str], list[list[str]]]:
    """The notes at the head, and the rows below the titles; nothing of either if there is no such file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    notes = [line for line in lines if line.startswith("#")]
    return notes, list(csv.reader(line for line in lines if not line.startswith("#")))[1:]


def _write(path: Path, notes: Iterable[str], titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with open(part, "w", encoding="utf-8", newline="") as file:
        file.writelines(f"{note}\n" for note in notes)
        csv.writer(file, lineterminator="\n").writerows([titles, *rows])
    part.replace(path)  # a run of hours may be stopped at any moment
