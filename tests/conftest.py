"""A tiny project in a temporary folder, whose pages, snippets and records are made without running anything."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evidence import bare, check, record, snippet
from evidence.project import Project
from evidence.record import OUTPUT, Record
from evidence.snippet import Snippet

pytest_plugins = ["browsing"]
# a shell starts what it puts into the background deaf to Ctrl-C, and what a test starts would inherit that
signal.signal(signal.SIGINT, signal.default_int_handler)
PAGE = "docs/residual/path.md"
UP = "../../snippets"


class Tiny:
    """A project of a few files. `page`, `snippet` and `record` write one each; the rest judges what stands there."""

    def __init__(self, root: Path) -> None:
        self.root, self.project = root, Project(root)
        (root / "docs" / "residual").mkdir(parents=True)
        (root / "snippets" / "residual").mkdir(parents=True)
        (root / "mkdocs.yml").write_text("site_name: tiny\n", encoding="utf-8")

    def write(self, path: str, content: str | bytes) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
        return target

    def page(self, text: str, path: str = PAGE) -> Path:
        return self.write(path, text)

    def snippet(self, source: str = "share = 0.881\n", name: str = "residual/share") -> Snippet:
        self.write(f"snippets/{name}.py", source)
        return snippet.load(self.project, name)

    def record(
        self,
        values: Mapping[str, Any],
        name: str = "residual/share",
        output: str = "",
        files: Mapping[str, bytes] | None = None,
    ) -> Record:
        """A record of the snippet as it stands, signed, as if a run had computed `values`."""
        script = snippet.load(self.project, name)
        inputs = record.inputs(self.project, script)
        contents = {OUTPUT: output.encode(), **(files or {})}
        made = Record(name, inputs, record.versions(), {}, dict(values), contents)
        record.save(made, self.project.snippets / name, self.project.cache / "parts")
        return made

    def have(self, source: str, values: Mapping[str, Any], name: str = "residual/share", output: str = "") -> None:
        self.snippet(source, name)
        self.record(values, name, output)

    def found(self) -> check.Findings:
        return check.load(self.project)[2]

    def problems(self) -> list[str]:
        return [str(problem) for problem in self.found().problems]

    def unbound(self) -> list[tuple[int, str]]:
        """Line and text of what is bound to nothing, on pages and in snippets."""
        snippets, records, found = check.load(self.project)
        return [(one.line, one.text) for one in bare.unbound(found, snippets, records)[0]]


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    return Tiny(tmp_path / "tiny")
