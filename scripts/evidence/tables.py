"""Tables of results: never typed, but made of a CSV file or of a snippet's variable."""

from __future__ import annotations

import csv
import io
from typing import Any

from evidence.statement import Malformed

Rows = list[list[str]]


def citation(text: str) -> list[str]:
    """The lines of a transcribed table that say where it is from; they begin with #."""
    return [line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#")]


def _lines(text: str) -> io.StringIO:
    return io.StringIO("\n".join(line for line in text.splitlines() if not line.startswith("#")))


def of_csv(text: str) -> Rows:
    """Head and rows as they are written."""
    return list(csv.reader(_lines(text)))


def chosen(rows: Rows, names: list[str]) -> Rows:
    """The named columns, in that order; all of them if none is named. Raises `Malformed` for one that is not there."""
    if lost := [name for name in names if name not in rows[0]]:
        raise Malformed(f"the table has no column {', '.join(lost)}; it has: {', '.join(rows[0])}")
    places = [rows[0].index(name) for name in names or rows[0]]
    return [[row[place] for place in places] for row in rows]


def by_key(text: str) -> dict[str, Any]:
    """A CSV as rows by their leading cell, each a dict by column, for statements to look up.

    Rows that share a leading cell are a list, so that which one is meant must be said: `#Post-LN/0/BLEU`.
    """
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in csv.DictReader(_lines(text)):
        key = next(iter(row.values()))
        if None in row or None in row.values():
            raise csv.Error(f"the row of {key} has not as many cells as the head")
        rows.setdefault(key, []).append({column: _cell(cell) for column, cell in row.items()})
    return {key: same[0] if len(same) == 1 else same for key, same in rows.items()}


def heads(title: str | None) -> list[str]:
    """The columns' names, if the title gives them: `table: depth; norm (median)`."""
    return [name.strip() for name in (title or "").partition(":")[2].split(";") if name.strip()]


def of_value(value: Any, names: list[str]) -> Rows:
    """Head and rows of a variable: a list of dicts with the same keys, a dict of such dicts, or a dict of plain values.

    Raises `Malformed` for anything else, and for names that are not one for each column.
    """
    if isinstance(value, dict) and value and all(isinstance(row, dict) for row in value.values()):
        value = [{"": key, **row} for key, row in value.items()]
    elif isinstance(value, dict):
        value = [{"": key, "value": cell} for key, cell in value.items()]
    if not isinstance(value, list) or not value or not all(isinstance(row, dict) for row in value):
        raise Malformed("a table is made of a list of dicts, a dict of dicts, or a dict of plain values")
    keys = list(value[0])
    if any(list(row) != keys for row in value):
        raise Malformed(f"the rows of a table have the same columns; the leading one has {keys}")
    if any(isinstance(cell, (dict, list)) for row in value for cell in row.values()):
        raise Malformed("a cell of a table is a number, a text or a condition")
    if names and len(names) != len(keys):
        raise Malformed(f"the title names {len(names)} columns, the table has {len(keys)}")
    return [names or [str(key) for key in keys], *([_text(cell) for cell in row.values()] for row in value)]


def _cell(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except (TypeError, ValueError):
            continue
    return text


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
