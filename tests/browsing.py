"""What the browser tests share: the real site, served, and Chromium; `pages`, `settle`, … are helpers."""

from __future__ import annotations

import contextlib
import functools
import gzip
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).parents[1]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real site, built by plain `mkdocs build --strict`."""
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(target)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    return target


class Compressing(http.server.SimpleHTTPRequestHandler):
    """Serves as a host would: text compressed, and kept for a while."""

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            self.send_error(404)
            return
        content = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Cache-Control", "max-age=31536000")
        if path.suffix in {".html", ".css", ".js", ".json", ".svg", ".txt"}:
            content = gzip.compress(content)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # a reader who leaves before all has come
            self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Compressing, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def chromium() -> str:
    """Where it is; without it a test is skipped, and under continuous integration fails."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not found:
        if os.environ.get("CI") == "true":
            pytest.fail("no Chromium on this machine; .ci/run installs it")
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield started
        started.close()


def pages(site: Path) -> list[str]:
    """The addresses of all pages, as a visitor meets them; what only leads from an old address is left out."""
    every = sorted(site.rglob("*.html"))
    found = [
        path.relative_to(site).as_posix() for path in every if 'http-equiv="refresh"' not in path.read_text("utf-8")
    ]
    assert found
    return ["/" + path.removesuffix("index.html") for path in found]


def watch(page: Page, address: str) -> list[str]:
    """Collects whatever a page should not do, from now on."""
    told: list[str] = []
    page.on("console", lambda message: told.append(f"console {message.type}: {message.text}"))
    page.on("pageerror", lambda error: told.append(f"error: {error}"))
    page.on("request", lambda r: None if r.url.startswith((address, "data:")) else told.append(f"third party: {r.url}"))
    page.on("response", lambda r: told.append(f"{r.status}: {r.url}") if r.status >= 400 else None)
    return told


SETTLE = """async () => {
    await document.fonts.ready;
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
}"""
STILL = """() => {
    const style = new CSSStyleSheet();
    style.replaceSync("*, *::before, *::after { transition: none !important; animation: none !important }");
    document.adoptedStyleSheets.push(style);
}"""


def settle(page: Page) -> None:
    """Waits until a loaded page is drawn. (Idleness of the network comes too early: before a long page's scripts.)"""
    page.wait_for_load_state("load")
    page.evaluate(SETTLE)


def be_still(page: Page) -> None:
    """No color is met on its way to another one."""
    page.evaluate(STILL)


def put_scheme(page: Page, scheme: str) -> None:
    """By the theme's own switch."""
    name = {"light": "default", "dark": "slate"}[scheme]
    page.locator(f"input[name=__palette][data-md-color-scheme={name}]").evaluate("one => one.checked || one.click()")
    expect(page.locator("body")).to_have_attribute("data-md-color-scheme", name)
