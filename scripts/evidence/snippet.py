"""A snippet: a plain script, and the few things its header comments may say about it.

# limits: 180 s, 4 GB          raises the default time and memory limits
# reads: snippets/a/b/c.csv    a local file, opened by its base name in the working directory; may be repeated
# requires: transformers       a package beyond torch, numpy and matplotlib
# timed: ratios of one run     its figures differ from run to run; it runs alone, and only its statements are compared
"""

from __future__ import annotations

import ast
import difflib
import importlib.util
import posixpath
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.machinery import PathFinder
from pathlib import Path

from evidence.project import NOT_UTF8, Problem, Project, Refusal

PACKAGES = {"torch", "numpy", "matplotlib"}
HEADER = re.compile(r"^# (limits|reads|requires|timed):[ \t]*(.*)$")
LIMITS = re.compile(r"(\d+) s(?:, (\d+) GB)?")
INSTALLED = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
SECONDS, GIGABYTES = 60, 2  # what a snippet gets without asking
LONGEST, LARGEST = 1800, 12  # what it may ask for


@dataclass(frozen=True)
class Snippet:
    """`name` is the path below `snippets/` without its ending, `source` the text as it stands in the file."""

    name: str
    path: Path
    source: str

    @property
    def rel(self) -> str:
        return f"snippets/{self.name}.py"

    @cached_property
    def header(self) -> dict[str, str]:
        lines = []
        for line in self.source.splitlines():
            if not line.startswith("#"):
                break
            lines.append(HEADER.match(line))
        found: dict[str, str] = {}
        for m in lines:
            if m:
                found[m[1]] = f"{found.get(m[1], '')} {m[2]}".strip()
        return found

    @cached_property
    def limits(self) -> tuple[int, int]:
        """Seconds and gigabytes."""
        match = LIMITS.fullmatch(self.header.get("limits", f"{SECONDS} s"))
        return (int(match[1]), int(match[2] or GIGABYTES)) if match else (SECONDS, GIGABYTES)

    @property
    def timed(self) -> bool:
        return "timed" in self.header

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """Local files it reads, relative to the project."""
        return tuple(filter(None, re.split(r"[,\s]+", self.header.get("reads", ""))))

    @property
    def requires(self) -> set[str]:
        """Packages beyond the usual ones."""
        return set(filter(None, re.split(r"[,\s]+", self.header.get("requires", ""))))

    @property
    def lacks(self) -> list[str]:
        """Those of them that are not installed here: then the committed record stands, if the source is its own."""
        return sorted(package for package in self.requires if importlib.util.find_spec(package) is None)

    def problems(self, project: Project) -> Iterator[Problem]:
        """What would keep it from running after copy and paste, or let it pass without having run."""

        def problem(line: int, message: str) -> Problem:
            return Problem(self.rel, line, message)

        if not re.fullmatch(r"(?:[a-z][a-z0-9_]*/)+[a-z][a-z0-9_]*", self.name):
            yield problem(0, "a snippet is named snippets/<chapter>/<lower_case_name>.py")
        allowed = PACKAGES | set(sys.stdlib_module_names) | self.requires
        last = posixpath.basename(self.name)
        if last in allowed or PathFinder.find_spec(last, INSTALLED):
            yield problem(
                0, f"saved as {last}.py it would be imported in the place of {last}; name it after what it shows"
            )
        limits = self.header.get("limits")
        if limits is not None:
            match = LIMITS.fullmatch(limits)
            if not match:
                yield problem(1, f"malformed limits {limits!r}; write for example '# limits: 180 s, 4 GB'")
            elif int(match[1]) > LONGEST or int(match[2] or 0) > LARGEST:
                yield problem(1, f"limits above {LONGEST} s or {LARGEST} GB: make it a recorded long experiment")
        names = [posixpath.basename(path) for path in self.reads]
        if len(set(names)) < len(names):
            yield problem(1, "reads two files of one base name, which it could not tell apart")
        for path in self.reads:
            if ".." in path or not path.startswith("snippets/"):
                yield problem(1, f"reads {path!r}, which is not a path below snippets/")
            elif not any((project.root / place).is_file() for place in (path, f"{posixpath.dirname(path)}.py")):
                yield problem(1, f"reads {path!r}, which does not exist")
        try:
            tree = ast.parse(self.source)
        except (SyntaxError, ValueError) as error:
            yield problem(getattr(error, "lineno", 0) or 0, f"not Python: {error}")
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id == "__name__":
                yield problem(node.lineno, "tests __name__: the guarded part would pass without being run")
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or "."]
            else:
                continue
            for module in modules:
                if module.split(".")[0] not in allowed:
                    said = f"imports {module}; a snippet uses torch, numpy, matplotlib and the standard library"
                    yield problem(node.lineno, said)


def name_of(path: str) -> str:
    """The name of the snippet at a path relative to the project: `snippets/a/b.py` is `a/b`."""
    return path.removeprefix("snippets/").removesuffix(".py")


def meant(name: str, known: Iterable[str]) -> str:
    """What to add to the message on a snippet that is not there: those of nearly its name, or of it in a chapter."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=2) or [one for one in known if one.rpartition("/")[2] == name]
    return f"; did you mean {' or '.join(near)}?" if near else ""


def load(project: Project, name: str) -> Snippet:
    path = project.snippets / f"{name}.py"
    try:
        return Snippet(name, path, path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise Refusal([Problem(project.rel(path), 0, f"{NOT_UTF8} ({error})")]) from None


def all_names(project: Project) -> list[str]:
    paths = sorted(project.snippets.rglob("*.py"))
    return [path.relative_to(project.snippets).with_suffix("").as_posix() for path in paths]


def load_all(project: Project) -> dict[str, Snippet]:
    return {name: load(project, name) for name in all_names(project)}


def with_seeds(source: str, seeds: str) -> str:
    """The source with its one top-level line `seeds = …` replaced, to try it on seeds its author never saw.

    Raises `ValueError` if there is no such line.
    """
    for node in ast.parse(source).body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == "seeds"
            and node.lineno == node.end_lineno
        ):
            lines = source.splitlines(keepends=True)
            lines[node.lineno - 1] = f"seeds = {seeds}\n"
            return "".join(lines)
    raise ValueError("the snippet has no top-level line `seeds = …`")
