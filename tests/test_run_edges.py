"""What a run is asked for, and what is taken from it, to the byte: tried with processes that are made up."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Tiny
from evidence.run import FORKS, Job, Run, Runner

MEGA = 2**20


class Asked(Runner):
    """Starts nothing: `leaves` writes into the folder what a run might."""

    leaves: Callable[[Path], object] = staticmethod(lambda folder: None)

    def _forked(self, request: dict[str, Any], cold: bool = False) -> None:
        self.request, self.was_cold, folder = request, cold, Path(request["folder"])
        self.there = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
        result = {"token": request["token"], "error": None, "values": {}, "checks": [], "machine": {"threads": 1}}
        (folder / "result.json").write_text(json.dumps(result))
        (folder / "stdout").write_bytes(b"")
        self.leaves(folder)

    def _cold(self, request: dict[str, Any]) -> None:
        self._forked(request, cold=True)


def asked(tiny: Tiny, source: str = "x = 1\n", **options: Any) -> Asked:
    runner = Asked(tiny.project, **options)
    assert runner.run(Job(tiny.snippet(source))).error is None
    return runner


def left(tiny: Tiny, leaves: Callable[[Path], object], source: str = "x = 1\n", reads: str = "") -> Run:
    runner = Asked(tiny.project)
    runner.leaves = leaves
    return runner.run(Job(tiny.snippet(reads + source)))


# --- what is asked for ------------------------------------------------------------------------------------------------


def test_it_asks_for_what_the_header_says(tiny: Tiny) -> None:
    runner = asked(tiny, "# limits: 7 s, 3 GB\nx = 1\n")
    wanted: dict[str, Any] = {"seconds": 7, "gigabytes": 3, "threads": 1, "grace": 0, "style": None, "checks": []}
    assert {name: runner.request[name] for name in wanted} == wanted
    assert runner.request["root"] == str(tiny.root)
    assert runner.request["file"] == str(tiny.root / "snippets/residual/share.py")
    assert runner.request["source"] == "# limits: 7 s, 3 GB\nx = 1\n"
    assert runner.request["environment"] == {
        "SOURCE_DATE_EPOCH": "0", "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    }  # fmt: skip
    assert runner.there == ["tmp", "work"]
    assert not Path(runner.request["folder"]).exists()


def test_it_asks_for_what_it_was_told(tiny: Tiny) -> None:
    runner = asked(tiny, "# limits: 7 s\nx = 1\n", threads=2, patience=5, environment={"A": "b", "MPLBACKEND": "x"})
    assert (runner.request["seconds"], runner.request["threads"]) == (35, 2)
    environment = runner.request["environment"]
    assert (environment["OMP_NUM_THREADS"], environment["A"], environment["MPLBACKEND"]) == ("2", "b", "x")


def test_a_style_is_copied_and_named(tiny: Tiny) -> None:
    tiny.write("snippets/matplotlibrc", "lines.linewidth: 3\n")
    runner = asked(tiny)
    copy = str(Path(runner.request["folder"]) / "matplotlibrc")
    assert (runner.request["style"], runner.request["environment"]["MATPLOTLIBRC"]) == (copy, copy)
    assert runner.there == ["matplotlibrc", "tmp", "work"]
    assert runner._environment()["MATPLOTLIBRC"] == str(tiny.root / "snippets/matplotlibrc")


@pytest.mark.parametrize(
    ("source", "cold", "grace"),
    [("import torch\n", True, 20), ("import numpy\n", True, 20), ("x = 1\n", True, 0), ("import torch\n", False, 0)],
)
def test_a_fresh_interpreter_gets_time_for_its_imports(tiny: Tiny, source: str, cold: bool, grace: int) -> None:
    runner = asked(tiny, source, cold=cold)
    assert (runner.was_cold, runner.request["grace"]) == (cold or not FORKS, grace)


def test_what_it_reads_lies_beside_it(tiny: Tiny) -> None:
    tiny.write("snippets/data/a.csv", "1\n")
    assert asked(tiny, "# reads: snippets/data/a.csv\nx = 1\n").there == ["tmp", "work", "work/a.csv"]


@pytest.mark.parametrize(("sources", "plots"), [(["x = 1\n", "import matplotlib\n"], True), (["x = 1\n"], False)])
def test_plots_are_prepared_for_where_any_snippet_draws(tiny: Tiny, sources: list[str], plots: bool) -> None:
    for number, source in enumerate(sources):
        tiny.snippet(source, f"residual/s{number}")
    assert Runner(tiny.project)._plots == ["matplotlib.pyplot"] * plots


# --- what is taken ----------------------------------------------------------------------------------------------------


def test_a_folder_that_is_gone_already_is_a_run_that_was_stopped(tiny: Tiny) -> None:
    assert left(tiny, shutil.rmtree).error == "was stopped from outside"


@pytest.mark.parametrize(
    "text", ['{"token": "other", "error": "x"}', '["token"]', "null", '"x"', "{", '{"error": "x"}']
)
def test_a_result_without_the_token_is_not_the_engines(tiny: Tiny, text: str) -> None:
    error = left(tiny, lambda folder: (folder / "result.json").write_text(text)).error
    assert error == "left a result of its own in the place of the engine's"


@pytest.mark.parametrize("sign", ["\x1b[2J", "\x7f", "\r", "\u202e", "\u2028", "\udcff"])
def test_what_it_says_of_its_failure_does_not_steer_the_terminal(tiny: Tiny, sign: str) -> None:
    said = f"é\n\tdone {sign}!"
    source = f"import sys\nsys.stderr.write({said!a})\nraise ValueError({said!a})\n"
    ended = Runner(tiny.project).run(Job(tiny.snippet(source)))
    shown = "é\n\tdone " + ascii(sign)[1:-1] + "!"
    assert (ended.error or "").endswith(f"ValueError: {shown}")
    assert ended.stderr == shown


@pytest.mark.parametrize("sign", ["MemoryError", "not enough memory", "can't allocate memory", "another error"])
def test_the_limit_of_memory_is_told_where_it_is_the_cause(tiny: Tiny, sign: str) -> None:
    def leaves(folder: Path) -> None:
        result = json.loads((folder / "result.json").read_text())
        (folder / "result.json").write_text(json.dumps({**result, "error": f"{sign}: here\n"}))

    hint = "" if sign == "another error" else "\n(its limit is 2 GB; '# limits:' can raise that)"
    assert left(tiny, leaves).error == f"{sign}: here{hint}"


@pytest.mark.parametrize(("header", "timed"), [("", False), ("# timed: one run\n", True)])
def test_what_is_timed_says_so_in_its_record(tiny: Tiny, header: str, timed: bool) -> None:
    record = left(tiny, lambda folder: None, reads=header).record
    assert record
    assert record.machine == ({"threads": 1, "timed": True} if timed else {"threads": 1})


def test_the_end_of_what_it_said_aside_is_kept(tiny: Tiny) -> None:
    assert left(tiny, lambda folder: (folder / "stderr").write_text("a" + "b" * 4000)).stderr == "b" * 4000
    assert left(tiny, lambda folder: None).stderr == ""


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("x" * 100_000, None),
        ("x" * 100_001, "printed 100,001 bytes; a page shows at most 100,000"),
        ("\t ~\n", None),
        ("\x1f\r", "printed control characters ('\\r', '\\x1f')"),
        ("\x7f", "printed control characters ('\\x7f')"),
        ("a\u202eb", "printed control characters ('\\u202e')"),
        ("a\u2028b\u2029", "printed control characters ('\\u2028', '\\u2029')"),
    ],
)
def test_output_is_taken_up_to_these_limits(tiny: Tiny, text: str, error: str | None) -> None:
    assert left(tiny, lambda folder: (folder / "stdout").write_bytes(text.encode())).error == error


OTHER: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "nothing": lambda path: path.symlink_to("nowhere"),
    "folder": Path.mkdir,
}


@pytest.mark.parametrize("what", OTHER)
@pytest.mark.parametrize("name", ["result.json", "stdout", "stderr"])
def test_what_has_no_end_is_not_read(tiny: Tiny, name: str, what: str) -> None:
    def leaves(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        OTHER[what](folder / name)

    run = left(tiny, leaves)
    told = {
        "result.json": "left a result of its own in the place of the engine's",
        "stdout": "left something else in the place of stdout",
        "stderr": None,
    }
    assert (run.error, run.stderr) == (told[name], "")


def test_a_file_that_is_not_there_is_told(tiny: Tiny) -> None:
    job = Job(tiny.snippet("# reads: snippets/data/a.csv\nx = 1\n"))
    assert (Asked(tiny.project).run(job).error or "").startswith("could not be run: [Errno 2]")


def writes(**sizes: int) -> Callable[[Path], object]:
    return lambda folder: [(folder / "work" / name).write_bytes(b"x" * size) for name, size in sizes.items()]


@pytest.mark.parametrize(
    ("sizes", "error"),
    [
        ({"a": 8 * MEGA}, None),
        ({"a": 5 * MEGA, "b": 3 * MEGA}, None),
        ({"a": 8 * MEGA + 1}, "wrote more than 8,388,608 bytes of files"),
        ({"a": 5 * MEGA, "b": 3 * MEGA + 1}, "wrote more than 8,388,608 bytes of files"),
    ],
)
def test_files_are_taken_up_to_these_limits(tiny: Tiny, sizes: dict[str, int], error: str | None) -> None:
    run = left(tiny, writes(**sizes))
    assert run.error == error
    if run.record:
        assert {name: len(run.record.files[name]) for name in sizes} == sizes


ALL = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"


@pytest.mark.parametrize("name", [ALL, "a", "a+b", "output.txt", "record.json", "link", "folder"])
def test_files_are_taken_by_these_names(tiny: Tiny, name: str) -> None:
    def leaves(folder: Path) -> None:
        path = folder / "work" / name
        if name == "link":
            path.symlink_to(folder / "stdout")
        elif name == "folder":
            path.mkdir()
        else:
            path.write_text("x")

    run = left(tiny, leaves)
    if name in {ALL, "a"}:
        assert run.record
        assert run.record.files == {"output.txt": b"", name: b"x"}
    else:
        assert run.error == f"wrote {name!r}; an artifact is a file named with letters, digits, '.', '_' and '-'"


@pytest.mark.parametrize("how", ["removed", "link", "file"])
def test_the_working_directory_has_to_be_there(tiny: Tiny, how: str) -> None:
    def leaves(folder: Path) -> None:
        work = folder / "work"
        work.rename(folder / "other")
        if how == "link":
            work.symlink_to(folder / "other")
        elif how == "file":
            work.write_text("x")

    assert left(tiny, leaves).error == "removed its working directory"


@pytest.mark.parametrize(("now", "error"), [("1\n", None), ("2\n", "changed 'a.csv', a file it only reads")])
def test_what_it_was_given_is_as_it_was(tiny: Tiny, now: str, error: str | None) -> None:
    tiny.write("snippets/data/a.csv", "1\n")
    run = left(tiny, lambda folder: (folder / "work/a.csv").write_text(now), reads="# reads: snippets/data/a.csv\n")
    assert run.error == error
    if run.record:
        assert set(run.record.files) == {"output.txt"}
