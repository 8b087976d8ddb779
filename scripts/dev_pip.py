"""Runs pip for the setup, and chooses where torch comes from.

On Linux, PyPI's torch is a CUDA build that brings gigabytes of NVIDIA packages. So pip is asked
what it would install, and where no GPU is seen, PyTorch's CPU index is preferred.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

CPU_INDEX = os.environ.get("TORCH_CPU_INDEX", "https://download.pytorch.org/whl/cpu")
CPU_SIZE, CUDA_SIZE = "about 0.4 GB", "about 3.2 GB"
PIP = ("-I", "-X", "utf8", "-m", "pip", "--disable-pip-version-check", "install")
FAILED = """pip failed; its own message is above. Usual causes: no network, a full disk, or a Python
or machine that torch has no wheel for (it has for 3.11 to 3.14, not for Intel Macs). The same
command goes on from here."""


class SetupError(Exception):
    """The setup cannot go on; the text says why and what to do next."""


def say(text: str) -> None:
    print(f"dev.py: {text}", file=sys.stderr, flush=True)  # stdout belongs to the command


def cuda_names(requirements: Iterable[str]) -> list[str]:
    """Pick the packages of a CUDA build out of names or requirements (but for optional ones)."""
    names = {re.split(r"[^\w.-]", r)[0].lower() for r in requirements if "extra ==" not in r}
    return sorted(n for n in names if re.match(r"(nvidia|cuda)[-_]|triton$", n))


def has_gpu() -> bool:
    signs = (Path("/dev/nvidiactl"), Path("/proc/driver/nvidia"))
    return shutil.which("nvidia-smi") is not None or any(sign.exists() for sign in signs)


def run(*command: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command that inherits the setup lock, and that no setting of the user's misleads."""
    settings = os.environ | {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
    return subprocess.run(command, env=settings, close_fds=False, check=False, **options)


def pip(python: Path, *arguments: str, quiet: bool = False) -> str:
    """Run the environment's pip: its output is shown, or with `quiet` returned."""
    out = subprocess.PIPE if quiet else 2
    done = run(python, *PIP, *arguments, stdout=out, encoding="utf-8")
    if done.returncode:
        raise SetupError(FAILED)
    return str(done.stdout)


def look(python: Path, *arguments: str) -> list[dict[str, Any]]:
    """Ask pip what it would install; return the metadata of each package."""
    report = json.loads(pip(python, "--dry-run", "-qq", "--report", "-", *arguments, quiet=True))
    return [item["metadata"] for item in report["install"]]


def torch_source(python: Path, lock: Path) -> list[str]:
    """Say what will be downloaded; return pip's arguments for a CPU build of torch, if needed."""
    pins = re.findall(r"^[\w.-]+==[^\s;]+", lock.read_text("utf-8"), re.MULTILINE)
    torch = next(pin for pin in pins if pin.startswith("torch=="))
    found = look(python, torch)
    cuda = cuda_names(package["name"] for package in found)
    if not cuda or has_gpu():
        new = any(package["name"] == "torch" for package in found)
        size = f"{CUDA_SIZE if cuda else CPU_SIZE} to download" if new else "torch is here already"
        say(f"installing what is missing of {len(pins) + len(cuda)} packages ({size})")
        return []
    say(f"PyPI's {torch} is the CUDA build, and no NVIDIA GPU is seen: asking {CPU_INDEX}")
    source = ["--no-deps", "--index-url", CPU_INDEX, torch]
    try:
        offered = look(python, "--timeout", "15", "--retries", "1", *source)
        if not cuda_names(need for p in offered for need in p.get("requires_dist", [])):
            say(f"installing {len(pins)} packages, torch as a CPU build ({CPU_SIZE} to download)")
            return source
    except SetupError:
        pass
    say("it cannot be reached, or has no CPU build. Falling back to the CUDA build, which works without a GPU")
    say(f"too: installing {len(pins) + len(cuda)} packages ({CUDA_SIZE} to download). Ctrl-C stops it, and")
    say("TORCH_CPU_INDEX=<address> names another index to ask.")
    return []
