"""Whether anything changed since the site was last built: if nothing did, a build has nothing to do."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from evidence.project import Project


def inputs(project: Project) -> str:
    """A digest of all that a site is made from: pages, snippets, records, the engine and its packages."""
    digest = hashlib.sha256(sys.version.encode())
    for name in sorted(one.name for folder in sys.path for one in Path(folder).glob("*.dist-info")):
        digest.update(name.encode())  # it ends in the version
    for folder in (project.docs, project.snippets, project.root / "scripts", project.root / "mkdocs.yml"):
        _add(digest, folder)
    return digest.hexdigest()


def remember(project: Project, before: str) -> None:
    """To be called when the site is in place, with the `inputs` from before the build: an edit meanwhile counts."""
    (project.cache / "built").write_text(f"{before} {_site(project)}", encoding="utf-8")


def since_last_build(project: Project, now: str) -> bool:
    """True if `now` are the inputs of the site that stands there, whole."""
    try:
        return (project.cache / "built").read_text(encoding="utf-8") == f"{now} {_site(project)}"
    except FileNotFoundError:
        return False


def _site(project: Project) -> str:
    digest = hashlib.sha256()
    _add(digest, project.root / "site")
    return digest.hexdigest()


def _add(digest: hashlib._Hash, path: Path) -> None:
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    for file in files:
        if file.is_file() and "__pycache__" not in file.parts:
            content = file.read_bytes()
            digest.update(f"{file}\0{len(content)}\0".encode() + content)
