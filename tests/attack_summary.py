"""Where the attacks note what came of them: one row an attack, in the data file that the site's page links to."""

from __future__ import annotations

import csv
import io
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

HEAD = ["attack", "made", "killed", "allowed", "equivalent", "survived"]


def write_summary(path: Path, command: str, rows: Mapping[str, tuple[int, int, int, int]]) -> None:
    """Replaces the rows of these attacks, and the line that says how they were made; keeps the others.

    A row is: mutants made, killed, allowed by what the page itself says (a band), equivalent. The rest survived.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    old = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=path.parent, capture_output=True, text=True)
    made = (
        f"# {', '.join(rows)}: python {command}, {datetime.now(UTC).date()}, at {commit.stdout.strip() or 'no commit'}"
    )
    notes = [line for line in old if line.startswith("#") and not line.startswith(f"# {', '.join(rows)}: ")]
    table = {row[0]: row for row in csv.reader(line for line in old if not line.startswith("#"))}
    table.pop(HEAD[0], None)
    for name, (count, killed, allowed, equivalent) in rows.items():
        survived = count - killed - allowed - equivalent
        table[name] = [name, *map(str, (count, killed, allowed, equivalent, survived))]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([HEAD, *table.values()])
    path.write_text("\n".join([*notes, made]) + "\n" + out.getvalue(), encoding="utf-8")
