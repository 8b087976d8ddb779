"""A run reads what its header declares, as given; other files of the repository and the network are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Tiny
from test_run import WAYS, good, run


def test_a_declared_file_is_there_under_its_base_name(tiny: Tiny, tmp_path: Path) -> None:
    tiny.write("snippets/data/a.csv", "1\n")
    source = "# reads: snippets/data/a.csv\nx = int(open('a.csv').read())\n"
    found = good(tiny, source)
    assert found.values["x"] == 1
    assert set(found.files) == {"output.txt"}
    assert list(found.inputs) == ["snippets/residual/share.py", "snippets/data/a.csv"]
    newer = tmp_path / "newer.csv"
    newer.write_text("2\n")
    other = run(tiny, source, files={"snippets/data/a.csv": newer}).record
    assert other
    assert other.values["x"] == 2
    assert other.inputs != found.inputs


def test_a_declared_file_may_not_be_changed(tiny: Tiny) -> None:
    tiny.write("snippets/data/a.csv", "1\n")
    said = run(tiny, "# reads: snippets/data/a.csv\nopen('a.csv', 'a').write('2')\n").error
    assert said == "changed 'a.csv', a file it only reads"


UNDECLARED = {
    "open": "open(p)",
    "pathlib": "import pathlib; pathlib.Path(p).read_text()",
    "numpy": "import numpy; numpy.loadtxt(p)",
    "os": "import os; os.open(p, os.O_RDONLY)",
    "raw": "import io, pathlib; io.FileIO(pathlib.Path(p))",
    "through a link": "import os; os.symlink(p, 'a'); open('a')",
    "roundabout": "import os; open(os.path.relpath(p))",
}


@WAYS
@pytest.mark.parametrize("how", UNDECLARED)
def test_a_file_of_the_repository_that_is_not_declared_is_refused(tiny: Tiny, how: str, cold: bool) -> None:
    path = tiny.write("snippets/data/a.csv", "1\n")
    said = run(tiny, f"p = {str(path)!r}\n{UNDECLARED[how]}\n", cold).error or ""
    assert "snippets/data/a.csv is read but not declared; add a header line '# reads: snippets/data/a.csv'" in said


NETWORK = {
    "socket": "import socket; socket.create_connection(('127.0.0.1', 9))",
    "url": "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9/')",
    "name": "import socket; socket.gethostbyname('localhost')",
    "datagram": "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
}


@pytest.mark.parametrize("how", NETWORK)
def test_the_network_is_refused(tiny: Tiny, how: str) -> None:
    assert "a snippet has no network" in (run(tiny, NETWORK[how] + "\n").error or "")
