"""A whole build that is killed at any moment leaves the old site or the new one, whole, and no process behind."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import small_site
from evidence.project import Project
from evidence.record import load
from processes import none_in

MOMENTS = 20
NUMBER = re.compile(rb"31\d\d\d")  # the version, as it stands in the snippet, its record, its file and the site
SNIPPET = """import subprocess
import torch

subprocess.Popen(["sleep", "600"], start_new_session=True)
count = {number} + int(torch.zeros(1))
with open("count.csv", "w") as file:
    file.write(f"name,count\\n{number},{{count}}\\n")
print(count)
"""
PAGE = """# Killed {{#killed}}

The count is [{number}](../snippets/bench/killed.py#count).

[killed.py](../snippets/bench/killed.py)

[The count.](../snippets/bench/killed/count.csv "table")
"""


def write(root: Path, version: int) -> bytes:
    number = 31_000 + version
    (root / "snippets/bench/killed.py").write_text(SNIPPET.format(number=number), encoding="utf-8")
    (root / "docs/killed.md").write_text(PAGE.format(number=number), encoding="utf-8")
    return str(number).encode()


def whole(folder: Path) -> tuple[bytes, dict[str, bytes]]:
    """The one version that all files of the folder are of, and the files with the version left out."""
    files = {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}
    (version,) = {number for content in files.values() for number in NUMBER.findall(content)}
    return version, {name: NUMBER.sub(b"", content) for name, content in files.items()}


def test_sigkill_at_random_moments_of_a_build(tmp_path: Path) -> None:
    seed = datetime.now(UTC).date().toordinal()
    chance = random.Random(seed)
    root = tmp_path / "project"
    small_site.make(root, 1)
    environment = {**small_site.ENVIRONMENT, "PYTHONPATH": str(root / "scripts"), "TMPDIR": str(tmp_path / "scratch")}
    (tmp_path / "scratch").mkdir()
    command = [sys.executable, "-m", "evidence", "build"]

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    for number in (0, 1):  # the second is timed, when the caches are warm
        stands, began = write(root, number), time.monotonic()
        with start() as process:
            said = process.communicate()[0]
        assert process.returncode == 0, said
        seconds = time.monotonic() - began
    version, as_it_was = whole(root / "site")
    assert version == stands
    for number in range(2, 2 + MOMENTS):
        new, moment = write(root, number), chance.uniform(0, seconds)
        with start() as process:
            time.sleep(moment)
            process.send_signal(signal.SIGKILL)
        there, files = whole(root / "site")
        print(f"seed {seed}: killed after {moment:.2f} of {seconds:.2f} s; the site is {there.decode()}")
        assert there in {stands, new}
        assert files == as_it_was
        record = load(Project(root).snippets / "bench/killed")  # whole, or this raises
        assert int(there) <= record.values["count"] <= int(new)
        assert record.files["count.csv"] == b"name,count\n%d,%d\n" % (record.values["count"], record.values["count"])
        stands = there
        assert none_in(tmp_path)
    with start() as process:
        said = process.communicate()[0]
    assert process.returncode == 0, said
    assert whole(root / "site") == (new, as_it_was)
    assert not list((root / ".cache").glob("site/*"))
    assert not list((root / ".cache" / "parts").iterdir())
