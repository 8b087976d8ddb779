"""The tables in which `verify --csv` notes what came of a run over all snippets; the site shows them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evidence.project import Problem, Refusal
from evidence.record import versions

SHIFT = "# shift: the most that a stated value moved from its record, as a share of the tolerance of its statement.\n"
MOVED = "# moved: snippets in which some bit differs from"


@dataclass(frozen=True)
class Tally:
    """One kind of table: its notes, its columns, and which of them name a row (none: each run writes all rows)."""

    notes: str
    columns: tuple[str, ...]
    key: tuple[str, ...] = ()

    def ready(self, table: Path | None) -> None:
        """Raises `Refusal` before anything is run if the table could not be written, or is another one."""
        if not table:
            return
        wrong = None
        if table.is_dir():
            wrong = "is a folder; name a file in it"
        elif not table.parent.is_dir():
            wrong = f"cannot be written: there is no folder {table.parent}"
        elif table.exists() and tuple(self._read(table).fieldnames or ()) != self.columns:
            wrong = f"is another table, and would be lost; this one has the columns {', '.join(self.columns)}"
        if wrong:
            raise Refusal([Problem(str(table), 0, wrong)])

    def note(self, table: Path, rows: Sequence[dict[str, Any]]) -> None:
        """Writes the rows below those that are there already and have another key, in one step."""
        old = list(self._read(table)) if self.key and table.exists() else []
        new = {tuple(str(row[name]) for name in self.key) for row in rows}
        kept = [row for row in old if tuple(row[name] for name in self.key) not in new]
        part = table.with_name(f"{table.name}.part")
        with open(part, "w", encoding="utf-8", newline="") as file:
            file.write(self.notes.format(date=datetime.now(UTC).date(), **versions()))
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows([*kept, *rows])
        part.replace(table)

    @staticmethod
    def _read(table: Path) -> csv.DictReader[str]:
        lines = table.read_text(encoding="utf-8").splitlines()
        return csv.DictReader(line for line in lines if not line.startswith("#"))


MACHINES = Tally(
    "# python3 scripts/dev.py verify --machines, {date}, Python {python}, torch {torch}, numpy {numpy}.\n"
    f"{MOVED} the run with one thread and no setting; failed: statements or runs;\n{SHIFT}",
    ("setting", "told", "threads", "snippets", "moved", "statements", "failed", "shift"),
)
UNSEEN = Tally(
    "# python3 scripts/dev.py verify --unseen, a row for each range of seeds: as many as the author's, from there on.\n"
    "# held, failed: statements of snippets with seeds; a snippet that failed counts as one that failed.\n",
    ("seeds from", "snippets", "held", "failed"),
    ("seeds from",),
)
VERSIONS = Tally(
    "# python3 scripts/dev.py verify, a row for each Python and torch with which it was run.\n"
    f"{MOVED} the record; this, statements and shift leave out timings; failed: statements or runs;\n{SHIFT}",
    ("python", "numpy", "torch", "snippets", "moved", "statements", "failed", "shift"),
    ("python", "torch"),
)
