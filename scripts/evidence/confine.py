"""Takes from a run, on Linux, what its reader's copy would not have: this repository's files and the network.

The audit hook of `child` sees what Python itself opens, and says it well; a program that the snippet starts is none of
its business. Here the kernel refuses to all below the run. Where the system allows no namespaces (other platforms, some
containers) the hook is all there is. Neither keeps out a snippet that means harm.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from pathlib import Path

PRIVATE = ("docs", "snippets", "tests", ".git", ".cache", "site")  # folders that hold what a page says
NEW_FILES, NEW_USER, NEW_NETWORK = 0x00020000, 0x10000000, 0x40000000  # unshare's CLONE_NEWNS, -USER and -NET
READ_ONLY, RECURSIVE, NOT_SHARED = 1, 0x4000, 0x40000  # mount's flags


def confine(root: str) -> None:
    """Of this process, which must have one thread, and all it will start, if the system allows it."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(NEW_FILES | NEW_NETWORK) != 0:  # root alone may do so without a user namespace of its own
        if libc.unshare(NEW_USER | NEW_FILES | NEW_NETWORK) != 0:
            return
        with contextlib.suppress(OSError):
            Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    if libc.mount(None, b"/", None, RECURSIVE | NOT_SHARED, None) == 0:
        for path in filter(os.path.isdir, (os.path.join(root, name) for name in PRIVATE)):
            libc.mount(b"none", os.fsencode(path), b"tmpfs", READ_ONLY, b"size=4k,mode=755")
