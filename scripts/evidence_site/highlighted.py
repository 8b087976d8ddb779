"""Python as HTML, kept from one build to the next: to color the code is a fifth of a build of a hundred pages."""

from __future__ import annotations

import contextlib
import hashlib
import html
import json
import re
from pathlib import Path

import pygments
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

TAG = re.compile(r"<[^>]+>")
_known: dict[str, object] = {}  # from the last build, not to be believed
_used: dict[str, str] = {}  # in this one


def python(source: str) -> str:
    """The lines of the code, in the theme's own classes."""
    key = hashlib.sha256(f"{pygments.__version__}\n{source}".encode()).hexdigest()
    if key not in _used:
        known = _known.get(key)
        if not isinstance(known, str) or html.unescape(TAG.sub("", known)).strip("\n") != source.strip("\n"):
            known = pygments.highlight(source, PythonLexer(), HtmlFormatter(nowrap=True))
        _used[key] = known
    return _used[key]


def load(cache: Path) -> None:
    _known.update(_used)
    _used.clear()
    with contextlib.suppress(FileNotFoundError, ValueError, TypeError, RecursionError):  # then it is made anew
        _known.update(json.loads((cache / "highlighted.json").read_text(encoding="utf-8")))


def save(cache: Path) -> None:
    """What this build showed, in one step."""
    cache.mkdir(exist_ok=True)
    part = cache / "highlighted.part"
    part.write_text(json.dumps(_used), encoding="utf-8")
    part.replace(cache / "highlighted.json")
