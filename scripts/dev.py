"""Set up this repository's own environment if needed, then run `python -m evidence` inside it.

    python3 scripts/dev.py serve             read the site while you write it
    python3 scripts/dev.py test              run every short snippet and every test
    python3 scripts/dev.py build [--fresh]   regenerate what is stale (or all of it), then the site
    python3 scripts/dev.py run NAME ...      run snippets and update their records
    python3 scripts/dev.py check             compare every stated number with its record
    python3 scripts/dev.py verify            run every snippet forked and in a fresh interpreter, and compare
    python3 scripts/dev.py verify --unseen   hold every statement on seeds that its author did not use
    python3 scripts/dev.py verify --machines hold every statement with other threads and instruction sets
    python3 scripts/dev.py claims --json     every stated number with its evidence
    python3 scripts/dev.py ledger            bring the ledger's page up to date with its data
    python3 scripts/dev.py stamp             after all was verified: note when, in the built site
    python3 scripts/dev.py train NAME | all  train what the experiment has no result of yet

The environment is `.venv`, with the packages pinned in `requirements.lock`. Needs Python 3.11+.
"""

import os
import subprocess
import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036  (an older one gets this far, and this sentence)
    sys.exit(f"dev.py needs Python 3.11 or newer; this one is {sys.version.split()[0]}.")

from dev_pip import SetupError, say
from dev_setup import finished, python_of, setup, wanted

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = ("serve", "build", "run", "check", "test", "verify", "claims", "ledger", "stamp", "train")


def hand_over(root: Path, arguments: list[str]) -> int:
    """Become `python -m evidence` (on Windows: wait for it), run from the repository's root."""
    python = python_of(root)
    path = f"{python.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    settings = os.environ | {"VIRTUAL_ENV": str(root / ".venv"), "PATH": path}
    os.chdir(root)
    command = [str(python), "-m", "evidence", *arguments]
    if os.name != "nt":
        os.execve(python, command, settings)
    child = subprocess.Popen(command, env=settings)
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:  # the child got the same Ctrl-C and ends by itself
            continue


def main(arguments: list[str]) -> int:
    """Run one command; set up before it only what is missing."""
    try:
        if arguments in ([], ["-h"], ["--help"]):
            print(__doc__)
            return 0 if arguments else 2
        if finished(ROOT) != wanted(ROOT):
            if arguments[0] not in COMMANDS or "--help" in arguments:
                print(__doc__)
                return 0 if "--help" in arguments else 2
            setup(ROOT)
        return hand_over(ROOT, arguments)
    except (SetupError, OSError) as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("stopped; the same command goes on with the setup")
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
