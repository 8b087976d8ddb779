"""Each command says what it found, errors on stderr, and its exit status is 0, 1 (refused) or 2 (not understood)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Tiny
from evidence.__main__ import main
from evidence.record import load
from processes import without_privileges

PAGE = """# Share {#share}

The share is [0.881](../../snippets/residual/share.py#share) over [200](../../snippets/residual/share.py#count)
layers, it [grows](../../snippets/residual/share.py#grows), and
[0.9](../../snippets/residual/share.py#share "±0.02") is near. The eps is
[1e-5](https://arxiv.org/a "definition: its documentation").
"""
SOURCE = "share, count, grows = 0.8812, 200, True\nprint(f'share {share:.3f}')\nopen('a.csv', 'w').write('n\\n3\\n')\n"
COLD = "import sys, evidence.run as r; r.FORKS = False; from evidence.__main__ import main; sys.exit(main())"


@pytest.fixture
def told(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> Tiny:
    """A project with one page and a record of its snippet, as the working directory."""
    tiny.page(PAGE)
    tiny.snippet(SOURCE)
    values = {"share": 0.8812, "count": 200, "grows": True}
    tiny.record(values, output="share 0.881\n", files={"a.csv": b"n\n3\n"})
    monkeypatch.chdir(tiny.root)
    return tiny


def command(*arguments: str, cwd: Path | None = None) -> tuple[int, str, str]:
    """Exit status, stdout and stderr."""
    ended = subprocess.run([sys.executable, "-m", "evidence", *arguments], cwd=cwd, capture_output=True, text=True)
    return ended.returncode, ended.stdout, ended.stderr


# --- check and claims ---------------------------------------------------------------------------------------------


def test_check_that_holds(told: Tiny) -> None:
    status, out, err = command("check", cwd=told.project.snippets / "residual")  # from a folder below as well
    assert (status, err) == (0, "")
    assert out.startswith("5 statements on 1 pages hold (rounded 2, exact 1, condition 1, definition 1)\n")


def test_check_that_does_not_hold_says_so_on_stderr(told: Tiny) -> None:
    told.page(PAGE.replace("0.881]", "0.882]"))
    status, out, err = command("check")
    assert (status, out) == (1, "")
    assert err.startswith("docs/residual/path.md:3: states 0.882, measured 0.8812 (tolerance 0.0005, 160% of it used)")
    assert err.endswith("\n1 problem; nothing was published, records and site are as they were\n")


def test_check_runs_and_writes_nothing(told: Tiny) -> None:
    told.snippet("raise SystemExit(open('ran', 'w'))\n")
    status, _, err = command("check")
    assert status == 1
    assert "was changed after its record was made; run: python3 scripts/dev.py run residual/share" in err
    assert not list(told.root.rglob("ran"))


def test_claims_as_json(told: Tiny) -> None:
    status, out, err = command("claims", "--json")
    assert (status, err) == (0, "")
    listing = json.loads(out)
    assert list(listing) == ["claims", "unbound"]
    assert listing["unbound"] == []
    share = "snippets/residual/share.py#share"
    common = {"page": "docs/residual/path.md"}
    assert listing["claims"] == [
        common | {"line": 3, "text": "0.881", "stated": 0.881, "kind": "rounded", "evidence": share,
                  "measured": 0.8812, "tolerance": 0.0005, "used": pytest.approx(0.4)},
        common | {"line": 3, "text": "200", "stated": 200, "kind": "exact",
                  "evidence": "snippets/residual/share.py#count", "measured": 200, "tolerance": 0, "used": 0.0},
        common | {"line": 4, "text": "grows", "stated": True, "kind": "condition",
                  "evidence": "snippets/residual/share.py#grows", "measured": True, "tolerance": 0, "used": 0.0},
        common | {"line": 5, "text": "0.9", "stated": 0.9, "kind": "rounded", "evidence": share,
                  "measured": 0.8812, "tolerance": 0.02, "used": pytest.approx(0.94)},
        common | {"line": 6, "text": "1e-5", "stated": "1e-5", "kind": "definition",
                  "evidence": "https://arxiv.org/a", "measured": None, "tolerance": None, "used": None},
    ]  # fmt: skip


def test_claims_as_json_with_something_unbound_and_something_wrong(told: Tiny) -> None:
    told.page(PAGE.replace("[200]", "[201]") + "\nIt is seventeen, or 17.5, times as large.\n")
    status, out, err = command("claims", "--json")
    assert status == 1
    assert "states 201, measured 200 (must be equal)" in err
    listing = json.loads(out)
    assert {"page": "docs/residual/path.md", "line": 8, "text": "17.5"} in listing["unbound"]
    assert [claim["used"] for claim in listing["claims"] if claim["text"] == "201"] == [None]


def test_claims_as_text(told: Tiny) -> None:
    status, out, _ = command("claims")
    assert status == 0
    assert out.splitlines()[0] == (
        "docs/residual/path.md:3  0.881  rounded  snippets/residual/share.py#share  0.8812  40% used"
    )


# --- run ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["residual/share", "snippets/residual/share.py", "./snippets/residual/share.py", ""])
def test_run_by_name_and_by_path(told: Tiny, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", name or str(told.project.snippets / "residual/share.py")]) == 0
    out, err = capfd.readouterr()
    assert out == (
        "--- residual/share: output\nshare 0.881\n--- values\nshare = 0.8812\ncount = 200\ngrows = True\n"
        "--- files: a.csv\n"
    )
    assert "ran snippets/residual/share.py\n" in err


def test_run_by_a_path_from_where_one_is(
    told: Tiny, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(told.project.snippets / "residual")
    assert main(["run", "share.py"]) == 0
    assert "share = 0.8812" in capfd.readouterr().out


def test_run_that_fails_shows_no_earlier_output(told: Tiny, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "residual/share"]) == 0
    capfd.readouterr()
    told.snippet(SOURCE + "1 / 0\n")
    assert main(["run", "residual/share"]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert 'File "share.py", line 4, in <module>' in err


def test_run_whose_sentence_breaks_shows_what_came_out(told: Tiny, capfd: pytest.CaptureFixture[str]) -> None:
    told.snippet(SOURCE.replace("0.8812", "0.7"))
    assert main(["run", "residual/share"]) == 1
    out, err = capfd.readouterr()
    assert "share = 0.7\n" in out
    assert "docs/residual/path.md:3: states 0.881, measured 0.7 " in err
    assert load(told.project.snippets / "residual/share").values["share"] == 0.8812


# --- verify -------------------------------------------------------------------------------------------------------


def test_verify_that_agrees(told: Tiny, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["verify"]) == 0
    assert (
        capfd.readouterr().out
        == "2 runs of 1 snippets compared: some bit differs in 0, 0 differences beyond tolerance\n"
    )


def test_verify_tells_old_and_new_the_share_used_and_the_page(told: Tiny, capfd: pytest.CaptureFixture[str]) -> None:
    told.record({"share": 0.8814, "count": 200, "grows": True}, output="share 0.881\n", files={"a.csv": b"n\n3\n"})
    assert main(["verify"]) == 0
    assert "docs/residual/path.md:3: 0.8814 → 0.8812, 40% of the tolerance used\n" in capfd.readouterr().out


def test_verify_that_differs(told: Tiny, capfd: pytest.CaptureFixture[str]) -> None:
    told.snippet("import sys\nshare, count, grows = 0.8812, len(sys.orig_argv), True\n")
    told.record({"share": 0.8812, "count": 200, "grows": True}, output="")
    assert main(["verify"]) == 1
    out = capfd.readouterr().out
    assert "residual/share (forked): count: 200 → " in out
    assert "residual/share (cold): count: 200 → " in out
    assert "docs/residual/path.md:3: states 200, measured " in out


def test_verify_compares_forked_with_cold(told: Tiny, capfd: pytest.CaptureFixture[str]) -> None:
    source = "import sys\nshare, count, grows = 0.8812, 200, True\nprint(f'{0.5 + 1e-4 * sys.flags.safe_path:.4f}')\n"
    told.snippet(source)
    told.record({"share": 0.8812, "count": 200, "grows": True}, output="0.5000\n")
    assert main(["verify"]) == 1
    assert "residual/share (cold): prints otherwise cold than forked\n" in capfd.readouterr().out


# --- not understood -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "residual/shore"], "there is no snippet residual/shore"),
        (["run", "share"], "did you mean residual/share?"),
        (["run", "residual/share", "../x"], "there is no snippet ../x"),
        (["run"], "the following arguments are required: NAME"),
        (["publish"], "invalid choice: 'publish'"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_what_is_not_understood(told: Tiny, arguments: list[str], said: str) -> None:
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


def test_outside_of_a_project(tmp_path: Path) -> None:
    status, out, err = command("check", cwd=tmp_path)
    assert (status, out) == (1, "")
    assert err.startswith(f"{tmp_path}: no mkdocs.yml with a snippets/ folder here or above\n")


# --- what may not be written or read ------------------------------------------------------------------------------


def unprivileged(*arguments: str) -> tuple[int, str, str]:
    command = [sys.executable, "-c", COLD, *arguments]
    ended = subprocess.run(command, preexec_fn=without_privileges, capture_output=True, text=True)
    return ended.returncode, ended.stdout, ended.stderr


def test_unprivileged_runs_do_as_well(told: Tiny) -> None:
    assert unprivileged("run", "residual/share")[0] == 0


def test_a_file_that_cannot_be_read_back_is_refused(told: Tiny) -> None:
    told.snippet(SOURCE + "import os\nos.chmod('a.csv', 0)\n")
    status, _, err = unprivileged("run", "residual/share")
    assert status == 1
    assert "snippets/residual/share.py: failed: [Errno 13] Permission denied: " in err
    assert "Traceback" not in err


@pytest.mark.parametrize("path", ["snippets/residual", "."])
def test_where_nothing_may_be_written_it_says_so(told: Tiny, path: str) -> None:
    told.snippet(SOURCE + "# said\n")
    old = (told.project.snippets / "residual/share/record.json").read_text()
    if path == ".":
        subprocess.run(["rm", "-r", str(told.project.cache)], check=True)
    (told.root / path).chmod(0o555)
    try:
        status, _, err = unprivileged("run", "residual/share")
    finally:
        (told.root / path).chmod(0o755)
    assert status == 1
    assert "Permission denied" in err
    assert "Traceback" not in err
    assert (told.project.snippets / "residual/share/record.json").read_text() == old


def test_check_reads_what_a_killed_swap_left_and_writes_nothing(told: Tiny) -> None:
    folder = told.project.snippets / "residual/share"
    folder.rename(folder.with_name("share.old"))
    assert main(["check"]) == 0
    assert folder.with_name("share.old").exists()
    assert not folder.exists()


def test_options_of_pytest_are_passed_on(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []

    def call(command: list[str], **_: object) -> int:
        called.append(command)
        return 3

    monkeypatch.chdir(tiny.root)
    monkeypatch.setattr("subprocess.call", call)
    assert main(["test", "-v", "tests/test_x.py", "--tb=short"]) == 3
    assert called == [[sys.executable, "-m", "pytest", "-v", "tests/test_x.py", "--tb=short"]]
