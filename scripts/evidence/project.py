"""Where things are, and how a refusal is said."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

NOT_UTF8 = "is not text in UTF-8; save it so"


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that stops a build: where it is, what is wrong, and what to do next.

    `page` is a path relative to the project (a page or a snippet), `line` counts from 1 (0: the whole file).
    """

    page: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.message}" if self.line else f"{self.page}: {self.message}"


class Refusal(Exception):
    """Raised when something may not be published; carries every problem found, not only the first.

    `partial` is what there is nevertheless, for a server that shows the problems in the page.
    """

    partial: object = None

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(set(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))


@dataclass(frozen=True)
class Project:
    """A checkout: `docs/` holds the pages, `snippets/` the scripts and, beside each, the folder of its record."""

    root: Path

    @property
    def docs(self) -> Path:
        return self.root / "docs"

    @property
    def snippets(self) -> Path:
        return self.root / "snippets"

    @property
    def cache(self) -> Path:
        """What can be deleted at any time: runs of this machine, resolved chapters, the site being built."""
        return self.root / ".cache"

    def pages(self) -> list[Path]:
        return sorted(self.docs.rglob("*.md"))

    def rel(self, path: Path) -> str:
        """The path as messages and records show it: relative to the project, with forward slashes."""
        return path.relative_to(self.root).as_posix()


def find(start: Path | None = None) -> Project:
    """The project that `start` (default: the working directory) lies in.

    Raises `Refusal` outside of one: nothing is guessed.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "mkdocs.yml").is_file() and (folder / "snippets").is_dir():
            return Project(folder)
    raise Refusal([Problem(os.fspath(here), 0, "no mkdocs.yml with a snippets/ folder here or above")])
