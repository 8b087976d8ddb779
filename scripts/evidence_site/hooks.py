"""MkDocs hooks, for what a Markdown extension cannot do: check before anything is built, publish the files, serve.

A build refuses. A server shows the problems in the page instead, and goes on.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from pathlib import Path
from typing import Literal

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils.meta import get_data
from mkdocs.utils.templates import TemplateContext

from evidence import ledger, refresh, resolve
from evidence.markup import PLACE
from evidence.project import Problem, Project, Refusal
from evidence_site import finish, highlighted, machines
from evidence_site.extension import Current

SPAN = re.compile(r"</?span\b[^>]*>")


class Serving:
    """What a server remembers between two builds."""

    active = False
    server: LiveReloadServer | None = None
    watched: set[Path] = set()  # noqa: RUF012 - one server a process
    problems: list[Problem] = []  # noqa: RUF012
    exempt: Counter[str] = Counter()  # noqa: RUF012 - by kind, of the last refresh


def on_startup(command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
    Serving.active = command == "serve"


def on_serve(server: LiveReloadServer, config: MkDocsConfig, builder: object) -> None:
    Serving.server = server
    _watch(config)


def on_pre_build(config: MkDocsConfig) -> None:
    """Runs what is stale and holds every statement against it; a plain `mkdocs build` refuses as ours does."""
    Serving.problems = []
    try:
        result = refresh.refresh(_project(config))
    except Refusal as refusal:
        if not Serving.active or not isinstance(refusal.partial, refresh.Refreshed):
            raise Abort(f"{refusal}\n\nnothing was published, records and site are as they were") from None
        Serving.problems, result = refusal.problems, refusal.partial
        refresh.say(str(refusal))
    else:
        resolve.write_all(_project(config), result.found, result.snippets, result.records)
    Current.refused = Serving.problems if Serving.active else None
    Current.state = result.snippets, result.records, result.found
    Serving.exempt = result.exempt
    highlighted.load(_project(config).cache)
    if Serving.server:
        _watch(config)


@event_priority(-100)  # after the plugins, one of which makes pages of the labs
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Publishes snippets, what they read and wrote, under their paths in the repository; data, under short names."""
    root = _project(config).root
    read = {root / path for script in Current.get()[0].values() for path in script.reads}
    for path in sorted((root / "snippets").rglob("*")):
        result = path.suffix == ".json" and "results" in path.parts
        if path.suffix in {".py", ".csv", ".svg"} or result or path in read:
            files.append(File.generated(config, path.relative_to(root).as_posix(), abs_src_path=str(path)))
    for name, source in config.extra.get("data", {}).items():
        if not (root / source).is_file():
            raise Abort(f"mkdocs.yml: extra: data: {name} is published from {source}, which does not exist")
        files.append(File.generated(config, f"data/{name}", abs_src_path=str(root / source)))
    for address, content in ledger.published(_project(config)).items():
        files.append(File.generated(config, address, content=content))
    files.append(File.generated(config, "data/claims.json", content=machines.claims_json(Current.get()[2])))
    files.append(File.generated(config, machines.VERIFIED, content=machines.verified(None)))
    files.append(File.generated(config, "llms.txt", content=machines.llms(files, config)))
    config.nav = _navigation(files, config.extra.get("chapters", {}))
    return files


def on_page_content(text: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The status where its page has the place for it. While serving: the problems, a page's own before others'."""
    if machines.PLACE in text:
        text = text.replace(machines.PLACE, machines.status(Current.get()[2], Serving.exempt))
    if not Serving.problems:
        return text
    here = f"docs/{page.file.src_uri}"
    told = sorted(Serving.problems, key=lambda problem: problem.page != here)
    items = "".join(f"<li><pre>{html.escape(str(problem))}</pre></li>" for problem in told)
    return f'<div class="refused" role="alert"><p>This would not be published:</p><ul>{items}</ul></div>{text}'


@event_priority(100)
def _before_search(context: TemplateContext, page: Page, config: MkDocsConfig, nav: Navigation) -> None:
    """The theme's search parses each tag of a page, most of which color the code: 40% of a build of a hundred pages."""
    page.meta["whole"], page.content = page.content, SPAN.sub("", page.content or "")


@event_priority(-100)
def _after_search(context: TemplateContext, page: Page, config: MkDocsConfig, nav: Navigation) -> None:
    page.content = page.meta.pop("whole")


on_page_context = CombinedEvent(_before_search, _after_search)


def on_post_build(config: MkDocsConfig) -> None:
    """Gives every page a Content-Security-Policy: nothing from elsewhere, no inline script but the theme's own.

    Not while serving: the server adds an inline script of its own, which reloads the page.
    """
    highlighted.save(_project(config).cache)
    if Serving.active:
        return
    finish.redirect(Path(config.site_dir), config.extra.get("redirects", {}))
    finish.protect(Path(config.site_dir))


def _navigation(files: Files, chapters: dict[str, str]) -> list[object]:
    """Pages by their `section: 4.2`, in a chapter for each folder, so that adding a page needs no list of pages."""
    nested: dict[str, list[str]] = {}
    for file in sorted(files.documentation_pages(), key=_place):
        folder, _, _ = file.src_uri.rpartition("/")
        nested.setdefault(folder, []).append(file.src_uri)
    top = [{"Home": uri} if uri == "index.md" else uri for uri in nested.pop("", [])]
    rank = {folder: place for place, folder in enumerate(chapters)}
    order = sorted(nested, key=lambda folder: rank.get(folder, len(rank)))
    return [*top, *({chapters.get(folder, folder.capitalize()): nested[folder]} for folder in order)]


def _place(file: File) -> tuple[tuple[int, ...], str]:
    if not file.src_uri.endswith(".md") or not file.abs_src_path:
        return (50,), file.src_uri
    _, meta = get_data(Path(file.abs_src_path).read_text(encoding="utf-8"))
    section = str(meta.get("section", ""))
    place = section if PLACE.fullmatch(section) else "99"  # at the end; what is no place was refused by the check
    return tuple(int(part) for part in place.split(".")), file.src_uri


def _project(config: MkDocsConfig) -> Project:
    return Project(Path(config.config_file_path).parent.resolve())


def _watch(config: MkDocsConfig) -> None:
    """Watches the snippets' folders but not the records below them, which the build itself writes."""
    assert Serving.server
    sources = [path for end in ("*.py", "*.toml") for path in _project(config).snippets.rglob(end)]
    for folder in {path.parent for path in sources} - Serving.watched:
        Serving.server.watch(str(folder), recursive=False)
        Serving.watched.add(folder)
