"""However a snippet fails, its run ends in time with one clear message, and leaves no process and no file behind."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Tiny
from evidence.run import Job, Run, Runner
from processes import gone

WAYS = pytest.mark.parametrize("cold", [False, True], ids=["forked", "cold"])


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where runs have their folders; empty again after each test, whatever the snippet did."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.glob("snippet-*"))


def run(tiny: Tiny, source: str, cold: bool = False) -> Run:
    return Runner(tiny.project, cold=cold).run(Job(tiny.snippet(source)))


def error(tiny: Tiny, source: str, cold: bool = False) -> str:
    ended = run(tiny, source, cold)
    assert ended.record is None
    assert ended.error is not None
    return ended.error


@WAYS
def test_a_traceback_begins_at_the_snippets_own_line(tiny: Tiny, cold: bool) -> None:
    source = "# divides\ndef ratio(a, b):\n    return a / b\nx = ratio(1, 0)\n"
    assert error(tiny, source, cold) == (
        "Traceback (most recent call last):\n"
        '  File "share.py", line 4, in <module>\n'
        "    x = ratio(1, 0)\n"
        "        ^^^^^^^^^^^\n"
        '  File "share.py", line 3, in ratio\n'
        "    return a / b\n"
        "           ~~^~~\n"
        "ZeroDivisionError: division by zero"
    )


def test_a_traceback_shows_what_was_run_even_if_the_file_was_edited_meanwhile(tiny: Tiny) -> None:
    script = tiny.snippet("x = 1 / 0  # as it was\n")
    script.path.write_text("y = 2\n")
    assert "as it was" in (Runner(tiny.project).run(Job(script)).error or "")


def test_a_chained_exception_shows_both_and_nothing_of_the_engine(tiny: Tiny) -> None:
    said = error(tiny, "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('odd') from e\n")
    assert "ZeroDivisionError" in said
    assert said.endswith("ValueError: odd")
    assert "evidence" not in said


def test_not_python(tiny: Tiny) -> None:
    assert error(tiny, "x = (1\n").startswith('  File "share.py", line 1\n')


@WAYS
def test_a_snippet_that_hangs_is_stopped_at_its_limit(tiny: Tiny, cold: bool) -> None:
    said = error(tiny, "# limits: 1 s\nimport time\ntime.sleep(600)\n", cold)
    assert said == "still running after 1 s and was stopped ('# limits:' can raise that)"


def test_a_snippet_deaf_to_signals_is_stopped_too(tiny: Tiny) -> None:
    deaf = "import signal\nfor s in (1, 2, 3, 15, 24):\n    signal.signal(s, signal.SIG_IGN)\n"
    assert "still running after 1 s" in error(tiny, f"# limits: 1 s\n{deaf}while True:\n    pass\n")


def test_a_longer_limit_is_honoured(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evidence.snippet.SECONDS", 1)
    slow = "import time\ntime.sleep(1.5)\nx = 1\n"
    assert "still running after 1 s" in error(tiny, slow)
    ended = run(tiny, "# limits: 60 s\n" + slow)
    assert ended.error is None


FILLS = {
    "list": "x = [0]\nwhile True:\n    x = x + x\n",
    "numpy": "import numpy\nx = numpy.ones(400_000_000)\n",
    "torch": "import torch\nx = torch.ones(800_000_000)\n",
    "bytes": "x = []\nwhile True:\n    x.append(bytes(2**20))\n",
}


@pytest.mark.parametrize("how", FILLS)
def test_a_snippet_that_fills_memory_is_told_its_limit(tiny: Tiny, how: str) -> None:
    said = error(tiny, FILLS[how])
    assert 'File "share.py", line ' in said
    assert said.endswith("(its limit is 2 GB; '# limits:' can raise that)")


def test_a_larger_memory_limit_is_honoured(tiny: Tiny) -> None:
    ended = run(tiny, "# limits: 60 s, 4 GB\nimport numpy\nx = numpy.empty(400_000_000)\nsize = x.nbytes\n")
    assert ended.record
    assert ended.record.values["size"] == 3_200_000_000


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGABRT])
def test_death_by_signal_is_named(tiny: Tiny, number: signal.Signals) -> None:
    said = error(tiny, f"import os\nos.kill(os.getpid(), {int(number)})\nimport time\ntime.sleep(60)\n")
    assert said == f"died with {number.name}, without a traceback"


@WAYS
@pytest.mark.parametrize("how", ["exit()", "import sys; sys.exit(0)", "raise SystemExit", "quit(3)"])
def test_ending_the_interpreter_is_no_good_end(tiny: Tiny, how: str, cold: bool) -> None:
    assert "ended the interpreter" in error(tiny, f"x = 1\n{how}\n", cold)


def test_leaving_by_the_back_door_is_no_good_end(tiny: Tiny) -> None:
    assert error(tiny, "import os\nos._exit(0)\n") == "died with status 0, without a traceback"


BACKGROUND = {
    "child": "import subprocess\nsubprocess.Popen(['sleep', '{mark}'])\n",
    "forked": "import os\nif os.fork() == 0:\n    os.execvp('sleep', ['sleep', '{mark}'])\n",
    "daemon": "import subprocess\nsubprocess.Popen(['sleep', '{mark}'], start_new_session=True)\n",
    "orphan": "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
    "        os.execvp('sleep', ['sleep', '{mark}'])\n    os._exit(0)\nos.wait()\n",
}


ENDINGS = {"well": "", "badly": "1 / 0\n", "late": "import time\ntime.sleep(60)\n"}


@WAYS
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("how", BACKGROUND)
def test_background_processes_are_gone_afterwards(tiny: Tiny, how: str, ending: str, cold: bool) -> None:
    if how in {"daemon", "orphan"} and sys.platform != "linux":
        pytest.skip("nothing adopts orphans on this platform")
    mark = f"60000.{os.getpid()}{list(BACKGROUND).index(how)}{list(ENDINGS).index(ending)}{cold:d}"
    ended = run(tiny, "# limits: 1 s\n" + BACKGROUND[how].format(mark=mark) + ENDINGS[ending], cold)
    assert ended.error is None or ending != "well"
    assert gone(mark)


def test_a_fork_that_falls_through_to_the_end_is_not_taken_for_the_snippet(tiny: Tiny) -> None:
    source = "import os\nif os.fork():\n    os.wait()\n    os.kill(os.getpid(), 9)\nx = 1\n"
    assert error(tiny, source) == "died with SIGKILL, without a traceback"


def test_a_snippet_that_forks_without_end_is_stopped(tiny: Tiny) -> None:
    said = error(tiny, "# limits: 20 s\nimport os, time\nwhile True:\n    os.fork() or time.sleep(60)\n")
    assert "processes" in said


SAYS = {
    "binary": (r"os.write(1, b'\xff\xfe\x00')", "not UTF-8 text"),
    "bell": (r"print('a\x07b')", r"control characters ('\x07')"),
    "escape": (r"print('\x1b[31mred')", r"control characters ('\x1b')"),
    "progress": (r"print('10%\r20%')", r"control characters ('\r')"),
    "surrogate": (r"print('\udc80')", "UnicodeEncodeError"),
    "much": ("print('x' * 100_001)", "printed 100,002 bytes; a page shows at most 100,000"),
    "flood": ("while True: print('x' * 1_000_000)", "File too large"),
    "flood by C": ("while True: os.write(1, b'x' * 1_000_000)", "File too large"),
    "flood of errors": ("while True: print('x' * 1_000_000, file=sys.stderr)", "File too large"),
}


@pytest.mark.parametrize("what", SAYS)
def test_output_no_page_can_show_is_refused(tiny: Tiny, what: str) -> None:
    code, told = SAYS[what]
    assert told in error(tiny, f"import os, sys\n{code}\n")


WRITES = {
    "one file too large": ("f = open('a.bin', 'wb')\nwhile True: f.write(b'x' * 2**20)", "File too large"),
    "many files": (
        "i = 0\nwhile True:\n    open(f'{i}.bin', 'wb').write(b'x' * 2**23)\n    i += 1",
        "wrote more than 268,435,456 bytes",
    ),
    "more than a page needs": ("open('a.csv', 'w').write('1' * 2**24)", "wrote more than 8,388,608 bytes of files"),
    "several": ("for c in 'ab': open(c, 'w').write('1' * 5 * 2**20)", "wrote more than 8,388,608 bytes of files"),
    "space in its name": ("open('a b.csv', 'w')", "wrote 'a b.csv'; an artifact is a file named with letters"),
    "not ASCII": ("open('é.csv', 'w')", "wrote 'é.csv'"),
    "line break": (r"open('a\nb', 'w')", r"wrote 'a\nb'"),
    "not even Unicode": (r"open(b'\xff', 'w')", r"wrote '\udcff'"),
    "link": ("os.symlink('/etc/passwd', 'a.csv')", "wrote 'a.csv'"),
    "dangling link": ("os.symlink('/nowhere', 'a.csv')", "wrote 'a.csv'"),
    "folder": ("os.mkdir('d')", "wrote 'd'"),
    "fifo": ("os.mkfifo('a.csv')", "wrote 'a.csv'"),
    "output": ("open('output.txt', 'w')", "wrote 'output.txt'"),
    "record": ("open('record.json', 'w')", "wrote 'record.json'"),
    "no folder left": ("os.rmdir(os.getcwd())", "removed its working directory"),
    "link for folder": ("p = os.getcwd(); os.rmdir(p); os.symlink('/etc', p)", "removed its working directory"),
    "file for folder": ("p = os.getcwd(); os.rmdir(p); open(p, 'w')", "removed its working directory"),
}


@pytest.mark.parametrize("what", WRITES)
def test_files_no_record_can_hold_are_refused(tiny: Tiny, what: str) -> None:
    code, told = WRITES[what]
    assert told in error(tiny, f"import os\n{code}\n")


def test_a_changed_working_directory_does_not_move_the_result(tiny: Tiny, tmp_path: Path) -> None:
    source = f"import os\nopen('a.csv', 'w').write('1')\nos.chdir({str(tmp_path)!r})\nprint('there')\n"
    ended = run(tiny, source)
    assert ended.record
    assert ended.record.files == {"output.txt": b"there\n", "a.csv": b"1"}


def test_temporary_files_go_with_the_run(tiny: Tiny) -> None:
    ended = run(tiny, "import tempfile\nwhere = tempfile.mkstemp()[1]\nfolder = tempfile.mkdtemp()\n")
    assert ended.record
    assert not Path(ended.record.values["where"]).exists()
    assert not Path(ended.record.values["folder"]).exists()


def test_interrupting_many_runs_stops_them_at_once(tiny: Tiny) -> None:
    jobs = [Job(tiny.snippet(f"import time\ntime.sleep(600 + {i})\n", f"residual/s{i}")) for i in range(4)]
    jobs.append(Job(tiny.snippet("x = 1\n", "residual/quick")))
    before = threading.active_count()
    runs = Runner(tiny.project, workers=5).run_all(jobs)
    assert next(runs).snippet.name == "residual/quick"
    runs.close()  # what a Ctrl-C in the consumer's loop comes to
    assert threading.active_count() == before
