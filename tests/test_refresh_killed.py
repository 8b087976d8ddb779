"""Two refreshes at once do no harm, and one that is killed or interrupted at any moment leaves nothing behind."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from conftest import Tiny
from evidence.record import load
from processes import none_in, soon

COUNT = 4
DRIVER = """
import sys
from evidence import project, refresh, run
run.FORKS = run.FORKS and sys.argv[1] == "forked"
print("ready", flush=True)
try:
    result = refresh.refresh(project.find(), fresh=len(sys.argv) > 2, tell=lambda _: None)
except KeyboardInterrupt:
    sys.exit(130)
print(len(result.ran), len(result.changed))
"""


@pytest.fixture
def many(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> Tiny:
    """A project of a few slow snippets, each with a process in the background; its runs have their folders in it."""
    (tiny.root / "t").mkdir()
    monkeypatch.setenv("TMPDIR", str(tiny.root / "t"))
    edit(tiny, 0)
    return tiny


def edit(tiny: Tiny, version: int) -> None:
    for i in range(COUNT):
        source = (
            "import subprocess, time\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\ntime.sleep(0.1)\n"
            f"x = {version}\nopen('x.csv', 'w').write(str(x))\n"
        )
        tiny.snippet(source, f"residual/s{i}")


@contextlib.contextmanager
def refreshing(tiny: Tiny, how: str = "cold", *options: str) -> Iterator[subprocess.Popen[str]]:
    arguments = [sys.executable, "-c", DRIVER, how, *options]
    with subprocess.Popen(arguments, cwd=tiny.root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield process


def versions(tiny: Tiny) -> list[int]:
    """What each record says, after a look that it is whole."""
    found = [load(tiny.project.snippets / f"residual/s{i}") for i in range(COUNT)]
    for one in found:
        assert one.files["x.csv"] == str(one.values["x"]).encode()
    return [int(one.values["x"]) for one in found]


def nothing_is_left(tiny: Tiny) -> bool:
    """No process, and no folder of a run that was cut short."""
    scratch = tiny.root / "t"

    def none_cut_short() -> bool:
        return all(path.with_name("result.json").exists() for path in scratch.glob("snippet-*/stdout"))

    return none_in(scratch) and soon(none_cut_short)


def test_two_at_once_run_each_snippet_once(many: Tiny) -> None:
    with refreshing(many) as one, refreshing(many) as other:
        said = sorted(process.communicate()[0] for process in (one, other))
    assert said == ["0 0\n", f"{COUNT} {COUNT}\n"]
    assert versions(many) == [0] * COUNT
    assert nothing_is_left(many)


def test_two_fresh_ones_at_once_do_no_harm(many: Tiny) -> None:
    with refreshing(many, "cold", "fresh") as one, refreshing(many, "cold", "fresh") as other:
        said = sorted(process.communicate()[0] for process in (one, other))
    assert said == [f"{COUNT} 0\n", f"{COUNT} {COUNT}\n"]
    assert versions(many) == [0] * COUNT


def test_sigkill_leaves_the_records_whole_and_no_process(many: Tiny) -> None:
    for i in range(COUNT):
        many.record({"x": 0}, f"residual/s{i}", files={"x.csv": b"0"})
    for version, how in enumerate(["cold"] * 9 + ["forked"], 1):
        before = versions(many)
        edit(many, version)
        with refreshing(many, how) as process:
            time.sleep(random.uniform(0, 4 if how == "forked" else 1))
            process.send_signal(signal.SIGKILL)
        assert all(new in {old, version} for old, new in zip(before, versions(many), strict=True))
        assert nothing_is_left(many)
    with refreshing(many) as process:
        assert process.wait() == 0
    assert versions(many) == [version] * COUNT
    assert not list((many.project.cache / "parts").iterdir())


ENDS = [(signal.SIGINT, "cold"), (signal.SIGINT, "forked"), (signal.SIGTERM, "cold"), (signal.SIGKILL, "forked")]


@pytest.mark.parametrize(("number", "how"), ENDS)
def test_whoever_interrupts_it_does_not_wait_for_the_snippets(many: Tiny, how: str, number: signal.Signals) -> None:
    many.snippet("# limits: 120 s\nimport time\ntime.sleep(119)\n", "residual/a_slow_one")  # and the first to run
    with refreshing(many, how) as process:
        assert soon(lambda: bool(list((many.root / "t").glob("snippet-*/stdout"))))
        began = time.monotonic()
        process.send_signal(number)
        assert process.wait() == (130 if number == signal.SIGINT else -number)
    assert time.monotonic() - began < 60
    assert nothing_is_left(many)
    assert not list(many.project.snippets.rglob("record.json"))
