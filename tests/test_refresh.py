"""A refresh runs what is stale and no more, and accepts all of it or nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import Tiny
from evidence import record, refresh, run
from evidence.project import Refusal
from evidence.record import load
from evidence.refresh import Refreshed

PAGE = "# Share {#share}\n\nThe share is [0.881](../../snippets/residual/share.py#share).\n"
WRITER = "open('a.csv', 'w').write('n\\n3\\n')\nshare = 0.881\n"
READER = "# reads: snippets/residual/share/a.csv\nn = int(open('a.csv').read().split()[1])\n"


def do(tiny: Tiny, **options: Any) -> Refreshed:
    return refresh.refresh(tiny.project, tell=lambda _: None, **options)


def refused(tiny: Tiny, **options: Any) -> list[str]:
    with pytest.raises(Refusal) as caught:
        do(tiny, **options)
    return [str(problem) for problem in caught.value.problems]


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def done(tiny: Tiny) -> Tiny:
    """A project whose page states what its snippet computes, refreshed; another snippet reads what that one wrote."""
    tiny.page(PAGE)
    tiny.snippet(WRITER)
    tiny.snippet(READER, "residual/reader")
    result = do(tiny)
    assert sorted(result.ran) == sorted(result.changed) == ["residual/reader", "residual/share"]
    assert result.changed["residual/share"] == ["new"]
    return tiny


# --- what runs ----------------------------------------------------------------------------------------------------


def test_nothing_changed_nothing_runs(done: Tiny) -> None:
    before = tree(done.root)
    result = do(done)
    assert (result.ran, result.changed) == ([], {})
    assert tree(done.root) == before


def test_what_a_killed_refresh_left_is_removed(done: Tiny) -> None:
    done.write(".cache/parts/tmpx/0/record.json", "{")
    do(done)
    assert not list((done.project.cache / "parts").glob("*"))


def test_nothing_runs_in_a_new_process_either(done: Tiny) -> None:
    code = "from evidence import refresh, project; r = refresh.refresh(project.find()); print(r.ran, r.changed)"
    said = subprocess.run([sys.executable, "-c", code], cwd=done.root, capture_output=True, text=True, check=True)
    assert (said.stdout, said.stderr) == ("[] {}\n", "0 of 2 snippets run; 1 statements hold\n")


def test_nothing_runs_in_a_new_checkout_of_the_records(done: Tiny) -> None:
    subprocess.run(["rm", "-r", str(done.project.cache)], check=True)
    assert do(done).ran == []


def test_an_edited_comment_runs_and_its_record_follows(done: Tiny) -> None:
    old = load(done.project.snippets / "residual/share")
    done.snippet(WRITER + "# said\n")
    result = do(done)
    assert result.ran == ["residual/share"]  # not its reader: the file says the same
    assert result.changed == {"residual/share": ["its source or input changed; it says the same"]}
    new = load(done.project.snippets / "residual/share")
    assert new.inputs != old.inputs
    assert (new.values, new.files) == (old.values, old.files)


def test_a_page_edited_runs_nothing(done: Tiny) -> None:
    done.page(PAGE.replace("is", "was"))
    assert do(done).ran == []


def test_fresh_runs_all_and_rewrites_nothing(done: Tiny) -> None:
    before = tree(done.project.snippets)
    result = do(done, fresh=True)
    assert sorted(result.ran) == ["residual/reader", "residual/share"]
    assert result.changed == {}
    assert tree(done.project.snippets) == before


def test_only_runs_what_is_named_and_its_readers(done: Tiny) -> None:
    done.snippet("x = 1\n", "residual/other")
    assert do(done, only=["residual/reader"]).ran == ["residual/reader"]
    assert sorted(do(done, only=["residual/share"]).ran) == ["residual/reader", "residual/share"]
    assert not (done.project.snippets / "residual/other").exists()


def test_only_leaves_the_record_of_another_whose_statement_broke(done: Tiny) -> None:
    before = tree(done.project.snippets / "residual/share")
    done.snippet("x = 1\n", "residual/other")
    done.snippet(WRITER.replace("0.881", "0.5"))
    result = do(done, only=["residual/other"])
    assert list(result.changed) == ["residual/other"]
    assert tree(done.project.snippets / "residual/share") == before


def test_a_failure_elsewhere_does_not_refuse_what_was_asked_for(done: Tiny) -> None:
    done.page("# Other {#other}\n\nIt is [9](../../snippets/residual/shared.py#share).\n", "docs/residual/other.md")
    done.have("share = 8\n", {"share": 8}, "residual/shared")  # a name that begins as another's
    result = do(done, only=["residual/share"])
    assert [problem.page for problem in result.elsewhere] == ["docs/residual/other.md"]


# --- what is accepted ---------------------------------------------------------------------------------------------


def test_a_failure_of_one_that_was_asked_for_refuses_all_of_them(done: Tiny) -> None:
    done.snippet("1 / 0\n", "residual/reader")
    done.snippet(WRITER + "# said\n")
    (problem,) = refused(done, only=["residual/share", "residual/reader"])
    assert problem.startswith("snippets/residual/reader.py: failed: ")


def test_each_run_is_counted_and_one_that_failed_is_told(done: Tiny) -> None:
    done.snippet(WRITER + "import sys\nprint('warned', file=sys.stderr)\n")
    done.snippet("1 / 0\n", "residual/other")
    said: list[str] = []
    with pytest.raises(Refusal):
        refresh.refresh(done.project, tell=said.append)
    assert sorted(line.partition("] ")[0] for line in said if line.startswith("[")) == ["[1/2", "[2/2"]
    assert [line.partition("] ")[2] for line in said if "other" in line] == ["ran snippets/residual/other.py: failed"]
    assert [line.partition("] ")[2] for line in said if "share" in line] == ["ran snippets/residual/share.py"]
    assert "warned" in said


def test_a_reader_waits_for_the_deepest_of_its_writers(tiny: Tiny) -> None:
    for number in range(4):
        reads = "".join(f"# reads: snippets/residual/s{other}/s{other}.txt\n" for other in range(number))
        opened = "".join(f"open('s{other}.txt').read()\n" for other in range(number))
        tiny.snippet(f"{reads}{opened}open('s{number}.txt', 'w').write('1')\n", f"residual/s{number}")
    tiny.page("# T\n\nText.\n")
    assert do(tiny).ran == [f"residual/s{number}" for number in range(4)]


def test_a_value_that_breaks_a_sentence_is_refused_until_it_is_mended(done: Tiny) -> None:
    before = tree(done.project.snippets / "residual/share")
    done.snippet(WRITER.replace("0.881", "0.885"))
    for _ in range(2):
        assert refused(done) == [
            "docs/residual/path.md:3: states 0.881, measured 0.885 (tolerance 0.0005, 800% of it used), from "
            "snippets/residual/share.py#share; mend the sentence or the code, and run: python3 scripts/dev.py run "
            "residual/share"
        ]
        assert tree(done.project.snippets / "residual/share") == before
    done.page(PAGE.replace("0.881", "0.885"))
    result = do(done)
    assert (result.ran, result.changed) == ([], {"residual/share": ["share: 0.881 → 0.885"]})
    assert load(done.project.snippets / "residual/share").values["share"] == 0.885


def test_a_failing_snippet_refuses_and_leaves_all_records(done: Tiny) -> None:
    done.snippet("1 / 0\n", "residual/bad")
    done.snippet(WRITER + "# said\n")
    before = tree(done.project.snippets)
    problems = refused(done)
    assert len(problems) == 1
    assert problems[0].startswith("snippets/residual/bad.py: failed: Traceback")
    assert tree(done.project.snippets) == before
    (done.project.snippets / "residual/bad.py").unlink()
    assert do(done).ran == []  # what ran well was kept


def test_a_failing_writer_fails_its_new_reader_and_is_named(tiny: Tiny) -> None:
    tiny.snippet("1 / 0\n")
    tiny.snippet(READER, "residual/reader")
    first, second = refused(tiny)
    assert first.startswith("snippets/residual/reader.py:1: cannot run without snippets/residual/share/a.csv")
    assert second.startswith("snippets/residual/share.py: failed: ")


def test_a_snippet_that_may_not_run_does_not(done: Tiny) -> None:
    mark = done.root / "ran"
    done.snippet(f"import evidence\nopen({str(mark)!r}, 'w')\n", "residual/bad")
    problems = refused(done)
    assert [problem.partition(";")[0] for problem in problems] == ["snippets/residual/bad.py:1: imports evidence"]
    assert not mark.exists()


def test_a_record_without_its_snippet_is_refused(done: Tiny) -> None:
    (done.project.snippets / "residual/reader.py").unlink()
    assert refused(done) == ["snippets/residual/reader/record.json: a record without its snippet; delete the folder"]


# --- who reads whom -----------------------------------------------------------------------------------------------


def test_a_reader_sees_the_new_file_in_the_same_refresh(done: Tiny) -> None:
    done.snippet(WRITER.replace("3", "4"))
    result = do(done)
    assert sorted(result.ran) == ["residual/reader", "residual/share"]
    assert load(done.project.snippets / "residual/reader").values["n"] == 4
    assert do(done).ran == []


def test_a_reader_sees_the_new_file_while_it_is_not_accepted(done: Tiny) -> None:
    done.snippet(WRITER.replace("3", "4").replace("0.881", "0.7"))
    refused(done)
    assert load(done.project.snippets / "residual/reader").values["n"] == 3
    done.page(PAGE.replace("0.881", "0.7"))
    result = do(done)
    assert (result.ran, load(done.project.snippets / "residual/reader").values["n"]) == ([], 4)


def test_a_data_file_edited_runs_its_reader(tiny: Tiny) -> None:
    data = tiny.write("snippets/data/a.csv", "n\n3\n")
    tiny.snippet(READER.replace("residual/share", "data"))
    assert do(tiny).ran == ["residual/share"]
    data.write_text("n\n4\n")
    result = do(tiny)
    assert result.changed == {"residual/share": ["n: 3 → 4"]}


def test_a_writer_that_writes_no_more_is_named(done: Tiny) -> None:
    done.snippet("share = 0.881\n")
    (problem,) = refused(done)
    assert problem.startswith("snippets/residual/reader.py:1: cannot run without snippets/residual/share/a.csv")


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_circle_of_reads_is_refused(tiny: Tiny, length: int) -> None:
    for i in range(length):
        tiny.snippet(f"# reads: snippets/residual/s{(i + 1) % length}/a.csv\n", f"residual/s{i}")
    (problem,) = refused(tiny)
    assert problem.startswith("snippets/residual/s0.py:1: reads in a circle: residual/s0 → ")


# --- other versions, damage ---------------------------------------------------------------------------------------


def test_other_versions_run_again_once_and_rewrite_nothing(done: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = {**record.versions(), "torch": "99.0"}
    monkeypatch.setattr(record, "versions", lambda: newer)
    monkeypatch.setattr(run, "versions", lambda: newer)
    before = tree(done.project.snippets)
    result = do(done)
    assert sorted(result.ran) == ["residual/reader", "residual/share"]
    assert result.changed == {}
    assert do(done).ran == []
    assert tree(done.project.snippets) == before


@pytest.mark.parametrize("cached", [True, False])
def test_a_damaged_record_is_repaired_and_said(done: Tiny, cached: bool) -> None:
    folder = done.project.snippets / "residual/share"
    good = tree(folder)
    if not cached:
        subprocess.run(["rm", "-r", str(done.project.cache)], check=True)
    (folder / "a.csv").write_text("n\n5\n")
    result = do(done)
    assert result.ran == ([] if cached else ["residual/share"])
    assert result.changed == {"residual/share": ["a.csv was edited by hand or damaged"]}
    assert tree(folder) == good


def test_a_record_edited_and_signed_anew_is_noticed_by_what_ran_here(done: Tiny) -> None:
    good = tree(done.project.snippets)
    done.record({"share": 0.88149}, files={"a.csv": b"n\n3\n"})
    done.page(PAGE)
    assert do(done).changed == {}  # within what another processor may move
    done.record({"share": 0.7}, files={"a.csv": b"n\n3\n"})
    assert do(done).changed == {"residual/share": ["share: 0.7 → 0.881"]}
    assert tree(done.project.snippets) == good


def test_a_full_disk_refuses(done: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    before = tree(done.project.snippets)
    done.snippet("x = 1\n", "residual/other")
    monkeypatch.setattr(os, "fsync", full)
    (problem,) = refused(done)
    assert problem == "snippets/residual/other.py: its run cannot be kept: [Errno 28] No space left on device"
    (before_and_new := tree(done.project.snippets)).pop("residual/other.py")
    assert before_and_new == before


def test_records_that_cannot_be_put_in_place_refuse(done: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    done.snippet(WRITER + "# said\n")
    monkeypatch.setattr(record, "save_all", full)
    monkeypatch.setattr(record, "save", lambda *_: None)
    assert refused(done) == ["snippets: records cannot be written: [Errno 28] No space left on device"]


def test_without_a_required_package_the_committed_record_stands(tiny: Tiny) -> None:
    """Even where the versions are others, or all shall be run; a changed source needs the package."""
    source = "# requires: nowhere_installed\nimport nowhere_installed\nshare = 0.881\n"
    tiny.have(source, {"share": 0.881})
    tiny.page(PAGE)
    result = do(tiny, fresh=True)
    assert (result.ran, result.changed) == ([], {})
    tiny.snippet(source + "other = 1\n")
    (problem,) = refused(tiny)
    said = "needs nowhere_installed, which is not installed, and has no record of this source"
    assert problem.startswith(f"snippets/residual/share.py:1: {said}")
