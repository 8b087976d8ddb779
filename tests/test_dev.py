"""Proves that `dev.py` installs once, whole and without CUDA where no GPU is, and passes commands on unchanged."""

from __future__ import annotations

import ast
import os
import re
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dev
import dev_pip
import dev_setup
import evidence.__main__

SCRIPTS = Path(dev.__file__).parent
Package = dict[str, Any]
TORCH: Package = {"name": "torch", "version": "2.13.0"}
CUDA: list[Package] = [{"name": name, "version": "1"} for name in ("nvidia-cudnn-cu13", "cuda_bindings", "triton")]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with dev.py, and with an `evidence` that prints its arguments and folder."""
    (tmp_path / "scripts").mkdir()
    for name in ("dev.py", "dev_setup.py", "dev_pip.py"):
        (tmp_path / "scripts" / name).write_bytes((SCRIPTS / name).read_bytes())
    (tmp_path / "requirements.lock").write_text("torch==2.13.0\n")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / "__main__.py").write_text(
        "import os, sys\nprint(os.getcwd(), sys.argv[1:])\n"
        "if sys.argv[1] == 'serve':\n    print('on', flush=True)\n    import time; time.sleep(60)\n"
        "sys.exit(7)\n"
    )
    return tmp_path


def fake_python(root: Path) -> None:
    """Stands in for the environment: its python is the one that runs this test."""
    python = dev_setup.python_of(root)
    python.parent.mkdir(parents=True, exist_ok=True)
    python.unlink(missing_ok=True)
    python.symlink_to(sys.executable)


class Pip:
    """Stands in for pip: notes what it is asked, and can fail at one step."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[str] = []
        self.fails_at = ""
        self.packages: list[Package] = [TORCH]
        self.cpu: list[Package] | None = [TORCH]
        monkeypatch.setattr(dev_setup, "make_empty", self.make_empty)
        monkeypatch.setattr(dev_setup, "pip", self.pip)
        monkeypatch.setattr(dev_pip, "look", self.look)

    def make_empty(self, venv: Path) -> None:
        (venv / "stamp.json").unlink(missing_ok=True)
        fake_python(venv.parent)
        self.steps.append("make")

    def look(self, python: Path, *arguments: str) -> list[Package]:
        if "--index-url" not in arguments:
            return self.packages
        if self.cpu is None:
            raise dev_pip.SetupError("unreachable")
        return self.cpu

    def pip(self, python: Path, *arguments: str, quiet: bool = False) -> str:
        step = "torch" if "--index-url" in arguments else "lock" if "-r" in arguments else "project"
        if step == self.fails_at:
            raise dev_pip.SetupError("no network")
        self.steps.append(step)
        return ""


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> Pip:
    monkeypatch.setattr(dev_pip, "has_gpu", lambda: False)
    return Pip(monkeypatch)


def start(root: Path, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, str(root / "scripts/dev.py"), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


# --- which torch


def test_cuda_packages_are_told_from_names_that_only_look_like_it() -> None:
    names = ["nvidia-cublas", "cuda-toolkit[cudart]==13.0.3", "triton==3.7.1; sys_platform == 'linux'", "Nvidia_nvtx"]
    harmless = ["barracuda", "tritonclient", "numpy>=2", "cuda", "nvidia-extra; extra == 'gpu'"]
    assert dev_pip.cuda_names(names + harmless) == ["cuda-toolkit", "nvidia-cublas", "nvidia_nvtx", "triton"]


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.lock"
    path.write_text("# a comment\n\nappnope==1.0.0 ; sys_platform == 'darwin'\nnumpy==2.4.6\ntorch==2.13.0\n")
    return path


def test_a_plain_torch_needs_no_other_index(pip: Pip, lock: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dev_pip.torch_source(Path(), lock) == []
    assert re.search(rf"3 packages.*\({dev_pip.CPU_SIZE} to download\)", capsys.readouterr().err)


def test_a_torch_that_is_there_is_not_announced(pip: Pip, lock: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pip.packages = []
    assert dev_pip.torch_source(Path(), lock) == []
    assert "torch is here already" in capsys.readouterr().err


def test_without_a_gpu_torch_comes_from_the_cpu_index(pip: Pip, lock: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pip.packages = [TORCH, *CUDA]
    source = dev_pip.torch_source(Path(), lock)
    assert source == ["--no-deps", "--index-url", dev_pip.CPU_INDEX, "torch==2.13.0"]
    assert re.search(rf"3 packages.*CPU build \({dev_pip.CPU_SIZE} to download\)", capsys.readouterr().err)


def test_with_a_gpu_the_cuda_build_is_taken(
    pip: Pip, lock: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev_pip, "has_gpu", lambda: True)
    pip.packages = [TORCH, *CUDA]
    assert dev_pip.torch_source(Path(), lock) == []
    assert dev_pip.CUDA_SIZE in capsys.readouterr().err


@pytest.mark.parametrize("answer", [None, [{**TORCH, "requires_dist": ["nvidia-cublas==13.1.1.3"]}]])
def test_the_fallback_says_what_it_costs(
    pip: Pip, lock: Path, answer: list[Package] | None, capsys: pytest.CaptureFixture[str]
) -> None:
    pip.packages, pip.cpu = [TORCH, *CUDA], answer
    assert dev_pip.torch_source(Path(), lock) == []
    said = capsys.readouterr().err
    for word in (dev_pip.CPU_INDEX, "cannot be reached", "Falling back", "6 packages", dev_pip.CUDA_SIZE, "Ctrl-C"):
        assert word in said


# --- once, and whole


def test_a_second_setup_does_nothing(root: Path, pip: Pip) -> None:
    dev_setup.setup(root)
    assert pip.steps == ["make", "lock", "project"]
    assert dev_setup.finished(root) == dev_setup.wanted(root)
    dev_setup.setup(root)
    assert pip.steps == ["make", "lock", "project"]


def test_the_cpu_build_is_installed_before_the_rest(root: Path, pip: Pip) -> None:
    pip.packages = [TORCH, *CUDA]
    dev_setup.setup(root)
    assert pip.steps == ["make", "torch", "lock", "project"]


@pytest.mark.parametrize("file", ["requirements.lock", "pyproject.toml"])
def test_a_changed_file_updates_the_environment(
    root: Path, pip: Pip, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    dev_setup.setup(root)
    with open(root / file, "a") as changed:
        changed.write("# changed\n")
    dev_setup.setup(root)
    assert pip.steps == ["make", "lock", "project", "lock", "project"]
    assert f"{file} changed" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["Python", "folder"])
def test_another_python_or_place_makes_it_anew(
    root: Path, pip: Pip, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev_setup.setup(root)
    here = dev_setup.wanted(root)
    monkeypatch.setattr(dev_setup, "wanted", lambda _: here | {name: "another"})
    dev_setup.setup(root)
    assert pip.steps == ["make", "lock", "project"] * 2


def test_a_python_that_is_gone_makes_it_anew(root: Path, pip: Pip) -> None:
    dev_setup.setup(root)
    dev_setup.python_of(root).unlink()
    assert dev_setup.finished(root) == {}
    dev_setup.setup(root)
    assert pip.steps == ["make", "lock", "project"] * 2


@pytest.mark.parametrize("step", ["lock", "project"])
def test_a_setup_that_failed_is_not_taken_for_a_finished_one(root: Path, pip: Pip, step: str) -> None:
    pip.fails_at = step
    with pytest.raises(dev_pip.SetupError):
        dev_setup.setup(root)
    assert dev_setup.finished(root) == {}
    pip.fails_at, pip.steps = "", []
    dev_setup.setup(root)
    assert pip.steps == ["make", "lock", "project"]


def test_a_failed_update_is_not_taken_for_a_finished_one(root: Path, pip: Pip) -> None:
    dev_setup.setup(root)
    (root / "requirements.lock").write_text("torch==2.13.1\n")
    pip.fails_at = "lock"
    with pytest.raises(dev_pip.SetupError):
        dev_setup.setup(root)
    (root / "requirements.lock").write_text("torch==2.13.0\n")
    assert dev_setup.finished(root) == {}


@pytest.mark.parametrize("stamp", ["", "{", '{"Python": "cpython-399"}'])
def test_a_damaged_stamp_counts_for_nothing(root: Path, pip: Pip, stamp: str) -> None:
    dev_setup.setup(root)
    (root / ".venv/stamp.json").write_text(stamp)
    assert dev_setup.finished(root) != dev_setup.wanted(root)
    dev_setup.setup(root)
    assert dev_setup.finished(root) == dev_setup.wanted(root)


def test_an_environment_of_somebody_else_is_left_alone(root: Path, pip: Pip) -> None:
    (root / ".venv").mkdir()
    (root / ".venv/pyvenv.cfg").write_text("theirs")
    with pytest.raises(dev_pip.SetupError, match="not made by this script"):
        dev_setup.setup(root)
    assert [path.name for path in (root / ".venv").iterdir()] == ["pyvenv.cfg"]


# --- killed, and two at once: in processes of their own, with steps that take a moment

DRIVER = """
import sys, time
sys.path.insert(0, {scripts!r})
import dev_setup
from pathlib import Path
root = Path({root!r})

def note(step):
    with open(root / "steps", "a") as file:
        file.write(step + "\\n")

def make_empty(venv):
    note("make")
    python = dev_setup.python_of(root)
    python.parent.mkdir(exist_ok=True)
    python.touch()

def pip(python, *arguments, quiet=False):
    dev_setup.run(sys.executable, "-c", "import time; time.sleep({seconds})")
    note("lock" if "-r" in arguments else "project")

dev_setup.make_empty, dev_setup.pip, dev_setup.torch_source = make_empty, pip, lambda *_: []
dev_setup.setup(root)
"""


def drive(root: Path, seconds: float) -> subprocess.Popen[str]:
    program = DRIVER.format(scripts=str(SCRIPTS), root=str(root), seconds=seconds)
    return subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)


def steps(root: Path) -> list[str]:
    path = root / "steps"
    return path.read_text().split() if path.exists() else []


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "nothing happened for 30 s"
        time.sleep(0.02)


def test_two_at_once_set_up_once(root: Path) -> None:
    both = [drive(root, 0.3) for _ in range(2)]
    said = [process.communicate(timeout=60)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert steps(root) == ["make", "lock", "project"]
    assert sum("waiting for it" in text for text in said) == 1
    assert sum("the environment is ready" in text for text in said) == 1


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_killed_setup_is_completed_once_its_pip_has_ended(root: Path) -> None:
    killed = drive(root, 2)
    wait_for(lambda: steps(root) == ["make"])
    time.sleep(0.3)  # its pip has started
    killed.kill()
    killed.wait(timeout=60)
    assert dev_setup.finished(root) == {}
    following = drive(root, 0)
    said = following.communicate(timeout=60)[1]
    killed.communicate(timeout=60)
    assert following.returncode == 0
    assert "waiting for it" in said  # for the orphaned pip, which still writes
    assert steps(root) == ["make", "make", "lock", "project"]
    assert dev_setup.finished(root) != {}


# --- commands


def test_an_older_python_gets_one_plain_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    source = (SCRIPTS / "dev.py").read_text("utf-8")
    ast.parse(source, feature_version=(3, 7))  # it gets as far as the sentence
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    with pytest.raises(SystemExit, match=r"^dev\.py needs Python 3\.11 or newer; this one is [^\n]+\.$"):
        runpy.run_path(str(SCRIPTS / "dev.py"))


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["--help"], 0), (["-h"], 0), ([], 2), (["run", "--help"], 0), (["tset"], 2)],
)
def test_help_and_typing_errors_install_nothing(root: Path, arguments: list[str], status: int) -> None:
    process = start(root, *arguments)
    assert "python3 scripts/dev.py serve" in process.communicate(timeout=60)[0]
    assert process.returncode == status
    assert not (root / ".venv").exists()


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for the environment is a symbolic link")
class TestHandedOver:
    @pytest.fixture(autouse=True)
    def ready(self, root: Path) -> None:
        fake_python(root)
        stamp = str(dev_setup.wanted(root)).replace("'", '"')
        (root / ".venv/stamp.json").write_text(stamp)

    def test_arguments_folder_and_exit_status_pass_through(self, root: Path, tmp_path_factory: Any) -> None:
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        process = start(root, "run", "a b", "--fresh", "*", "é", cwd=elsewhere)
        out, err = process.communicate(timeout=60)
        assert out == f"{root} ['run', 'a b', '--fresh', '*', 'é']\n"
        assert (err, process.returncode) == ("", 7)

    @pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
    def test_a_signal_ends_the_server_itself(self, root: Path, sent: signal.Signals) -> None:
        process = start(root, "serve")
        assert process.stdout is not None
        lines = [process.stdout.readline(), process.stdout.readline()]
        assert lines[1] == "on\n"
        process.send_signal(sent)
        process.communicate(timeout=30)
        assert process.returncode == -sent  # the status of the server, which dev.py has become


def test_an_error_is_told_without_a_traceback(root: Path) -> None:
    (root / "requirements.lock").unlink()
    process = start(root, "test")
    err = process.communicate(timeout=60)[1]
    assert "requirements.lock" in err
    assert "Traceback" not in err
    assert process.returncode == 1


def test_without_venv_the_debian_package_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(dev_pip.SetupError, match="apt install python3-venv"):
        dev_setup.setup(root)


def test_commands_are_those_of_the_engine(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        evidence.__main__.main(["--help"])
    listed = re.findall(r"^    (\w+) ", capsys.readouterr().out, re.MULTILINE)
    assert sorted(listed) == sorted(dev.COMMANDS)
    assert all(f"scripts/dev.py {command} " in str(dev.__doc__) for command in listed)
