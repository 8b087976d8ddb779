"""Measures what the engine costs, as ratios of medians of alternating runs: bench_engine.py [runs] [memory] [build]

runs    20 small torch snippets, fork server and all, against one `import torch`     (goal: at most 1.6)
        200 against 20                                                              (goal: at most 10.5)
memory  peak of the whole process tree with 200 against 20                          (goal: flat)
build   a build with nothing changed against plain MkDocs on the same pages         (goal: at most 1.2)
        one with an edited page, against the same, and against pages with all code and output typed in
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import yaml

ROOT = Path(__file__).resolve().parent.parent
REPEAT, PAGES = 5, 20
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
RUN = """
import sys
from pathlib import Path
from evidence import snippet
from evidence.project import Project
from evidence.run import Job, Runner
project = Project(Path.cwd())
jobs = [Job(script) for script in snippet.load_all(project).values()][: int(sys.argv[1])]
failed = [run.error for run in Runner(project).run_all(jobs) if run.error]
sys.exit(f"{len(failed)} failed: {failed[0]}" if failed else 0)
"""


def project(root: Path, snippets: int) -> None:
    (root / "snippets" / "bench").mkdir(parents=True)
    (root / "docs").mkdir()
    for i in range(snippets):
        source = SNIPPET.format(seed=i, width=64 + i % 7 * 16)
        (root / "snippets" / "bench" / f"s{i}.py").write_text(source, encoding="utf-8")
    (root / "mkdocs.yml").write_text("site_name: bench\n", encoding="utf-8")


Times = tuple[float, float]


def command(*arguments: str, cwd: Path) -> Callable[[], Times]:
    """Runs it; seconds until it has ended, and seconds of processor in all its processes."""

    def run() -> Times:
        before, began = os.times(), time.perf_counter()
        ended = subprocess.run([sys.executable, *arguments], cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True)
        seconds = time.perf_counter() - began
        with contextlib.suppress(ChildProcessError):
            while True:  # the fork server ends after its client, and its time is known when it has been waited for
                os.waitpid(-1, 0)
        after = os.times()
        if ended.returncode:
            sys.exit(f"{arguments}: {ended.stderr[-2000:]}")
        used = after.children_user + after.children_system - before.children_user - before.children_system
        return seconds, used

    return run


def ratio(name: str, over: Callable[[], Times], under: Callable[[], Times]) -> None:
    """Prints the ratio of medians, and the lowest and highest of single pairs: how far to trust it."""
    under(), over()  # caches of the file system, and of bytecode
    pairs = [(over(), under()) for _ in range(REPEAT)]
    print(f"{name}:")
    for kind, what in enumerate(("time", "processor")):
        tops, bottoms = [pair[0][kind] for pair in pairs], [pair[1][kind] for pair in pairs]
        single = sorted(top / bottom for top, bottom in zip(tops, bottoms, strict=True))
        top, bottom = statistics.median(tops), statistics.median(bottoms)
        print(
            f"  {what}: {top / bottom:.2f} ({top:.2f} s and {bottom:.2f} s; pairs {single[0]:.2f} to {single[-1]:.2f})",
            flush=True,
        )


def peak(*arguments: str, cwd: Path) -> tuple[float, float]:
    """Peak memory of the process tree in MB: shared pages counted once in all (PSS), and in each process (RSS)."""
    process = subprocess.Popen([sys.executable, *arguments], cwd=cwd, env=ENVIRONMENT)
    best = [0.0, 0.0]
    done = threading.Event()

    def watch() -> None:
        root = psutil.Process(process.pid)
        while not done.wait(0.05):
            pss = rss = 0.0
            with contextlib.suppress(psutil.Error):
                for one in (root, *root.children(recursive=True)):
                    with contextlib.suppress(psutil.Error):
                        rss += one.memory_info().rss / 2**20
                        pss += getattr(one.memory_full_info(), "pss", 0) / 2**20
            best[:] = max(best[0], pss), max(best[1], rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    process.wait()
    done.set()
    watcher.join()
    return best[0], best[1]


def runs(scratch: Path) -> None:
    project(scratch, 200)
    torch = command("-c", "import torch", cwd=scratch)
    few, many = (command("-c", RUN, str(count), cwd=scratch) for count in (20, 200))
    ratio("20 snippets against one import of torch (goal 1.6)", few, torch)
    ratio("200 snippets against 20 (goal 10.5)", many, few)


def memory(scratch: Path) -> None:
    project(scratch, 200)
    few, many = (peak("-c", RUN, str(count), cwd=scratch) for count in (20, 200))
    for name, top, bottom in zip(("PSS", "RSS"), many, few, strict=True):
        print(f"peak {name}, 200 snippets against 20: {top / bottom:.2f} ({top:.0f} MB and {bottom:.0f} MB)")


def build(scratch: Path) -> None:
    project(scratch, 4 * PAGES)
    shutil.rmtree(scratch / "docs")
    for name in ("assets", "overrides"):
        shutil.copytree(ROOT / "docs" / name, scratch / "docs" / name)
    shutil.copytree(ROOT / "scripts", scratch / "scripts")
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    config["plugins"], config["hooks"] = ["search"], ["scripts/evidence_site/hooks.py"]  # there are no labs
    (scratch / "mkdocs.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    del config["hooks"]
    config["markdown_extensions"].remove("evidence_site.extension")
    (scratch / "plain.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (scratch / "docs" / "bench").mkdir()
    shares = shares_of(scratch)
    for page in range(PAGES):
        numbers = range(4 * page, 4 * page + 4)
        text = PAGE.format(page=page, first=numbers[0])
        text += "".join(SECTION.format(one=i, width=64 + i % 7 * 16, share=f"{shares[i]:.3f}") for i in numbers)
        (scratch / "docs" / "bench" / f"page-{page}.md").write_text(text, encoding="utf-8")
    (scratch / "docs" / "index.md").write_text("# Bench {#bench}\n", encoding="utf-8")
    ours = command("-m", "evidence", "build", cwd=scratch)
    plain = command("-m", "mkdocs", "build", "-q", "-f", "plain.yml", "-d", "plain", cwd=scratch)
    ours()
    ratio(f"build of {PAGES} pages with nothing changed against plain MkDocs (goal 1.2)", ours, plain)
    shutil.copytree(scratch / "docs", scratch / "full")
    shutil.copytree(scratch / ".cache" / "resolved", scratch / "full", dirs_exist_ok=True)
    config["docs_dir"] = "full"
    config["markdown_extensions"] += ["pymdownx.highlight", "pymdownx.superfences"]
    (scratch / "full.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    full = command("-m", "mkdocs", "build", "-q", "-f", "full.yml", "-d", "plain", cwd=scratch)

    def edited() -> Times:
        with open(scratch / "docs" / "index.md", "a", encoding="utf-8") as file:
            file.write("\nMore of it.\n")
        return ours()

    ratio("one page edited, against plain MkDocs", edited, plain)
    ratio("one page edited, against plain MkDocs on pages with all code and output typed in", edited, full)


def shares_of(scratch: Path) -> list[float]:
    """What the snippets compute, by a run of them: the pages state it."""
    subprocess.run([sys.executable, "-m", "evidence", "build"], cwd=scratch, env=ENVIRONMENT, capture_output=True)
    rows = [
        (scratch / "snippets" / "bench" / f"s{i}" / "share.csv").read_text(encoding="utf-8") for i in range(4 * PAGES)
    ]
    return [float(row.rsplit(",", 1)[1]) for row in rows]


def main() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: what a command leaves behind becomes our child
    wanted = sys.argv[1:] or ["runs", "memory", "build"]
    for name in wanted:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            {"runs": runs, "memory": memory, "build": build}[name](Path(folder))


if __name__ == "__main__":
    main()
