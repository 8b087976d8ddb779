"""Measures what the engine costs, as ratios of medians: bench_engine.py [runs] [memory] [build] [growth [PAGES] [CSV]]

runs    20 small torch snippets, fork server and all, against one `import torch`     (goal: at most 1.6)
        200 against 20                                                              (goal: at most 10.5)
memory  peak of the whole process tree with 200 against 20                          (goal: flat)
build   a build with nothing changed against plain MkDocs on the same pages         (goal: at most 1.2)
        one with an edited page, against the same, and against pages with all code and output typed in
growth  1, 10 and 100 pages of four snippets: cold, warm, one edit, memory, each against plain MkDocs, in processor time
"""

from __future__ import annotations

import contextlib
import csv
import ctypes
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import psutil
import yaml

import small_site
from small_site import ENVIRONMENT

REPEAT, PAGES = 5, 20
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


GROWTH = """\
# python tests/bench_engine.py growth, {date}, Python {python}; in seconds of processor, medians of three but cold.
# plain: MkDocs without ours on the pages as written; typed: on the same pages with all code and output typed in;
# cold: nothing recorded yet; warm: nothing changed; edit: one page edited;
# memory: peak in MB of a build that runs all snippets, shared pages counted once.
"""
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
    process = subprocess.Popen([sys.executable, *arguments], cwd=cwd, env=ENVIRONMENT, stderr=subprocess.DEVNULL)
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
    small_site.snippets(scratch, 200)
    torch = command("-c", "import torch", cwd=scratch)
    few, many = (command("-c", RUN, str(count), cwd=scratch) for count in (20, 200))
    ratio("20 snippets against one import of torch (goal 1.6)", few, torch)
    ratio("200 snippets against 20 (goal 10.5)", many, few)


def memory(scratch: Path) -> None:
    small_site.snippets(scratch, 200)
    few, many = (peak("-c", RUN, str(count), cwd=scratch) for count in (20, 200))
    for name, top, bottom in zip(("PSS", "RSS"), many, few, strict=True):
        print(f"peak {name}, 200 snippets against 20: {top / bottom:.2f} ({top:.0f} MB and {bottom:.0f} MB)")


def typed_in(root: Path) -> Callable[[], Times]:
    """MkDocs without ours on the pages as they were resolved: what such a site costs whoever keeps it true."""
    shutil.copytree(root / "docs", root / "full")
    shutil.copytree(root / ".cache" / "resolved", root / "full", dirs_exist_ok=True)
    config = yaml.safe_load((root / "plain.yml").read_text(encoding="utf-8"))
    config["docs_dir"] = "full"
    config["markdown_extensions"] += ["pymdownx.highlight", "pymdownx.superfences"]
    (root / "full.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return command("-m", "mkdocs", "build", "-q", "-f", "full.yml", "-d", "plain", cwd=root)


def build(scratch: Path) -> None:
    small_site.make(scratch, PAGES)
    ours = command("-m", "evidence", "build", cwd=scratch)
    plain = command("-m", "mkdocs", "build", "-q", "-f", "plain.yml", "-d", "plain", cwd=scratch)
    ours()
    ratio(f"build of {PAGES} pages with nothing changed against plain MkDocs (goal 1.2)", ours, plain)
    full = typed_in(scratch)

    def edited() -> Times:
        with open(scratch / "docs" / "index.md", "a", encoding="utf-8") as file:
            file.write("\nMore of it.\n")
        return ours()

    ratio("one page edited, against plain MkDocs", edited, plain)
    ratio("one page edited, against plain MkDocs on pages with all code and output typed in", edited, full)


def growth(scratch: Path) -> None:
    """Each against plain MkDocs on the same pages, so that what is left is ours; medians of three, cold once."""
    rows: list[dict[str, str]] = []
    for pages in [int(one) for one in sys.argv if one.isdigit()] or [1, 10, 100]:
        root = scratch / str(pages)
        small_site.make(root, pages)
        plain = command("-m", "mkdocs", "build", "-q", "-f", "plain.yml", "-d", "plain", cwd=root)
        ours = command("-m", "evidence", "build", cwd=root)

        def cold(root: Path = root, ours: Callable[[], Times] = ours) -> Times:
            for name in (".cache", "site"):
                shutil.rmtree(root / name, ignore_errors=True)
            for record in root.glob("snippets/bench/*/"):
                shutil.rmtree(record)
            return ours()

        def edited(root: Path = root, ours: Callable[[], Times] = ours) -> Times:
            with open(root / "docs" / "index.md", "a", encoding="utf-8") as file:
                file.write("\nMore of it.\n")
            return ours()

        plain()
        base = statistics.median(plain()[1] for _ in range(3))
        row = {"pages": f"{pages}", "plain": f"{base:.2f}"}
        for name, what, times in (("cold", cold, 1), ("warm", ours, 3), ("edit", edited, 3)):
            row[name] = f"{statistics.median(what()[1] for _ in range(times)):.2f}"
        full = typed_in(root)
        row["typed"] = f"{statistics.median(full()[1] for _ in range(3)):.2f}"
        row["memory"] = f"{peak('-m', 'evidence', 'build', '--fresh', cwd=root)[0]:.0f}"
        rows.append(row)
        print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    for path in [one for one in sys.argv if one.endswith(".csv")]:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(GROWTH.format(date=datetime.now(UTC).date(), python=platform.python_version()))
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


def main() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: what a command leaves behind becomes our child
    words = [word for word in sys.argv[1:] if not word.isdigit() and not word.endswith(".csv")]
    for name in words or ["runs", "memory", "build"]:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            {"runs": runs, "memory": memory, "build": build, "growth": growth}[name](Path(folder))


if __name__ == "__main__":
    main()
