"""MkDocs hooks for the labs: snippets in jupytext's percent format, which mkdocs-jupyter makes into pages.

A lab is a snippet like any other: the engine runs it, records it, and refuses a build in which it fails, so that no
kernel is started. What is particular is here: mkdocs-jupyter is given a template of a page's size (in `lab/`), with the
prose by the site's own Markdown and each cell's output and figures from the record; and readers are given a notebook.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
import markdown
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page, _RelativePathTreeprocessor
from mkdocs.utils import get_relative_url
from mkdocs_jupyter.config import settings
from nbconvert.exporters.templateexporter import default_filters

from evidence.project import Problem, Refusal
from evidence.record import Record
from evidence_site import figures, html
from evidence_site.extension import Current

LABS = "lab/*.py"  # below snippets/; mkdocs.yml tells mkdocs-jupyter the same
ALT = re.compile(r"^# alt:[ \t]*(.*)\n", re.M)
CELL = re.compile(r"^# %%\n", re.M)  # what `evidence.child` prints where a code cell begins
SAVED = re.compile(r"savefig\(\s*[\"']([\w.-]+\.svg)[\"']")
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]+\)")
UP = "../../docs/"  # how a link in a lab's prose begins: as on pages, it leads to the real file


def on_config(config: MkDocsConfig) -> None:
    settings.templates_dir = str(Path(__file__).with_name("lab"))


@event_priority(100)  # before mkdocs-jupyter looks for its pages
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds each lab as a page, and as a notebook to download beside its published source."""
    snippets = Path(config.config_file_path).parent / "snippets"
    for path in sorted(snippets.glob(LABS)):
        name = path.relative_to(snippets).as_posix()
        files.append(File(name, str(snippets), config.site_dir, config.use_directory_urls))
        content = notebook(path.read_text(encoding="utf-8"))
        files.append(File.generated(config, f"snippets/{name[:-3]}.ipynb", content=content))
    return files


def on_pre_page(page: Page, config: MkDocsConfig, files: Files) -> Page:
    """Tells the conversion that follows, that of this page, what its template shows."""
    name = page.file.src_uri
    if name.endswith(".py"):
        source, record = page.file.content_string, Current.get()[1].get(name[:-3])
        shown = iter(list(cells(f"snippets/{name}", source, record)))
        downloads = [get_relative_url(f"snippets/{name[:-3]}{ending}", page.url) for ending in (".ipynb", ".py")]
        default_filters["lab_prose"] = lambda text: _prose(text, page, config, files)
        default_filters["lab_cell"] = lambda cell: next(shown)
        default_filters["lab_downloads"] = lambda nb: downloads
    return page


def cells(path: str, source: str, record: Record | None) -> Iterator[dict[str, Any]]:
    """Code, output and figures of each code cell; only the code if there is no record, as a server may have it."""
    code = [cell for cell in _read(source).cells if cell.cell_type == "code"]
    outputs = CELL.split(record.output)[1:] if record else [""] * len(code)
    if len(outputs) != len(code):
        _refuse(path, 0, "a code cell begins with a line '# %%' and nothing else in it, and prints no such line")
        outputs = [""] * len(code)
    for cell, output in zip(code, outputs, strict=True):
        alt = " ".join(ALT.findall(cell.source + "\n"))
        files = record.files if record else {}
        saved = {name: files[name] for name in SAVED.findall(cell.source) if name in files}
        if saved and not alt:
            line = source[: source.find(cell.source)].count("\n") + 1
            _refuse(path, line, "this cell draws a figure; describe it in comments: '# alt: …'")
        yield {
            "code": html.code(ALT.sub("", cell.source + "\n")),
            "output": output,
            "figures": [figures.inline(svg.decode("utf-8"), alt, name[:-4]) for name, svg in saved.items()],
        }


def notebook(source: str) -> str:
    """The lab as a notebook without outputs. Links to pages are dropped: they lead nowhere from where it will be."""
    nb = _read(source)
    for count, cell in enumerate(nb.cells, 1):
        cell.id, cell.metadata = f"cell-{count}", {}
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(r"\1", cell.source)
    python = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nb.metadata = {"kernelspec": python, "language_info": {"name": "python"}}
    return json.dumps(nb, indent=1, ensure_ascii=False) + "\n"


def _read(source: str) -> Any:
    return jupytext.reads(source, fmt="py:percent")


def _prose(text: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """A cell of prose by the site's own Markdown; links to pages are resolved and checked as on any page."""
    md = markdown.Markdown(extensions=config.markdown_extensions, extension_configs=config.mdx_configs or {})
    _RelativePathTreeprocessor(page.file, files, config)._register(md)
    try:
        return md.convert(text.replace(f"]({UP}", "](../"))
    except Refusal as refusal:  # a formula, say
        for problem in refusal.problems:
            _refuse(f"snippets/{page.file.src_uri}", 0, problem.message)
        return ""


def _refuse(path: str, line: int, message: str) -> None:
    """Ends a build; a server shows it in the page."""
    if Current.refused is None:
        raise Refusal([Problem(path, line, message)])
    Current.refused.append(Problem(path, line, message))
