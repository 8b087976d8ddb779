"""Proves that a save updates the served page once and runs only what it must, and that errors show in the page."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from small_site import write_settings

ROOT = Path(__file__).parents[1]
PAGE = """# Norms {#norms}

The norm is [3.0](../../snippets/residual/norm.py#norm) and [it is positive](../../snippets/residual/norm.py#positive).

[norm.py](../../snippets/residual/norm.py)
"""
SNIPPET = "norm = 3.0\npositive = norm > 0\nprint(f'norm {norm}')\n"


class Server:
    """`serve` on a small project with the site's own configuration; `log` is what it printed so far."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("docs/assets", "docs/overrides", "scripts/evidence_site"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "fonts"))
        write_settings(root)
        for path, text in {
            "docs/index.md": "# Home {#home}\n\nText.\n",
            "docs/residual/norms.md": PAGE,
            "snippets/residual/norm.py": SNIPPET,
            "snippets/residual/other.py": "other = 1\nprint(other)\n",
        }.items():
            self.write(path, text)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.out = (root / "serve.log").open("w+", encoding="utf-8")
        command = [sys.executable, "-u", "-m", "evidence", "serve", "--address", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(command, cwd=root, stdout=self.out, stderr=subprocess.STDOUT)

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    @property
    def log(self) -> str:
        return (self.root / "serve.log").read_text(encoding="utf-8")

    @property
    def builds(self) -> int:
        return self.log.count("Building documentation")  # MkDocs drops a line that it has said, "built in 0.32 seconds"

    def page(self) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/residual/norms.html", timeout=60) as answer:
            return str(answer.read().decode())

    def until(self, holds: Callable[[str], bool]) -> str:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                text = self.page()
            except OSError:
                text = ""
            if holds(text):
                return text
            assert self.process.poll() is None, self.log
            time.sleep(0.1)
        raise AssertionError(self.log)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    started = Server(tmp_path)
    try:
        started.until(lambda text: "norm 3.0" in text)
        yield started
    finally:
        started.process.terminate()
        started.process.wait()
        started.out.close()


def test_saving(server: Server) -> None:
    assert server.log.count("ran snippets") == 2
    assert server.builds == 1

    server.write("docs/residual/norms.md", PAGE.replace("The norm is", "Its norm is"))
    server.until(lambda text: "Its norm is" in text)
    assert server.log.count("ran snippets") == 2, "a saved page runs nothing"

    server.write("snippets/residual/norm.py", SNIPPET.replace("print(f'norm", "print(f'the norm"))
    server.until(lambda text: "the norm 3.0" in text)
    assert server.log.count("ran snippets/residual/norm.py") == 2
    assert server.log.count("ran snippets/residual/other.py") == 1, "only what was saved runs"

    time.sleep(2)  # records were written meanwhile: they must not cause another build
    assert server.builds == 3, server.log


def test_errors_show_in_the_page_and_mend(server: Server) -> None:
    server.write("docs/residual/norms.md", PAGE.replace("[3.0]", "[4.0]"))
    text = server.until(lambda text: 'class="refused"' in text)
    assert "docs/residual/norms.md:3: states 4.0, measured 3" in text

    server.write("docs/residual/norms.md", PAGE)
    server.until(lambda text: 'class="refused"' not in text)

    server.write("snippets/residual/norm.py", "print(1 / 0)\n")
    text = server.until(lambda text: 'class="refused"' in text)
    assert "ZeroDivisionError" in text
    for other in ("is bound to nothing", "has no recorded variable"):
        assert other not in text, "one cause, one problem"
    assert "norm 3.0" in text, "the last good output stays"

    server.write("docs/residual/norms.md", PAGE.replace("[norm.py](../../", "[norm.py](../"))
    server.until(lambda text: "does not lead into snippets/" in text)

    server.write("docs/residual/norms.md", PAGE)
    server.write("snippets/residual/norm.py", SNIPPET)
    server.until(lambda text: 'class="refused"' not in text and "norm 3.0" in text)


def test_an_address_that_is_taken_is_told_before_anything_is_built(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text("site_name: t\n", encoding="utf-8")
    for folder in ("docs", "snippets"):
        (tmp_path / folder).mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        command = [sys.executable, "-m", "evidence", "serve", "--address", address]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"{address}: ")
    assert "serve --address 127.0.0.1:8001" in ended.stderr
    assert "Building" not in ended.stderr
