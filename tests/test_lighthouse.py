"""Proves with Lighthouse (mobile) that six kinds of page are accessible, well made and findable; tells how fast."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from browsing import FLAGS, ROOT, chromium

VERSION = "12.2.3"  # 13 wants a newer Node than Debian has
PAGES = {
    "home": "index.html",
    "chapter": "residual/growth-through-depth.html",
    "ledger": "ledger.html",
    "reference": "reference/glossary.html",
    "lab": "lab/depth_lab.html",
    "status": "about/status.html",
}
GATED = ("accessibility", "best-practices", "seo")


@pytest.fixture(scope="module")
def lighthouse() -> Path:
    """The program, from npm, kept in .cache."""
    if not shutil.which("npm"):
        if os.environ.get("CI") == "true":
            pytest.fail("no npm on this machine; .ci/run installs it")
        pytest.skip("no npm on this machine, which brings Lighthouse")
    folder = ROOT / ".cache/lighthouse"
    program = folder / "node_modules/lighthouse/cli/index.js"
    if not program.is_file():
        command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", f"lighthouse@{VERSION}"]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
    return program


@pytest.mark.parametrize("kind", PAGES)
def test_scores(lighthouse: Path, address: str, tmp_path: Path, kind: str) -> None:
    report = tmp_path / "report.json"
    command = [
        "node", str(lighthouse), f"{address}/{PAGES[kind]}", "--quiet", "--output=json", f"--output-path={report}",
        f"--chrome-flags={' '.join(['--headless=new', *FLAGS])}",
    ]  # fmt: skip
    environment = {**os.environ, "CHROME_PATH": chromium()}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    found = json.loads(report.read_text(encoding="utf-8"))
    scores = {name: round(100 * category["score"]) for name, category in found["categories"].items()}
    print(f"{kind}: {scores}")
    failed = [
        f"{audit['id']}: {audit['title']}"
        for name in GATED
        for reference in found["categories"][name]["auditRefs"]
        if reference["weight"] and (audit := found["audits"][reference["id"]])["score"] not in (1, None)
    ]
    assert failed == []
    assert {name: scores[name] for name in GATED} == dict.fromkeys(GATED, 100)
