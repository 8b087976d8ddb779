"""A run sees what its reader would see, nothing of other runs, and gives the same bytes forked, cold and again."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import Tiny
from evidence.plain import decode, plain_values
from evidence.record import Record
from evidence.run import FORKS, Job, Run, Runner

WAYS = pytest.mark.parametrize("cold", [False, True], ids=["forked", "cold"])
STYLE = "svg.hashsalt: x\nsvg.fonttype: none\nlines.linewidth: 3.25\n"


def run(tiny: Tiny, source: str, cold: bool = False, **job: Any) -> Run:
    return Runner(tiny.project, cold=cold).run(Job(tiny.snippet(source), **job))


def good(tiny: Tiny, source: str, cold: bool = False) -> Record:
    ended = run(tiny, source, cold)
    assert ended.error is None, ended.error
    assert ended.record
    return ended.record


def values(tiny: Tiny, source: str, cold: bool = False) -> dict[str, Any]:
    return dict(good(tiny, source, cold).values)


# --- what is recorded ---------------------------------------------------------------------------------------------


def test_public_plain_data_is_recorded_and_nothing_else(tiny: Tiny) -> None:
    source = """
import math, enum, numpy as np, torch
from collections import Counter, namedtuple
count, share, grows, name = 3, 0.25, True, "µ"
_private = 1
none = None
ends = (1, 2.5)
seeds = range(3)
table = {"pre": [1.0, None], "post": {4: 0.5, 2.5: "x", True: 1}}
odd = [math.nan, math.inf, -math.inf, -0.0]
point = namedtuple("Point", "x y")(1, 2)
class Level(enum.IntEnum):
    high = 7
level = Level.high
double = np.float64(0.5)
single, whole, truth = np.float32(0.5), np.int64(1), np.bool_(True)
tensor, array, shape = torch.ones(2), np.ones(2), torch.ones(2, 3).shape
function, kind, bag = (lambda: 1), int, {1, 2}
mixed = [1, torch.ones(1)]
deep = [[[[[[1]]]]]]
pair_keys = {(1, 2): 3}
long = list(range(20_000))
endless = range(10**12)
text = "x" * 30_000
huge = 10**5000
half = "\\ud800"
nan_key = {math.nan: 1}
itself = []
itself.append(itself)
counted = Counter("aab")
"""
    found = values(tiny, source)
    odd, nan_key = found.pop("odd"), found.pop("nan_key")
    assert found == {
        "count": 3, "share": 0.25, "grows": True, "name": "µ", "ends": [1, 2.5], "seeds": [0, 1, 2],
        "table": {"pre": [1.0, None], "post": {4: 0.5, 2.5: "x", 1: 1}},
        "point": [1, 2], "level": 7, "double": 0.5, "shape": [2, 3], "counted": {"a": 2, "b": 1},
    }  # fmt: skip
    assert [type(found[name]) for name in ("count", "share", "grows", "level")] == [int, float, bool, int]
    assert math.isnan(odd[0])
    assert (odd[1:3], math.copysign(1, odd[3])) == ([math.inf, -math.inf], -1)
    assert [math.isnan(key) for key in nan_key] == [True]


@pytest.mark.parametrize("value", [math.nan, {1: {2: "x"}}, {"float": 1}, {"items": [1]}, {"a": {}, "b": []}])
def test_a_value_survives_the_way_out_of_the_child(value: Any) -> None:
    back = decode(plain_values({"x": value})["x"])
    assert repr(back) == repr(value)


@WAYS
def test_output_is_in_the_order_of_the_readers_screen(tiny: Tiny, cold: bool) -> None:
    source = """
import os, subprocess, sys
print("one µ")
os.write(1, b"two\\n")
print("thr", end="")
print("ee")
subprocess.run(["echo", "four"])
print("five", file=sys.__stdout__)
print("aside", file=sys.stderr)
"""
    ended = run(tiny, source, cold)
    assert ended.record
    assert ended.record.output == "one µ\ntwo\nthree\nfour\nfive\n"
    assert ended.stderr == "aside\n"


def test_a_file_left_open_is_written_out_as_the_readers_is(tiny: Tiny) -> None:
    assert good(tiny, "f = open('a.csv', 'w')\nf.write('x,y\\n')\n").files["a.csv"] == b"x,y\n"


# --- as the reader's own ------------------------------------------------------------------------------------------


@WAYS
def test_it_is_main_and_inherits_nothing_of_the_engine(tiny: Tiny, cold: bool) -> None:
    source = """
import sys, os
def f(x: int): ...
kind = type(f.__annotations__["x"]).__name__  # a str, were our `from __future__` inherited
name, arguments = __name__, len(sys.argv)
itself = sys.modules["__main__"].__dict__ is globals()
names = sorted(n for n in globals() if not n.startswith("__"))
there = os.path.basename(os.getcwd())
stdin = sys.stdin.read() if sys.stdin else ""
"""
    found = values(tiny, source, cold)
    assert found["kind"] == "type"
    assert (found["name"], found["arguments"], found["itself"]) == ("__main__", 1, True)
    assert found["names"] == ["arguments", "f", "itself", "kind", "name", "os", "sys"]
    assert (found["there"], found["stdin"]) == ("work", "")


def test_our_own_main_is_not_run_in_the_child(tiny: Tiny, tmp_path: Path) -> None:
    script = tiny.snippet("x = 1\n")
    caller = tmp_path / "caller.py"  # without the usual guard: run again in a child it would never end
    caller.write_text(
        "from pathlib import Path\nfrom evidence import snippet\nfrom evidence.project import Project\n"
        "from evidence.run import Job, Runner\n"
        f"print('caller', flush=True)\nproject = Project(Path({str(tiny.root)!r}))\n"
        f"print(Runner(project).run(Job(snippet.load(project, {script.name!r}))).record.values)\n"
    )
    said = subprocess.run([sys.executable, str(caller)], capture_output=True, text=True, check=True).stdout
    assert said == "caller\n{'x': 1}\n"


@pytest.mark.skipif(not FORKS, reason="no fork server on this platform")
@pytest.mark.parametrize("draws", [True, False])
def test_torch_and_where_some_snippet_draws_pyplot_are_imported_ahead(tiny: Tiny, draws: bool) -> None:
    tiny.snippet("import sys\nloaded = [n in sys.modules for n in ('torch', 'mat' 'plotlib.pyplot', '_pytest')]\n")
    if draws:
        tiny.snippet("import matplotlib\n", "residual/other")
    code = "import sys; from evidence.__main__ import main; sys.exit(main(['run', 'residual/share']))"
    said = subprocess.run([sys.executable, "-c", code], cwd=tiny.root, capture_output=True, text=True, check=True)
    assert f"loaded = [True, {draws}, False]\n" in said.stdout


def test_a_snippet_may_start_processes_of_its_own(tiny: Tiny) -> None:
    source = """
import torch
from torch.utils.data import DataLoader, TensorDataset
data = DataLoader(TensorDataset(torch.arange(8.0)), batch_size=4, num_workers=2)
total = sum(batch.sum().item() for batch, in data)
"""
    assert values(tiny, source)["total"] == 28.0


@pytest.mark.parametrize(("threads", "cold"), [(1, False), (2, False), (2, True)])
def test_threads_are_pinned(tiny: Tiny, threads: int, cold: bool) -> None:
    source = "import os, torch\nn = torch.get_num_threads()\nomp = os.environ['OMP_NUM_THREADS']\n"
    found = Runner(tiny.project, cold=cold, threads=threads).run(Job(tiny.snippet(source))).record
    assert found
    assert (found.values["n"], found.values["omp"]) == (threads, str(threads))
    assert found.machine["threads"] == threads


def test_our_environment_is_as_it_was(tiny: Tiny) -> None:
    before = dict(os.environ)
    main = sys.modules["__main__"]
    good(tiny, "x = 1\n")
    assert dict(os.environ) == before
    assert sys.modules["__main__"] is main


# --- nothing of another run ---------------------------------------------------------------------------------------

LEAKY = """
import os, random, sys, numpy as np, torch, matplotlib.pyplot as plt
found = [
    torch.initial_seed(), round(torch.rand(1).item(), 6), str(torch.get_default_dtype()), sorted(os.listdir(".")),
    plt.rcParams["font.size"], len(plt.get_fignums()), np.geterr()["divide"], "LEAK" in os.environ,
    torch.is_grad_enabled(), len(sys.path), hasattr(torch, "leak"), sys.getrecursionlimit(),
]
torch.manual_seed(5), np.random.seed(5), random.seed(5), torch.rand(3)
torch.set_default_dtype(torch.float64), torch.set_grad_enabled(False), torch.set_num_threads(2)
np.seterr(divide="raise"), plt.rcParams.update({"font.size": 30}), plt.figure()
os.environ["LEAK"], torch.leak = "1", True
sys.path.append("/leak"), sys.setrecursionlimit(5000)
open("left.csv", "w").close(), os.chdir("/")
"""


def test_nothing_leaks_from_one_run_into_the_next(tiny: Tiny) -> None:
    runs = [values(tiny, LEAKY)["found"] for _ in range(2)]
    assert runs[0] == runs[1]
    assert runs[0][3] == []


def test_another_projects_style_does_not_leak(tiny: Tiny, tmp_path: Path) -> None:
    projects = [tiny, Tiny(tmp_path / "other"), Tiny(tmp_path / "plain")]
    for project, style in zip(projects, [STYLE, STYLE.replace("3.25", "4.5"), ""], strict=True):
        project.snippet("import matplotlib.pyplot as plt\nwidth = plt.rcParams['lines.linewidth']\n")
        if style:
            project.write("snippets/matplotlibrc", style)
    code = (  # a process of its own, so that its server has imported pyplot in the style of the one that comes first
        "import sys\nfrom evidence import snippet\nfrom evidence.project import Path, Project\n"
        "from evidence.run import Job, Runner\nfor root in sys.argv[1:]:\n    project = Project(Path(root))\n"
        "    print(Runner(project).run(Job(snippet.load(project, 'residual/share'))).record.values['width'])\n"
    )
    arguments = [sys.executable, "-c", code, *(str(project.root) for project in projects)]
    said = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    assert said == "3.25\n4.5\n1.5\n"


# --- the same again -----------------------------------------------------------------------------------------------

FIGURE = """
import matplotlib.pyplot as plt, numpy as np, torch
torch.manual_seed(0)
walk = torch.randn(50, 8).cumsum(0)
spread = walk[-1].std().item()
fig, ax = plt.subplots()
ax.plot(walk.mean(1)), ax.fill_between(range(50), walk.amin(1), walk.amax(1), alpha=0.3)
ax.set_xlabel("step"), ax.set_title("A walk $x_t$")
plt.savefig("walk.svg"), plt.savefig("walk.png")
np.savetxt("walk.csv", walk.numpy(), delimiter=",")
print(walk[-1])
"""


def test_two_runs_and_a_cold_one_give_the_same_bytes(tiny: Tiny) -> None:
    tiny.write("snippets/matplotlibrc", STYLE)
    one, two, cold = (good(tiny, FIGURE, cold) for cold in (False, False, True))
    assert set(one.files) == {"output.txt", "walk.svg", "walk.png", "walk.csv"}
    assert b"stroke-width: 3.25" in one.files["walk.svg"]
    assert one.to_json() == two.to_json()
    assert {name: one.files[name] == cold.files[name] for name in one.files} == dict.fromkeys(one.files, True)
    assert one.to_json() == cold.to_json()


def test_many_at_once_give_what_each_gives_alone(tiny: Tiny) -> None:
    scripts = [tiny.snippet(f"import torch\ntorch.manual_seed({i})\nx = torch.rand(1).item()\n", f"residual/s{i}")
               for i in range(12)]  # fmt: skip
    together = {r.snippet.name: r.record for r in Runner(tiny.project, workers=4).run_all(map(Job, scripts))}
    for script in scripts[:3]:
        assert together[script.name] == Runner(tiny.project).run(Job(script)).record
    assert len({record.values["x"] for record in together.values() if record}) == 12


def test_assertions_are_made_on_live_variables(tiny: Tiny) -> None:
    ended = run(tiny, "import torch\nx = torch.ones(2)\n", checks=(
        "assert x.sum() == 2", "assert x.sum() == 3, f'x is {x}'", "x = None", "assert y", "assert x is not None"
    ))  # fmt: skip
    assert ended.checks == [None, "x is tensor([1., 1.])", None, "NameError: name 'y' is not defined", None]
