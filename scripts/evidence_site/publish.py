"""Builds the site beside the old one and swaps it in whole; serves it."""

from __future__ import annotations

import os
import shutil
import socket
import sys

from filelock import FileLock

from evidence.project import Project
from evidence.record import swap


def _mkdocs(*arguments: str) -> int:
    """MkDocs' own command, in this process: a second interpreter would double the cost of a build with no change."""
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")
    from mkdocs.__main__ import cli

    try:
        cli(list(arguments), standalone_mode=True)
    except SystemExit as ended:
        return int(ended.code or 0) if not isinstance(ended.code, str) else 1
    return 0


def build(project: Project) -> int:
    """Exit status of MkDocs; `site/` changes only if it is 0."""
    new = project.cache / "site"
    with FileLock(project.cache / "site.lock"):
        shutil.rmtree(new, ignore_errors=True)
        status = _mkdocs("build", "--strict", "-f", str(project.root / "mkdocs.yml"), "-d", str(new))
        if status == 0:
            swap(new, project.root / "site")
            print(f"published {project.root / 'site'}", file=sys.stderr)
        shutil.rmtree(new, ignore_errors=True)
    return status


def serve(project: Project, address: str) -> int:
    host, _, port = address.rpartition(":")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:  # found out now, and not after the site was built
        socket.create_server((host.strip("[]"), int(port)), family=family).close()
    except (OSError, ValueError, OverflowError) as error:
        print(f"{address}: {error}; try: python3 scripts/dev.py serve --address 127.0.0.1:8001", file=sys.stderr)
        return 1
    return _mkdocs("serve", "-f", str(project.root / "mkdocs.yml"), "-a", address)
