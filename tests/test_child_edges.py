"""What a run finds in its process, to the bit: the process by itself, without keeper, confinement or fork server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evidence.plain import decode

FAKES = """import sys, types
told = []
sys.modules["torch"] = types.SimpleNamespace(
    set_num_threads=told.append, get_num_threads=lambda: 7,
    backends=types.SimpleNamespace(cpu=types.SimpleNamespace(get_cpu_capability=lambda: "AVX9")))
sys.modules["matplotlib"] = types.SimpleNamespace(
    rc_file=lambda path: told.append(path), rcdefaults=lambda: told.append("defaults"))
sys.modules["fakes"] = types.SimpleNamespace(told=told)
"""
STATM = "from pathlib import Path\nPath.read_text = lambda self: '1000 10 0'\n"
LIMITS = """import resource
names = "RLIMIT_FSIZE", "RLIMIT_CORE", "RLIMIT_CPU", "RLIMIT_AS"
found = {name: resource.getrlimit(getattr(resource, name))[0] for name in names}
page = resource.getpagesize()
"""
limits = pytest.mark.skipif(sys.platform == "win32", reason="no limits on this platform")
statm = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the size of a process so")


@dataclass
class Ended:
    status: int
    result: dict[str, Any]
    stdout: str
    stderr: str

    @property
    def values(self) -> dict[str, Any]:
        assert self.result["error"] is None, self.result["error"]
        return {name: decode(value) for name, value in self.result["values"].items()}

    @property
    def error(self) -> str:
        assert not self.result["values"]
        return str(self.result["error"]).rstrip()


class Alone:
    """A process with nothing but `child.main` in it; `before` is run there first."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder = root / "repository", root / "run"
        for folder in (self.root / "snippets", self.root / "docs", self.folder / "work", self.folder / "tmp"):
            folder.mkdir(parents=True)
        self.file = self.root / "snippets/share.py"
        self.file.write_text("# the snippet\n")

    def run(self, source: str, before: str = "", **changed: Any) -> Ended:
        job = {
            "token": "t", "folder": str(self.folder), "root": str(self.root), "file": str(self.file),
            "source": source, "checks": [], "seconds": 20, "gigabytes": 2, "threads": 3, "style": None,
            "environment": {}, **changed,
        }  # fmt: skip
        code = f"{before}\nimport json, sys\nfrom evidence import child\nchild.main(json.loads(sys.argv[1]))"
        arguments = [sys.executable, "-c", code, json.dumps(job)]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        ended = subprocess.run(arguments, input=b"typed", env=environment, capture_output=True, timeout=60, check=False)
        assert (ended.stdout, ended.stderr) == (b"", b"")
        out, err = ((self.folder / name).read_text() for name in ("stdout", "stderr"))
        return Ended(ended.returncode, json.loads((self.folder / "result.json").read_text()), out, err)


@pytest.fixture
def alone(tmp_path: Path) -> Alone:
    return Alone(tmp_path.resolve())


# --- its end ----------------------------------------------------------------------------------------------------------


def test_what_came_of_it_is_all_that_is_written(alone: Alone) -> None:
    ended = alone.run("x = 1\n", checks=["assert x == 1"])
    assert ended.status == 0
    assert ended.result == {"token": "t", "error": None, "values": {"x": 1}, "checks": [None], "machine": {}}
    assert sorted(path.name for path in alone.folder.iterdir()) == ["result.json", "stderr", "stdout", "tmp", "work"]


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("raise KeyboardInterrupt('here')\n", "KeyboardInterrupt: here"),
        ("class Own(BaseException): ...\nraise Own('here')\n", "Own: here"),
        ("import sys\nclass Full:\n    def flush(self): raise OSError('full')\nsys.stdout = Full()\n", "OSError: full"),
    ],
)
def test_whatever_it_raises_is_told_and_so_is_output_that_cannot_be_written(
    alone: Alone, source: str, error: str
) -> None:
    assert alone.run(source).error.endswith(error)


def test_nothing_of_the_snippets_runs_after_its_end(alone: Alone) -> None:
    late = "threading.Thread(target=time.sleep, args=(600,)).start()\n"
    source = f"import atexit, threading, time\natexit.register(print, 'late')\n{late}"
    ended = alone.run(source)
    assert (ended.status, ended.result["error"], ended.stdout) == (0, None, "")


def test_a_fork_that_falls_through_ends_well_and_writes_nothing(alone: Alone) -> None:
    source = "import os\npid = os.fork()\nstatus = os.waitpid(pid, 0)[1] if pid else None\nthere = os.listdir('..')\n"
    found = alone.run(source).values
    assert found["status"] == 0
    assert "result.json" not in found["there"]


def test_checks_see_live_variables_and_inherit_nothing(alone: Alone) -> None:
    checks = [
        "def f(x: int): ...\nassert f.__annotations__['x'] is int",
        "assert x is y", "assert x == 2", "assert x == 2, 'two'", "x = 2", "assert z",
    ]  # fmt: skip
    told = alone.run("x = y = [1]\n", checks=checks).result["checks"]
    assert told == [None, None, "an assertion failed", "two", None, "NameError: name 'z' is not defined"]


def test_the_machine_is_that_of_torch(alone: Alone) -> None:
    assert alone.run("", FAKES).result["machine"] == {"threads": 7, "instructions": "AVX9"}


# --- its surroundings -------------------------------------------------------------------------------------------------


def test_it_is_isolated(alone: Alone) -> None:
    source = """import multiprocessing, os, sys, tempfile
typed, argv, path = sys.stdin.read(), sys.argv, sys.path
here, scratch, setting = os.getcwd(), tempfile.gettempdir(), os.environ["SETTING"]
start = multiprocessing.get_start_method()
def f(x: int): ...
kind = type(f.__annotations__["x"]).__name__
"""
    link = alone.root.with_name("link")
    link.symlink_to(alone.root)
    before = (
        "import multiprocessing, sys, tempfile\nmultiprocessing.set_start_method('spawn')\ntempfile.gettempdir()\n"
        f"sys.path[:] = ['', {str(alone.root)!r}, {str(link)!r}, '/elsewhere', *sys.path]"
    )
    found = alone.run(source, before, environment={"SETTING": "on"}).values
    code = "import multiprocessing, sys; print(multiprocessing.get_start_method(), *sys.path, sep='\\n')"
    usual = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split("\n")
    assert (found["typed"], found["argv"], found["kind"]) == ("", [str(alone.file)], "type")
    assert (found["here"], found["scratch"]) == (str(alone.folder / "work"), str(alone.folder / "tmp"))
    assert (found["setting"], found["start"]) == ("on", usual[0])
    assert found["path"] == ["/elsewhere", *filter(None, usual[1:])]


def test_both_streams_are_written_by_lines_in_the_order_of_the_screen(alone: Alone) -> None:
    lines = "print('a', file=sys.{0})\nos.write({1}, b'b\\n')\nprint('c', file=sys.__{0}__)\nos.write({1}, b'd\\n')\n"
    ended = alone.run("import os, sys\n" + lines.format("stdout", 1) + lines.format("stderr", 2))
    assert (ended.stdout, ended.stderr) == ("a\nb\nc\nd\n", "a\nb\nc\nd\n")


@pytest.mark.parametrize(("stream", "number"), [("stdout", 1), ("stderr", 2)])
def test_a_stream_that_is_closed_leaves_its_descriptor_open(alone: Alone, stream: str, number: int) -> None:
    ended = alone.run(
        f"import os, sys\nprint('a', file=sys.{stream})\nsys.{stream}.close()\nos.write({number}, b'b')\n"
    )
    assert getattr(ended, stream) == "a\nb"
    assert ended.status == 0


def test_text_that_is_no_unicode_is_shown_on_stderr_and_refused_on_stdout(alone: Alone) -> None:
    assert alone.run(r"import sys; print('\ud800', file=sys.stderr)").stderr == "\\ud800\n"
    assert "UnicodeEncodeError" in alone.run(r"print('\ud800')").error


@pytest.mark.parametrize("style", [None, "/a/style"])
def test_threads_and_style_are_set_where_the_packages_are_there_already(alone: Alone, style: str | None) -> None:
    told = alone.run("from fakes import told\n", FAKES, style=style).values["told"]
    assert told == [3, style or "defaults"]


def test_the_source_that_runs_is_the_one_that_is_shown(alone: Alone) -> None:
    source = "import inspect\ndef f():\n    return 1\nshown = inspect.getsource(f)\n"
    assert alone.run(source).values["shown"] == "def f():\n    return 1\n"


# --- its limits -------------------------------------------------------------------------------------------------------


@limits
@statm
@pytest.mark.parametrize(("before", "free"), [("", 6), (FAKES, 0)])
def test_its_limits_are_these(alone: Alone, before: str, free: int) -> None:
    found = alone.run(LIMITS, before + STATM, gigabytes=3, seconds=5).values
    assert found["found"] == {
        "RLIMIT_FSIZE": 64 * 2**20,
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": 20,
        "RLIMIT_AS": 1000 * found["page"] + (3 + free) * 2**30,
    }


@limits
def test_memory_has_no_limit_where_the_system_does_not_tell_its_size(alone: Alone) -> None:
    found = alone.run(LIMITS, "from pathlib import Path\nPath.exists = lambda self: False\n").values
    assert found["found"]["RLIMIT_AS"] == -1


@limits
@pytest.mark.parametrize("mega", [1, 128])
def test_a_limit_that_the_system_sets_lower_stands(alone: Alone, mega: int) -> None:
    before = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({mega * 2**20}, {mega * 2**20}))\n"
    assert alone.run(LIMITS, before).values["found"]["RLIMIT_FSIZE"] == min(mega, 64) * 2**20


@limits
@pytest.mark.parametrize("source", ["x = 1\n", "x = 1 / 0\n", "exit()\n"])
def test_limits_are_lifted_before_the_result_is_written(alone: Alone, source: str) -> None:
    """Seen where the result says what machine it was."""
    before = (
        "import resource\nfrom evidence import child\n"
        "child._machine = lambda: {'limit': resource.getrlimit(resource.RLIMIT_CPU)[0]}\n"
    )
    assert alone.run(source, before).result["machine"] == {"limit": -1}


@limits
def test_limits_are_lifted_before_an_error_is_told(alone: Alone) -> None:
    """For to put it into words takes memory, which may be what ran out."""
    before = (
        "import resource\nfrom evidence import child\n"
        "child._traceback = lambda *_: f'{resource.getrlimit(resource.RLIMIT_CPU)[0]}'\n"
    )
    assert alone.run("1 / 0\n", before).error == "-1"


# --- its tracebacks and what it may not open --------------------------------------------------------------------------


def test_a_traceback_has_neither_the_engine_nor_the_folder(alone: Alone) -> None:
    said = alone.run(f"def f():\n    raise ValueError('in {alone.file}')\nf()\n").error
    shown = [line for line in said.splitlines() if not set(line) <= set(" ~^")]  # from 3.13 on it points at more
    assert shown[:4] == [
        "Traceback (most recent call last):", '  File "share.py", line 3, in <module>', "    f()",
        '  File "share.py", line 2, in f',
    ]  # fmt: skip
    assert said.splitlines()[-1] == "ValueError: in share.py"
    assert alone.run("x = (\n").error.startswith('  File "share.py", line 1\n')


OPENS = (
    "open(p)",
    "open(p.encode())",
    "import os; os.open(p, os.O_RDONLY)",
    "import io, pathlib; io.FileIO(pathlib.Path(p))",
)


@pytest.mark.parametrize("code", OPENS)
@pytest.mark.parametrize("name", ["docs", "snippets", "tests"])
def test_files_of_the_repository_are_refused_by_name(alone: Alone, code: str, name: str) -> None:
    said = alone.run(f"p = {str(alone.root / name / 'a.csv')!r}\n{code}\n").error
    assert said.endswith(
        f"PermissionError: {name}/a.csv is read but not declared; "
        f"add a header line '# reads: {name}/a.csv' and open it by its base name"
    )
    assert "evidence" not in said


def test_the_snippet_the_style_and_all_else_may_be_opened(alone: Alone) -> None:
    style, other = alone.root / "docs/style", alone.root / "other"
    for path in (style, other, alone.root.parent / "docs.csv"):
        path.write_text("x")
    paths = [str(path) for path in (alone.file, style, other, alone.root.parent / "docs.csv")]
    source = f"""import os, pathlib, sys
read = [len(open(path).read()) for path in {paths!r}]
with open(os.dup(1), "w", closefd=True) as twin:
    twin.write("by number\\n")
listed = os.listdir({str(alone.root / "docs")!r})
"""
    ended = alone.run(source, style=str(style))
    assert ended.values["read"] == [14, 1, 1, 1]
    assert ended.values["listed"] == ["style"]
    assert ended.stdout == "by number\n"


def test_a_hint_names_a_hidden_file_that_was_not_found(alone: Alone) -> None:
    hidden = str(alone.root / "docs/a/b.csv")
    header = "add a header line '# reads: docs/a/b.csv' and open it by its base name"
    hint = f"\ndocs/a/b.csv is read but not declared; {header}"
    assert alone.run(f"raise FileNotFoundError('no {hidden}')\n").error.endswith(hint)
    assert alone.run(f"raise ValueError('no {hidden}')\n").error.endswith("/docs/a/b.csv")
    assert alone.run("raise FileNotFoundError('no /other/a.csv')\n").error.endswith(
        "FileNotFoundError: no /other/a.csv"
    )


NETWORK = {
    "connect": "socket.socket().connect(('127.0.0.1', 9))",
    "name": "socket.gethostbyname('localhost')",
    "service": "socket.getnameinfo(('127.0.0.1', 9), 0)",
    "names": "socket.getaddrinfo('localhost', 9)",
    "address": "socket.gethostbyaddr('127.0.0.1')",
    "datagram": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
}


@pytest.mark.parametrize("how", NETWORK)
def test_the_network_is_refused(alone: Alone, how: str) -> None:
    said = alone.run(f"import socket\n{NETWORK[how]}\n").error
    assert said.endswith("PermissionError: a snippet has no network: its reader may have none")


def test_a_socket_of_this_machine_is_none_of_the_network(alone: Alone) -> None:
    source = """import socket
with socket.socket(socket.AF_UNIX) as here, socket.socket(socket.AF_UNIX) as there:
    here.bind("s"), here.listen(2)
    there.connect("s")
    with socket.socket(socket.AF_UNIX) as again:
        reached = again.connect_ex(b"s") == 0
"""
    assert alone.run(source).values["reached"]
