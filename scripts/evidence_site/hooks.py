"""MkDocs hooks, for what a Markdown extension cannot do: check before anything is built, and publish the files."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort
from mkdocs.structure.files import File, Files

from evidence import refresh, resolve
from evidence.project import Project, Refusal
from evidence_site import extension


def on_pre_build(config: MkDocsConfig) -> None:
    """Runs what is stale and holds every statement against it; a plain `mkdocs build` refuses as ours does."""
    project = Project(Path(config.config_file_path).parent.resolve())
    try:
        result = refresh.refresh(project)
    except Refusal as refusal:
        raise Abort(f"{refusal}\n\nnothing was published, records and site are as they were") from None
    resolve.write_all(project, result.found, result.snippets, result.records)
    extension.committed.cache_clear()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Publishes snippets and what they wrote, under the paths they have in the repository."""
    root = Path(config.config_file_path).parent
    for path in sorted((root / "snippets").rglob("*")):
        if path.suffix in {".py", ".csv", ".svg"}:
            files.append(File.generated(config, path.relative_to(root).as_posix(), abs_src_path=str(path)))
    return files
