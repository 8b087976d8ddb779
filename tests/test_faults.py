"""Faults of a snippet's doing, of a record's and of the disk's: one clear refusal, no orphan, nothing half-written.

What is already shown elsewhere is not repeated: test_run_faults, test_record, test_record_swap, test_refresh_killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from conftest import PAGE, UP, Tiny
from evidence import refresh
from evidence.project import Refusal
from evidence.record import load
from processes import none_in
from test_run import run

CODE = f"{UP}/residual/share.py"
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
HERE = Path(__file__).parent
PACKAGES = str(Path(pytest.__file__).parents[1])


@pytest.fixture
def nobody() -> tuple[str, ...]:
    """A Python run by a user without rights, who may not reach ours: then the system's, with our packages."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can become another")
    system = shutil.which(f"python{sys.version_info.major}.{sys.version_info.minor}", path="/usr/bin:/usr/local/bin")
    environment = {**os.environ, "PYTHONPATH": PACKAGES}
    for python in filter(None, [sys.executable, system]):
        # by a shell, for what becomes another user may still start one program with the rights it had
        probe = [*NOBODY, "sh", "-c", 'exec "$0" -c "import filelock, psutil, numpy"', python]
        if subprocess.run(probe, env=environment, capture_output=True).returncode == 0:
            return (*NOBODY, python)
    pytest.skip("no Python here that an unprivileged user may run")


@pytest.fixture
def public() -> Iterator[Tiny]:
    """A project where another user may go: the folders of pytest are its own user's."""
    with tempfile.TemporaryDirectory(prefix="public-") as folder:
        Path(folder).chmod(0o755)
        yield Tiny(Path(folder) / "tiny")


def commanded(
    tiny: Tiny, *arguments: str, python: tuple[str, ...] = (sys.executable,)
) -> subprocess.CompletedProcess[str]:
    """A command as a user gives it, perhaps as another user."""
    path, scratch = os.pathsep.join([str(HERE.parent / "scripts"), PACKAGES]), tiny.root.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    scratch.chmod(0o777)
    command = [*python, "-B", "-m", "evidence", *arguments]
    environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(scratch), "HOME": str(tiny.root)}
    return subprocess.run(command, cwd=tiny.root, env=environment, capture_output=True, text=True, timeout=300)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# --- a snippet -------------------------------------------------------------------------------------------------------


def test_a_line_of_a_gigabyte_is_refused(tiny: Tiny) -> None:
    source = "import sys\nwhile True:\n    sys.stdout.write('x' * 2**20)\n"
    assert "File too large" in (run(tiny, source).error or "")


def test_a_printed_nan_is_shown_and_cannot_be_stated(tiny: Tiny) -> None:
    tiny.snippet("share = float('nan')\nprint(share)\n")
    tiny.page("# T\n\nNothing stated.\n")
    refresh.refresh(tiny.project, tell=lambda _: None)
    assert load(tiny.project.snippets / "residual/share").output == "nan\n"
    tiny.page(f"# T\n\nIt is [0.5]({CODE}#share).\n")
    (problem,) = tiny.problems()
    assert problem.startswith(f"{PAGE}:3: ")
    assert "share is nan; state it as a condition" in problem


def test_a_working_directory_full_of_folders_is_refused_and_gone(tiny: Tiny, tmp_path: Path) -> None:
    source = "import os\nfor i in range(200):\n    os.mkdir('d')\n    os.chdir('d')\n"
    assert "wrote 'd'" in (run(tiny, source).error or "")


# --- a record --------------------------------------------------------------------------------------------------------


def _edit(text: str) -> str:
    return text.replace("0.881", "0.9")


def _cut(text: str) -> str:
    return text[:-20]


def _empty(_: str) -> str:
    return ""


def _newer(text: str) -> str:
    return json.dumps({**json.loads(text), "format": 2})


DAMAGE = {
    "truncated": (_cut, "it cannot be read"),
    "empty": (_empty, "it cannot be read"),
    "edited": (_edit, "its digest does not match"),
    "newer": (_newer, "its format is 2, this engine knows 1"),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_record_is_refused_by_the_check_and_mended_by_a_run(tiny: Tiny, how: str) -> None:
    change, told = DAMAGE[how]
    tiny.snippet("share = 0.881\n")
    tiny.page(f"# T\n\nIt is [0.881]({CODE}#share).\n")
    refresh.refresh(tiny.project, tell=lambda _: None)
    good = tree(tiny.project.snippets)
    path = tiny.project.snippets / "residual/share/record.json"
    path.write_text(change(path.read_text()))
    ended = commanded(tiny, "check")
    assert ended.returncode == 1
    assert f"snippets/residual/share/record.json: {told}" in ended.stderr
    assert "run: python3 scripts/dev.py run residual/share" in ended.stderr
    assert "Traceback" not in ended.stderr
    refresh.refresh(tiny.project, tell=lambda _: None)
    assert tree(tiny.project.snippets) == good


def test_a_record_that_may_not_be_replaced_stays_and_is_named(public: Tiny, nobody: tuple[str, ...]) -> None:
    """As a user without rights: a tree of somebody else's, whose cache alone can be written."""
    public.snippet("share = 0.881\n")
    public.page("# T\n\nNothing stated.\n")
    refresh.refresh(public.project, tell=lambda _: None)
    good = tree(public.project.snippets / "residual/share")
    public.snippet("share = 0.7\n")
    for path in [public.project.cache, *public.project.cache.rglob("*")]:
        path.chmod(0o777 if path.is_dir() else 0o666)
    ended = commanded(public, "run", "residual/share", python=nobody)
    assert ended.returncode == 1
    assert "snippets: records cannot be written: " in ended.stderr
    assert "Permission denied" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert tree(public.project.snippets / "residual/share") == good
    assert not list((public.project.cache / "parts").iterdir())
    assert none_in(public.root)


def test_a_run_without_rights_says_the_same_and_leaves_nothing(public: Tiny, nobody: tuple[str, ...]) -> None:
    background = "import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\n"
    public.snippet(background + "share = 0.881\nprint(share)\n")
    refresh.refresh(public.project, tell=lambda _: None)
    good = load(public.project.snippets / "residual/share")
    shutil.rmtree(public.project.snippets / "residual/share")
    shutil.rmtree(public.project.cache)
    for path in [public.root, *public.root.rglob("*")]:
        os.chown(path, 65534, 65534)
    ended = commanded(public, "run", "residual/share", python=nobody)
    assert ended.returncode == 0, ended.stderr
    found = load(public.project.snippets / "residual/share")
    assert (found.values, found.files) == (good.values, good.files)
    assert none_in(public.root)
    assert not list((public.root.parent / "scratch").glob("snippet-*"))


# --- the disk --------------------------------------------------------------------------------------------------------


@pytest.fixture
def on_disk(tmp_path: Path) -> Iterator[Tiny]:
    """A project on a disk of its own that holds little."""
    (tmp_path / "tiny").mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=100k", "none", str(tmp_path / "tiny")]
    if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        yield Tiny(tmp_path / "tiny")
    finally:
        subprocess.run(["umount", "-l", str(tmp_path / "tiny")], check=True)


def test_a_full_disk_refuses_and_the_next_run_is_right(on_disk: Tiny) -> None:
    """Full while the run is kept; full while the record is written; large enough."""
    on_disk.snippet("share = 0.881\nopen('a.csv', 'w').write('1,' * 100_000)\n")
    on_disk.page("# T\n\nNothing stated.\n")
    for size, told in (("100k", "its run cannot be kept: "), ("300k", "records cannot be written: "), ("8m", None)):
        subprocess.run(["mount", "-o", f"remount,size={size}", str(on_disk.root)], check=True)
        ended = commanded(on_disk, "run", "residual/share")
        assert "Traceback" not in ended.stderr
        assert not list((on_disk.project.cache / "parts").iterdir())
        assert none_in(on_disk.root)
        if told:
            assert ended.returncode == 1
            assert told in ended.stderr
            assert "No space left on device" in ended.stderr
            assert not (on_disk.project.snippets / "residual/share").exists()
    assert ended.returncode == 0, ended.stderr
    assert load(on_disk.project.snippets / "residual/share").values == {"share": 0.881}


# --- SIGKILL at each write -------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
left = int(sys.argv[1])
WRITES = {"os.rename", "os.mkdir", "os.rmdir", "os.remove", "shutil.rmtree", "ctypes.call_function"}
armed = [False]
def hook(event, args):
    global left
    if not armed[0]:
        return
    writes = event in WRITES or event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
    if writes and not (event == "open" and not str(args[0]).startswith(os.getcwd())):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
from evidence import project, refresh, run
run.FORKS = False
armed[0] = True
refresh.refresh(project.find(), tell=lambda _: None)
print(int(sys.argv[1]) - left)
"""


def killed(tiny: Tiny, point: int) -> int | None:
    """A refresh that kills itself before its write number `point`; how many writes there were if it got through."""
    path = os.pathsep.join([str(HERE.parent / "scripts"), str(HERE)])
    environment = {**os.environ, "PYTHONPATH": path}
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(point)], cwd=tiny.root, env=environment, capture_output=True, text=True
    )
    assert ended.returncode in {0, -9}, ended.stderr
    return int(ended.stdout) if ended.returncode == 0 else None


def test_sigkill_at_each_write_leaves_old_or_new_and_the_next_is_right(tiny: Tiny) -> None:
    """A sample of the points by date; the first and the last are always in it. ATTACK_ALL=1: each of them."""
    source = "share = {}\nopen('a.csv', 'w').write(str(share))\nopen('b.csv', 'w').write(str(share))\n"
    tiny.snippet(source.format(0))
    tiny.page("# T\n\nNothing stated.\n")
    refresh.refresh(tiny.project, tell=lambda _: None)
    tiny.snippet(source.format(1))
    count = killed(tiny, 10_000)
    assert count
    assert count > 10
    points = list(range(count))
    if not os.environ.get("ATTACK_ALL"):
        points = sorted({0, count - 1, *random.Random(datetime.now(UTC).toordinal()).sample(points, 6)})
    for version, point in enumerate(points, 2):
        tiny.snippet(source.format(version))
        assert killed(tiny, point) is None, point
        found = load(tiny.project.snippets / "residual/share")
        whole = {name: found.files[name] for name in ("a.csv", "b.csv")}
        assert whole == dict.fromkeys(whole, str(found.values["share"]).encode())
        assert found.values["share"] in {version, version - 1}
        refresh.refresh(tiny.project, tell=lambda _: None)
        assert load(tiny.project.snippets / "residual/share").values["share"] == version
        with contextlib.suppress(FileNotFoundError):
            assert not list((tiny.project.cache / "parts").iterdir())
    tiny.page(f"# T\n\nIt is [0]({CODE}#share).\n")
    with pytest.raises(Refusal):
        refresh.refresh(tiny.project, tell=lambda _: None)
