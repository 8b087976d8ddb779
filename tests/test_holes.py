"""Ways around the checks that were once open: each is refused now, and says so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from conftest import PAGE, Tiny
from evidence.project import Refusal
from evidence_site.extension import Current
from processes import without_privileges
from test_run import WAYS, good, run

CONFINED = """import os, sys
from evidence.confine import confine
confine(os.getcwd())
said = "read-only"
try:
    open("snippets/new", "w")
    said = "written"
except OSError:
    pass
print(said, os.listdir("snippets"), os.stat("mkdocs.yml").st_uid)"""


@pytest.fixture
def confined() -> None:
    """Where the system's own program may do so, ours has to."""
    way = [] if os.name == "posix" and os.geteuid() == 0 else ["--user", "--map-current-user"]
    if not shutil.which("unshare") or subprocess.run(["unshare", *way, "--mount", "--net", "true"]).returncode:
        pytest.skip("this system allows no namespaces, so that the audit hook is all there is")


FORGED = {
    "plain": '{"error": null, "values": {"share": 0.5}, "checks": [], "machine": {}}',
    "no JSON": "share = 0.5",
    "no object": "[1]",
}


@WAYS
@pytest.mark.parametrize("what", FORGED)
def test_a_result_that_the_engine_did_not_write_is_refused(tiny: Tiny, what: str, cold: bool) -> None:
    source = f"import os\nopen('../result.json', 'w').write({FORGED[what]!r})\nos._exit(0)\n"
    assert run(tiny, source, cold).error == "left a result of its own in the place of the engine's"


PROGRAMS = {
    "shell": "import os; os.system({command!r})",
    "subprocess": "import subprocess; subprocess.run({command!r}, shell=True)",
    "in place of a fork": "import os\nif os.fork() == 0:\n    os.execvp('sh', ['sh', '-c', {command!r}])\nos.wait()",
}


@WAYS
@pytest.mark.usefixtures("confined")
@pytest.mark.parametrize("how", PROGRAMS)
def test_a_program_that_a_snippet_starts_finds_no_file_of_the_repository(tiny: Tiny, how: str, cold: bool) -> None:
    path = tiny.write("snippets/data/a.csv", "secret\n")
    command = f"cat {path} || echo none"
    assert good(tiny, PROGRAMS[how].format(command=command) + "\n", cold).output == "none\n"
    assert path.read_text() == "secret\n"  # to all others it is there


@pytest.mark.usefixtures("confined")
@pytest.mark.parametrize("folder", ["docs", "snippets", "tests", ".git", ".cache", "site"])
def test_nor_what_a_page_says_where_it_is_kept_or_built(tiny: Tiny, folder: str) -> None:
    path = tiny.write(f"{folder}/kept/a.html", "secret\n")
    source = f"import os\nseen = os.popen({f'cat {path} || echo none'!r}).read()\nprint(seen)\n"
    assert good(tiny, source).values["seen"] == "none\n"
    assert path.read_text() == "secret\n"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing adopts what detaches itself")
def test_processes_that_detached_themselves_count(tiny: Tiny) -> None:
    source = (
        "import os, time\nfor _ in range(80):\n    if os.fork() == 0:\n        os.setsid()\n"
        "        if os.fork() == 0:\n            time.sleep(60)\n        os._exit(0)\n    os.wait()\ntime.sleep(5)\n"
    )
    assert run(tiny, source).error == "started more than 64 processes"


@pytest.mark.usefixtures("confined")
@pytest.mark.parametrize("rights", [None, without_privileges])
def test_with_rights_and_without_its_folders_are_empty_and_cannot_be_written(
    tiny: Tiny, rights: Callable[[], None] | None
) -> None:
    tiny.write("snippets/data/a.csv", "secret\n")
    command = [sys.executable, "-c", CONFINED]
    if root := os.getuid() == 0:
        os.chown(tiny.root / "mkdocs.yml", 1234, 1234)  # whom a user namespace would not know
    owner = os.getuid() if not root else 65534 if rights else 1234
    said = subprocess.run(command, cwd=tiny.root, preexec_fn=rights, capture_output=True, text=True)
    assert (said.stdout, said.stderr) == (f"read-only [] {owner}\n", "")
    assert not (tiny.root / "snippets/new").exists()


@pytest.mark.usefixtures("confined")
def test_a_program_that_a_snippet_starts_has_no_network(tiny: Tiny) -> None:
    asked: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        ask = f"import urllib.request as r; r.urlopen('http://127.0.0.1:{server.server_port}/', timeout=5)"
        subprocess.run([sys.executable, "-c", ask], check=True)  # there is a server to be found
        found = good(
            tiny, f"import subprocess\nstatus = subprocess.run([{sys.executable!r}, '-c', {ask!r}]).returncode\n"
        )
        server.shutdown()
    assert found.values["status"] == 1
    assert len(asked) == 1


@pytest.mark.usefixtures("confined")
def test_a_figure_has_the_projects_style_though_its_folder_is_hidden(tiny: Tiny) -> None:
    tiny.write("snippets/matplotlibrc", "lines.linewidth: 3.25\n")
    source = "import matplotlib.pyplot as plt\nwidth = plt.rcParams['lines.linewidth']\n"
    assert [good(tiny, source, cold).values["width"] for cold in (False, True)] == [3.25, 3.25]


def test_a_definition_is_taken_from_a_known_place(tiny: Tiny) -> None:
    tiny.page('# T\n\n[1e-5](https://example.org/x "definition: me")\n')
    (problem,) = tiny.problems()
    assert problem.startswith(f"{PAGE}:3: ")
    assert "example.org is not among the places a definition is taken from (aclanthology.org, arxiv.org" in problem
    tiny.page('# T\n\n[1e-5](https://www.arxiv.org/abs/1607.06450 "definition: Ba et al. 2016")\n')
    assert tiny.problems() == []


@pytest.mark.parametrize("text", ["three point seven", "zero point five", "twenty point oh one", "₄₂ layers", "a ⁵ b"])
def test_numbers_in_other_clothes_are_read(tiny: Tiny, text: str) -> None:
    tiny.page(f"# T\n\nIt is {text}.\n")
    assert [line for line, _ in tiny.unbound()] == [3]


@pytest.mark.parametrize("text", ["x₁ and H₂O", "h_{₁}", "R⁺"])
def test_an_index_is_no_number(tiny: Tiny, text: str) -> None:
    tiny.page(f"# T\n\nIt is {text}.\n")
    assert tiny.unbound() == []


def test_a_page_in_another_encoding_is_one_problem(tiny: Tiny) -> None:
    tiny.write(PAGE, "# T\n\nna\xefve\n".encode("latin-1"))
    (problem,) = tiny.problems()
    assert problem.startswith(f"{PAGE}:3: is not text in UTF-8; save it so")


def test_a_snippet_in_another_encoding_is_one_problem(tiny: Tiny) -> None:
    tiny.write("snippets/residual/share.py", "# na\xefve\n".encode("latin-1"))
    with pytest.raises(Refusal, match=r"snippets/residual/share\.py: is not text in UTF-8"):
        tiny.problems()


def test_rendering_looks_a_page_up_and_compares_no_texts(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        tiny.page(f"# T {number}\n", f"docs/residual/p{number}.md")
    read: list[str] = []

    def body(text: str) -> str:
        read.append(text)
        return text

    monkeypatch.setattr("evidence_site.extension._body", body)
    monkeypatch.setattr(Current, "state", ({}, {}, tiny.found()))
    pages = [Current.page(f"# T {number}\n") for number in range(30)]
    assert [page.path for page in pages if page] == [f"docs/residual/p{number}.md" for number in range(30)]
    assert len(read) == 30
