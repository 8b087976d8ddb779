"""A generated site of pages with four snippets each, in the real theme: for what is measured or compared as a whole."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
PER_PAGE = 4
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
    "OMP_NUM_THREADS": "1",
    "NO_MKDOCS_2_WARNING": "1",
}
SNIPPET = """# The share of a layer's norm that its branch adds
import torch

torch.manual_seed({seed})
width = {width}
x = torch.randn(64, width)  # (tokens, d_model)
branch = 0.1 * x @ torch.randn(width, width) / width**0.5
share = (branch.norm() / (x + branch).norm()).item()
count = len(x)
grows = bool((x + branch).norm() > x.norm())
print(f"share {{share:.4f}}")
with open("share.csv", "w") as file:
    file.write(f"width,share\\n{{width}},{{share:.4f}}\\n")
"""
PAGE = """# Page {page} {{#page-{page}}}

What does a branch add to the residual stream?

> **Takeaway.** Little, where the branch is small, and the sum [grows](../../snippets/bench/s{first}.py#grows).
"""
SECTION = """
## Width of [{width}](../../snippets/bench/s{one}.py#width "setting") {{#width-{one}}}

The share is [{share}](../../snippets/bench/s{one}.py#share "±0.002") over [64](../../snippets/bench/s{one}.py#count)
tokens, with $y = x + f(x)$ as the residual stream reads it. What is added has a norm of its own, and since it is not
aligned with what is there, the norm of the sum is nearer to the root of the sum of squares than to the sum itself:

$$\\lVert x + f(x) \\rVert \\approx \\sqrt{{\\lVert x \\rVert^2 + \\lVert f(x) \\rVert^2}}$$

[s{one}.py](../../snippets/bench/s{one}.py)

[The share by width.](../../snippets/bench/s{one}/share.csv "table")

Where the branch is aligned with the stream this does not hold, and the norm of the sum comes near to the sum of the
norms. That is the case in trained networks after a while, so the figure above is one of an untrained network and
should be read as such. The text here has about the length that a page has between two of its figures.
"""


def snippets(root: Path, count: int) -> None:
    """A project of this many snippets, without pages."""
    (root / "snippets" / "bench").mkdir(parents=True)
    (root / "docs").mkdir()
    for i in range(count):
        source = SNIPPET.format(seed=i, width=64 + i % 7 * 16)
        (root / "snippets" / "bench" / f"s{i}.py").write_text(source, encoding="utf-8")
    (root / "mkdocs.yml").write_text("site_name: bench\n", encoding="utf-8")


def settings() -> dict[str, Any]:
    """The site's own mkdocs.yml for a smaller site, without data and old addresses of what is not there."""
    config: dict[str, Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    for name in ("redirects", "data"):
        config["extra"].pop(name, None)
    return config


def write_settings(root: Path) -> None:
    (root / "mkdocs.yml").write_text(yaml.safe_dump(settings()), encoding="utf-8")


def make(root: Path, pages: int) -> None:
    """A site with the real theme and engine, whose pages state what snippets compute; `plain.yml` is without ours."""
    snippets(root, PER_PAGE * pages)
    shutil.rmtree(root / "docs")
    for name in ("assets", "overrides"):
        shutil.copytree(ROOT / "docs" / name, root / "docs" / name)
    shutil.copytree(ROOT / "scripts", root / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    config = settings()
    config["plugins"], config["hooks"] = ["search"], ["scripts/evidence_site/hooks.py"]  # there are no labs
    (root / "mkdocs.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    del config["hooks"]
    config["markdown_extensions"].remove("evidence_site.extension")
    (root / "plain.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (root / "docs" / "bench").mkdir()
    (root / "docs" / "index.md").write_text("# Bench {#bench}\n", encoding="utf-8")
    shares = _shares(root, PER_PAGE * pages)
    for page in range(pages):
        numbers = range(PER_PAGE * page, PER_PAGE * (page + 1))
        text = PAGE.format(page=page, first=numbers[0])
        text += "".join(SECTION.format(one=i, width=64 + i % 7 * 16, share=f"{shares[i]:.3f}") for i in numbers)
        (root / "docs" / "bench" / f"page-{page}.md").write_text(text, encoding="utf-8")


def build(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Our own command, on the project's own copy of the engine."""
    environment = {**ENVIRONMENT, "PYTHONPATH": str(root / "scripts")}
    command = [sys.executable, "-m", "evidence", "build", *options]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)


def _shares(root: Path, count: int) -> list[float]:
    """What the snippets compute, by a run of them."""
    ended = build(root)
    if ended.returncode:
        raise SystemExit(ended.stderr)
    rows = [(root / "snippets/bench" / f"s{i}" / "share.csv").read_text(encoding="utf-8") for i in range(count)]
    return [float(row.rsplit(",", 1)[1]) for row in rows]
