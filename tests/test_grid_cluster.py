"""Training on a Dask cluster: a real scheduler and two workers on loopback that know nothing of this repository."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import toy
from conftest import Tiny
from evidence_grid import results
from processes import gone, soon

UNKNOWN = """
import sys
class Unknown:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"evidence", "evidence_grid", "evidence_site", "tqdm", "filelock"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Unknown())
"""


@dataclass
class Cluster:
    """A scheduler and its workers, each a process; what they say lies in `folder`."""

    folder: Path
    address: str = ""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *arguments: str) -> Path:
        """Begins one of `dask scheduler` and `dask worker`; where it writes."""
        said = self.folder / f"{len(self.processes)}.log"
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            "TMPDIR": str(self.folder / "scratch"),
            "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "30s",
        }
        with open(said, "wb") as file:
            command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
            self.processes.append(subprocess.Popen(command, cwd=self.folder, env=environment, stdout=file, stderr=file))
        return said

    def worker(self) -> subprocess.Popen[bytes]:
        said = self.start("worker", self.address, "--no-nanny", "--nthreads", "1", "--host", "127.0.0.1")
        assert soon(lambda: "Registered to" in said.read_text()), said.read_text()
        return self.processes[-1]

    @property
    def scratch(self) -> Path:
        return self.folder / "scratch"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    folder = tmp_path / "cluster"
    (folder / "scratch").mkdir(parents=True)
    (folder / "sitecustomize.py").write_text(UNKNOWN)
    found = Cluster(folder)
    try:
        said = found.start("scheduler", "--host", "127.0.0.1", "--port", "0")
        assert soon(lambda: re.search(r"tcp://127\.0\.0\.1:\d+", said.read_text()) is not None), said.read_text()
        found.address = re.findall(r"tcp://127\.0\.0\.1:\d+", said.read_text())[0]
        yield found
    finally:
        for process in reversed(found.processes):
            process.kill()
            process.wait()
        assert gone(str(found.scratch))  # a cell ends with its worker


def test_a_worker_killed_midway_loses_no_cell(tiny: Tiny, cluster: Cluster, tmp_path: Path) -> None:
    found, log = toy.experiment(tiny, toy.seeds(8, seconds=0.4), {"set": {"does": "crash"}}), tmp_path / "log"
    os.environ["TOY_LOG"] = str(log)
    try:
        workers = [cluster.worker(), cluster.worker()]
    finally:
        del os.environ["TOY_LOG"]
    with toy.start(tiny, "train", "toy", "--scheduler", cluster.address) as process:
        assert soon(lambda: len(toy.trained(log)) >= 4)
        workers[0].kill()
        _, err = process.communicate(timeout=240)
    assert process.returncode == 1, err
    assert "toy/does-crash: ended with status 1" in err  # not the worker's loss, and named
    assert len(results.state(found).done) == 8, err
    assert set(toy.trained(log)) >= {f"seconds=0.4 seed={seed}" for seed in range(8)}
    assert len(toy.trained(log)) >= 9  # the cell that was lost with its worker once more, unless it had just ended


def test_a_client_leaves_nothing_behind_in_its_process(tiny: Tiny, cluster: Cluster) -> None:
    found = toy.experiment(tiny, toy.seeds(2))
    cluster.worker()
    before = set(threading.enumerate())
    assert (
        toy.command(tiny, "train", "toy", "--scheduler", cluster.address)[0] == 0
    )  # here, where a warning is an error
    assert len(results.state(found).done) == 2
    assert soon(lambda: not [one for one in set(threading.enumerate()) - before if not one.daemon])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_whoever_stops_leaves_the_cluster_idle(tiny: Tiny, cluster: Cluster, number: signal.Signals) -> None:
    found = toy.experiment(tiny, toy.seeds(1), toy.seeds(2, seconds=600.0))
    cluster.worker()
    with toy.start(tiny, "train", "toy", "--scheduler", cluster.address) as process:
        assert soon(lambda: len(toy.files(found)) == 1 and bool(list(cluster.scratch.glob("cell-*"))))
        process.send_signal(number)
        process.communicate(timeout=120)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert gone("train_toy.py")
    assert soon(lambda: not list(cluster.scratch.glob("cell-*")))
    assert len(toy.files(found)) == 1


def test_a_scheduler_that_is_not_there_is_said(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.experiment(tiny, toy.seeds(1))
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "1s")
    with toy.start(tiny, "train", "toy", "--scheduler", "tcp://127.0.0.1:9") as process:
        _, err = process.communicate(timeout=240)
    assert process.returncode == 1
    assert "--scheduler: no Dask scheduler at tcp://127.0.0.1:9: " in err
    assert "Traceback" not in err


def test_without_the_package_it_is_said_what_to_install(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.experiment(tiny, toy.seeds(1))
    monkeypatch.setitem(sys.modules, "distributed", None)
    status, _, err = toy.command(tiny, "train", "toy", "--scheduler", "tcp://127.0.0.1:9")
    assert status == 1
    assert "--scheduler: needs the package distributed: .venv/bin/python -m pip install -e '.[cluster]'" in err
