"""A record is replaced in one step: whoever reads meanwhile, is killed or fills the disk, one whole record is there."""

from __future__ import annotations

import ctypes
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evidence import record
from evidence.record import load, save, swap
from test_record import make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a record of number 1 lies."""
    save(make(1), tmp_path / "at", tmp_path / "parts")
    return tmp_path / "at"


def no_exchange(monkeypatch: pytest.MonkeyPatch, error: int | None = errno.EINVAL) -> None:
    """A file system whose folders cannot be exchanged (`error`), or a platform without the call (None)."""

    class Library:
        def __init__(self, *_: Any, **__: Any) -> None:
            if error is not None:
                self.renameat2 = lambda *_: ctypes.set_errno(error) or -1

    monkeypatch.setattr(ctypes, "CDLL", Library)


@pytest.mark.skipif(sys.platform != "linux", reason="other kernels take other numbers")
def test_folders_are_exchanged_by_the_kernel_and_named_from_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(make(2), folder.parent / "new", folder.parent / "parts")
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr(os, "rename", lambda *_: pytest.fail("was renamed"))
    swap(Path("new"), Path("at"))
    assert [load(Path(name)).values["number"] for name in ("at", "new")] == [2, 1]


def test_why_folders_were_not_exchanged_is_told(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match="cannot exchange folders: No such file"):
        swap(folder.parent / "none", folder)


def test_what_cannot_be_removed_of_the_scratch_is_no_failure(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def emptied(new: Path, target: Path) -> None:
        swap(new, target)
        shutil.rmtree(new.parent)

    monkeypatch.setattr(record, "swap", emptied)
    save(make(2), folder, folder.parent / "parts")
    assert load(folder).values["number"] == 2


@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "two renames"])
def test_readers_never_see_half_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool) -> None:
    if not exchange:
        no_exchange(monkeypatch)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    at, stop, seen, wrong = tmp_path / "at", threading.Event(), set(), []
    save(make(0), at, tmp_path / "parts")

    def read() -> None:
        while not stop.is_set():
            try:
                found = load(at)
                if repr(found) != repr(make(found.values["number"])):
                    wrong.append(repr(found))
                seen.add(found.values["number"])
            except Exception as error:
                wrong.append(repr(error))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(1, 20_000):
        save(make(number), at, tmp_path / "parts")
        if wrong or (number >= 300 and len(seen) > 3):  # a busy machine may let the reader wait
            break
    stop.set()
    reader.join()
    assert not wrong
    assert len(seen) > 3
    assert {path.name for path in tmp_path.iterdir()} == {"at", "parts"}


@pytest.mark.parametrize("error", [errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, None])
@pytest.mark.parametrize("killed", [0, 1, 2, 3])
def test_a_kill_between_two_renames_is_mended(
    folder: Path, monkeypatch: pytest.MonkeyPatch, killed: int, error: int | None
) -> None:
    no_exchange(monkeypatch, error)
    done: list[Any] = []
    rename = os.rename

    def dies(*names: Any) -> None:
        if len(done) == killed:
            raise KeyboardInterrupt
        rename(*names)
        done.append(names)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", dies)
        patch.setattr("shutil.rmtree", lambda *_, **__: None)
        if killed < 3:
            with pytest.raises(KeyboardInterrupt):
                save(make(2), folder, folder.parent / "parts")
        else:
            save(make(2), folder, folder.parent / "parts")
    expected = 1 if killed < 2 else 2
    assert load(folder).values["number"] == expected  # also before anything is mended
    record.recover(folder)
    assert load(folder).values["number"] == expected
    save(make(3), folder, folder.parent / "parts")
    assert load(folder).values["number"] == 3
    assert not folder.with_name("at.old").exists()


def test_an_exchange_that_fails_for_another_reason_changes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_exchange(monkeypatch, errno.EACCES)
    with pytest.raises(OSError, match="cannot exchange folders"):
        save(make(2), folder, folder.parent / "parts")
    assert load(folder).values["number"] == 1


def test_swap_leaves_the_old_where_the_new_was(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "which").write_text(name)
    swap(tmp_path / "new", tmp_path / "old")
    assert [(tmp_path / name / "which").read_text() for name in ("old", "new")] == ["new", "old"]


def test_a_full_disk_leaves_all_records_as_they_were(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [9]  # writes until the disk is full: below, in the midst of the second record

    def fsync(_: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")

    save(make(1), folder.with_name("b"), folder.parent / "parts")
    monkeypatch.setattr(os, "fsync", fsync)
    left[0] = 4
    with pytest.raises(OSError, match="No space"):
        record.save_all({folder: make(2), folder.with_name("b"): make(2)}, folder.parent / "parts")
    assert [load(folder.with_name(name)).values["number"] for name in ("at", "b")] == [1, 1]
    assert not list((folder.parent / "parts").iterdir())


SAVES = """
import os, sys, dataclasses, itertools, pathlib
from evidence.record import load, save
os.fsync = lambda _: None  # what outlives a power cut is another matter, and slow
at = pathlib.Path(sys.argv[1])
one = load(at)
print("ready", flush=True)
for n in itertools.count(2):
    files = {name: content.replace(b"1", str(n).encode()) for name, content in one.files.items()}
    save(dataclasses.replace(one, values={**one.values, "number": n}, files=files), at, at.parent / "parts")
    print(n, flush=True)
"""


def test_sigkill_at_any_moment_leaves_a_whole_record(tmp_path: Path) -> None:
    seen = set()
    for count in range(20):
        at = tmp_path / str(count) / "at"
        save(make(1), at, at.parent / "parts")
        with subprocess.Popen([sys.executable, "-c", SAVES, str(at)], stdout=subprocess.PIPE) as process:
            assert process.stdout
            for _ in range(1 + random.randrange(10)):
                assert process.stdout.readline()
            time.sleep(random.uniform(0, 0.002))
            process.send_signal(signal.SIGKILL)
        found = load(at)
        assert repr(found) == repr(make(found.values["number"]))
        seen.add(found.values["number"])
    assert len(seen) > 3


@pytest.mark.parametrize(
    ("platform", "call", "here"), [("linux", "renameat2", -100), ("darwin", "renameatx_np", -2)], ids=["Linux", "macOS"]
)
def test_the_kernel_is_asked_to_exchange_folders_as_its_manual_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, call: str, here: int
) -> None:
    """AT_FDCWD and the flag to swap, RENAME_EXCHANGE or RENAME_SWAP."""
    asked = list[tuple[Any, ...]]()

    def exchange(*arguments: Any) -> int:
        asked.append(arguments)
        return 0

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: SimpleNamespace(**{call: exchange}))
    monkeypatch.setattr(sys, "platform", platform)
    (tmp_path / "new").mkdir()
    (tmp_path / "old").mkdir()
    swap(tmp_path / "new", tmp_path / "old")
    assert asked == [(here, os.fsencode(tmp_path / "new"), here, os.fsencode(tmp_path / "old"), 2)]
