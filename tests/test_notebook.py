"""Proves that the lab's page is light, accessible and never stale, and that its notebook prints what the page shows."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest

from conftest import Tiny
from evidence import compare, record, snippet
from evidence.project import Problem, Project, Refusal
from evidence.record import OUTPUT, Record
from evidence.run import Job, Runner
from evidence_site import notebook
from evidence_site.extension import Current
from small_site import write_settings

ROOT = Path(__file__).parents[1]
LAB = snippet.load(Project(ROOT), "lab/depth_lab")
PAGES = ("why/signal-through-depth", "why/gradient-through-depth", "residual/identity-path")
SMALL = """# %% [markdown]
# # A lab
#
# Prose with $x^2$.

# %%
import matplotlib.pyplot as plt

y = [1, 2]
print("<b>not bold</b>", y)

# %%
# alt: A line that rises.
plt.plot(y)
plt.savefig("line.svg")
"""


@dataclass
class Site:
    """A project with the real theme, settings and adapters, and one lab; `page` is that of the lab."""

    root: Path
    said: str = ""

    @property
    def page(self) -> str:
        return (self.root / "site/lab/depth_lab.html").read_text(encoding="utf-8")

    @property
    def records(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted((self.root / "snippets/lab/depth_lab").glob("*"))}

    def build(self) -> int:
        command = [sys.executable, "-m", "evidence", "build"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True)
        self.said = done.stdout + done.stderr
        return done.returncode


def site(root: Path, source: str) -> Site:
    for folder in ("docs/assets", "docs/overrides", "scripts/evidence_site"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "snippets/lab").mkdir(parents=True)
    shutil.copyfile(ROOT / "snippets/matplotlibrc", root / "snippets/matplotlibrc")
    write_settings(root)
    for name in PAGES:
        (root / f"docs/{name}.md").parent.mkdir(exist_ok=True)
        (root / f"docs/{name}.md").write_text("# Title {#title}\n", encoding="utf-8")
    (root / "docs/index.md").write_text("# Home\n\nThe [lab](../snippets/lab/depth_lab.py).\n", encoding="utf-8")
    (root / "snippets/lab/depth_lab.py").write_text(source, encoding="utf-8")
    return Site(root)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The lab as it is committed, with its record, built once."""
    made = site(tmp_path_factory.mktemp("real"), LAB.source)
    shutil.copytree(ROOT / "snippets/lab/depth_lab", made.root / "snippets/lab/depth_lab")
    assert made.build() == 0, made.said
    return made


@dataclass
class Seen(HTMLParser):
    """What the tests ask of a page's main text."""

    tags: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=lambda: {"code": [], "samp": [], "style": [], "script": []})
    open: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {key: value or "" for key, value in attrs}))
        if tag in self.texts:
            self.open = tag
            self.texts[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == self.open:
            self.open = ""

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[self.open][-1] += data

    def all(self, *names: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.tags if tag in names]


def seen(text: str) -> Seen:
    parser = Seen()
    parser.feed(text)
    return parser


def main_text(page: str) -> Seen:
    return seen(page[page.index("<article") : page.index("</article>")])


# --- never stale, and no kernel started in vain ---------------------------------------------------------------------


def test_with_nothing_changed_nothing_runs_and_the_record_stays(real: Site) -> None:
    before, page = real.records, real.page
    assert real.build() == 0
    assert "nothing changed since the last build" in real.said
    assert (real.records, real.page) == (before, page)
    assert real.records == {path.name: path.read_bytes() for path in (ROOT / "snippets/lab/depth_lab").glob("*")}


def test_a_changed_lab_runs_again_and_a_failing_one_is_refused(tmp_path: Path) -> None:
    lab = site(tmp_path, SMALL)
    source = tmp_path / "snippets/lab/depth_lab.py"
    assert lab.build() == 0, lab.said
    assert main_text(lab.page).texts["samp"] == ["<b>not bold</b> [1, 2]\n"]
    source.write_text(SMALL.replace("y = [1, 2]", "y = [1, 3]"), encoding="utf-8")
    assert lab.build() == 0, lab.said
    assert "1 of 1 snippets run" in lab.said
    assert main_text(lab.page).texts["samp"] == ["<b>not bold</b> [1, 3]\n"]
    records, page = lab.records, lab.page
    source.write_text(SMALL.replace("y = [1, 2]", "y = [1, 2 / 0]"), encoding="utf-8")
    assert lab.build() != 0
    assert "snippets/lab/depth_lab.py: failed:" in lab.said
    assert 'File "depth_lab.py", line 9, in <module>\n    y = [1, 2 / 0]' in lab.said
    assert "ZeroDivisionError: division by zero" in lab.said
    assert (lab.records, lab.page) == (records, page)


def test_figures_repeat_byte_for_byte_forked_and_cold() -> None:
    forked, cold = (Runner(Project(ROOT), cold=cold).run(Job(LAB)) for cold in (False, True))
    assert forked.record is not None
    assert cold.record is not None
    assert {"token.svg", "gradient.svg"} < set(forked.record.files)
    assert forked.record.files == cold.record.files


# --- the page -------------------------------------------------------------------------------------------------------


def test_the_page_is_light_and_self_contained(real: Site) -> None:
    assert len(real.page.encode()) < 150_000
    text, whole = main_text(real.page), seen(real.page)
    assert not text.all("style", "script", "iframe", "object")
    assert not whole.all("style")
    assert [tag for tag, attributes in whole.tags if "style" in attributes] == []
    loaded = [one.get("src", "") for one in whole.all("script", "img", "iframe", "source")]
    loaded += [one["href"] for one in whole.all("link", "use", "image") if "href" in one]
    assert loaded
    assert [address for address in loaded if re.match(r"(?:[a-z]+:)?//", address)] == []
    assert not re.search(r"mermaid|mathjax|require\.js|clipboard-copy", real.page, re.I)


def test_each_cell_is_shown_with_what_it_printed(real: Site) -> None:
    text = main_text(real.page)
    found = record.load(ROOT / "snippets/lab/depth_lab")
    outputs = found.output.split("# %%\n")[1:]
    assert text.texts["samp"] == [output for output in outputs if output]
    cells = json.loads(notebook.notebook(LAB.source))["cells"]
    code = [re.sub(r"# alt:.*\n", "", cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert [shown.strip() for shown in text.texts["code"] if "\n" in shown] == code
    assert len(outputs) == len(code) > 4


def test_figures_have_the_alt_text_their_cells_give(real: Site) -> None:
    figures = [one for one in main_text(real.page).all("svg") if one.get("role") == "img"]
    given = re.findall(r"^# alt: (.*)\n# alt: (.*)$", LAB.source, re.M)
    assert [one["aria-label"] for one in figures] == [" ".join(lines) for lines in given]
    assert len(figures) == 2


def test_headings_are_in_order_linked_and_in_the_contents(real: Site) -> None:
    whole = seen(real.page)
    text = main_text(real.page)
    levels = [tag for tag, _ in text.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == "h1"
    assert set(levels[1:]) == {"h2"}
    names = {one["id"] for one in whole.all("h1", "h2")}
    contents = {
        one["href"][1:] for one in whole.all("a") if one.get("class") == "md-nav__link" and "#" in one["href"][:1]
    }
    assert contents == names - {text.all("h1")[0]["id"]}
    assert {one["href"][1:] for one in text.all("a") if one.get("class") == "headerlink"} == names


def test_what_scrolls_can_be_reached_by_keyboard(real: Site) -> None:
    assert [one for one in main_text(real.page).all("pre") if one.get("tabindex") != "0"] == []


def test_links_lead_from_the_lab_to_pages_and_from_pages_to_the_lab(real: Site) -> None:
    links = [one["href"] for one in main_text(real.page).all("a")]
    assert {f"../{page}.html" for page in PAGES} < set(links)
    home = (real.root / "site/index.html").read_text(encoding="utf-8")
    assert "lab/depth_lab.html" in [one["href"] for one in main_text(home).all("a")]


def test_the_search_index_has_the_text_and_nothing_of_a_notebook(real: Site) -> None:
    docs = json.loads((real.root / "site/search/search_index.json").read_text(encoding="utf-8"))["docs"]
    text = " ".join(doc["text"] for doc in docs if doc["location"].startswith("lab/"))
    assert "plain stack" in text
    assert not re.search(r"In \[|Out\[|Copied!", text)


# --- the downloads --------------------------------------------------------------------------------------------------


def test_the_downloads_are_named_at_the_top(real: Site) -> None:
    page = real.page
    links = [one["href"] for one in main_text(page).all("a") if "download" in one]
    assert [Path(link).name for link in links] == ["depth_lab.ipynb", "depth_lab.py"]
    assert page.index("depth_lab.ipynb") < page.index("<h2")
    for link in links:
        assert (real.root / "site/lab" / link).is_file()
    assert (real.root / "site/snippets/lab/depth_lab.py").read_text(encoding="utf-8") == LAB.source


EXECUTE = """
import sys, nbformat, nbclient
nb = nbformat.read(sys.argv[1], 4)
nbformat.validate(nb)
assert not any(cell.get("outputs") for cell in nb.cells)
nbclient.NotebookClient(nb, timeout=300, allow_errors=False).execute()
nbformat.write(nb, sys.argv[2])
"""


def test_the_notebook_is_valid_and_prints_in_a_fresh_kernel_what_the_page_shows(real: Site, tmp_path: Path) -> None:
    given, executed = real.root / "site/snippets/lab/depth_lab.ipynb", tmp_path / "executed.ipynb"
    assert given.stat().st_size < 20_000
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "JUPYTER_DATA_DIR": str(tmp_path), "IPYTHONDIR": str(tmp_path)}
    environment.pop("MPLBACKEND", None)
    command = [sys.executable, "-c", EXECUTE, str(given), str(executed)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    cells = [cell for cell in json.loads(executed.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    printed = ["".join("".join(out["text"]) for out in cell["outputs"] if "text" in out) for cell in cells]
    expected = record.load(ROOT / "snippets/lab/depth_lab").output
    assert compare.same_text(expected.encode(), "".join(f"# %%\n{text}" for text in printed).encode())
    assert sum("image/png" in out.get("data", {}) for cell in cells for out in cell["outputs"]) == 2


def test_the_notebook_repeats_and_has_no_links_to_pages() -> None:
    made = notebook.notebook(LAB.source)
    assert made == notebook.notebook(LAB.source)
    assert "the identity path" in made
    assert "](.." not in made


# --- what is refused ------------------------------------------------------------------------------------------------


def recorded(output: str, **files: bytes) -> Record:
    return Record("lab/small", {}, {}, {}, {}, {OUTPUT: output.encode(), **files})


def refused(source: str, found: Record) -> list[Problem]:
    with pytest.raises(Refusal) as caught:
        list(notebook.cells("snippets/lab/small.py", source, found))
    return caught.value.problems


def test_a_figure_without_a_description_is_refused() -> None:
    source = SMALL.replace("# alt: A line that rises.\n", "")
    found = recorded("# %%\n# %%\n", **{"line.svg": b"<svg/>"})
    problem = Problem("snippets/lab/small.py", 13, "this cell draws a figure; describe it in comments: '# alt: …'")
    assert refused(source, found) == [problem]


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (SMALL.replace("# %%\n# alt", "# %% a title\n# alt"), "# %%\n"),
        ("x = 1\n\n" + SMALL, "# %%\n# %%\n"),
        (SMALL, "# %%\n# %%\n# %%\n"),
    ],
)
def test_a_cell_whose_output_cannot_be_told_apart_is_refused(source: str, output: str) -> None:
    assert "a code cell begins with a line '# %%'" in refused(source, recorded(output))[0].message


def test_a_server_shows_what_is_wrong_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    problems: list[Problem] = []
    monkeypatch.setattr(Current, "refused", problems)
    shown = list(notebook.cells("snippets/lab/small.py", SMALL, recorded("")))
    assert [cell["output"] for cell in shown] == ["", ""]
    assert len(problems) == 1
    assert [cell["figures"] for cell in notebook.cells("snippets/lab/small.py", SMALL, None)] == [[], []]


def test_a_number_in_prose_is_printed_or_a_parameter(tiny: Tiny) -> None:
    text = "# %% [markdown]\n# # Lab\n#\n# The depth is 20, the norm {}.\n\n# %%\ndepth = 20\nprint(7.25)\n"
    tiny.have(text.format("7.25"), {"depth": 20}, "lab/small", "# %%\n7.25\n")
    assert tiny.unbound() == []
    tiny.have(text.format("7.5, twice that"), {"depth": 20}, "lab/small", "# %%\n7.25\n")
    assert tiny.unbound() == [(4, "7.5"), (4, "twice")]
