"""A record comes back as a run wrote it or is refused as damaged, and two are compared with due tolerance."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Tiny
from evidence import record
from evidence.compare import close, differences, same_text
from evidence.plain import decode, encode
from evidence.record import Damaged, Record, load, save

NAME = "residual/share"


def make(number: int = 0, **parts: Any) -> Record:
    """A record all of whose parts say `number`."""
    files = {"a.csv": f"x\n{number}\n".encode() * 200, "output.txt": f"{number}\n".encode()}
    standard: dict[str, Any] = {
        "inputs": {f"snippets/{NAME}.py": "0" * 64},
        "versions": {"torch": "2.13.0"},
        "machine": {"threads": 1},
        "values": {"number": number, "odd": [math.nan, -math.inf, -0.0], "by_layer": {1: 0.5, 2: {"a": None}}},
        "files": files,
    }
    return Record(NAME, **{**standard, **parts})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a record of number 1 lies."""
    save(make(1), tmp_path / "at", tmp_path / "parts")
    return tmp_path / "at"


# --- there and back -----------------------------------------------------------------------------------------------


def test_a_record_comes_back_as_it_was(folder: Path) -> None:
    assert repr(load(folder)) == repr(make(1))
    assert load(folder).fingerprint == make(1).fingerprint
    assert not list((folder.parent / "parts").iterdir())


def test_the_order_of_what_a_run_rests_on_is_no_matter() -> None:
    a, b = ({"a": "1", "b": "2"}, {"b": "2", "a": "1"})
    assert make(inputs=a, versions=b).fingerprint == make(inputs=b, versions=a).fingerprint
    assert make(inputs=a).fingerprint != make(inputs={**a, "b": "3"}).fingerprint


def test_a_run_that_draws_rests_on_the_style(tiny: Tiny) -> None:
    plain, draws = tiny.snippet(name="residual/plain"), tiny.snippet("import matplotlib\n", "residual/draws")
    assert [len(record.inputs(tiny.project, one)) for one in (plain, draws)] == [1, 1]
    tiny.write("snippets/matplotlibrc", "lines.linewidth: 3\n")
    assert [len(record.inputs(tiny.project, one)) for one in (plain, draws)] == [1, 2]


def test_a_record_is_read_by_people(tmp_path: Path) -> None:
    save(make(values={"name": "naïve µ"}), tmp_path / "a/b/at", tmp_path / "parts")
    assert '"name": "naïve µ"' in (tmp_path / "a/b/at/record.json").read_text("utf-8")


words = st.text(st.characters(codec="utf-8"))
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(words | st.sampled_from(["float", "items"]), inner, max_size=3)
        | st.dictionaries(st.integers() | st.floats() | words, inner, max_size=3)
    ),
    max_leaves=8,
)


@given(plain)
@settings(max_examples=200, deadline=None)
def test_any_plain_value_comes_back(value: Any) -> None:
    assert repr(decode(json.loads(json.dumps(encode(value), allow_nan=False)))) == repr(value)


@given(st.dictionaries(words, plain, max_size=3), st.binary())
@settings(max_examples=40, deadline=None)
def test_any_record_comes_back(tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any], raw: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    made = make(values=values, files={"a.bin": raw, "output.txt": b""})
    save(made, folder / "at", folder / "parts")
    assert repr(load(folder / "at")) == repr(made)


def test_a_diff_of_two_records_shows_one_line_a_variable() -> None:
    old, new = (set(make(number).to_json().splitlines()) for number in (1, 2))
    changed = sorted(line.split(":")[0].strip() for line in new - old)
    assert changed == ['"a.csv"', '"digest"', '"number"', '"output.txt"']


# --- damage -------------------------------------------------------------------------------------------------------


def edit(folder: Path, **changes: Any) -> None:
    """Changes the record by hand, as someone would who also makes the digest anew."""
    body = json.loads((folder / "record.json").read_text())
    body.update(changes)
    body.pop("digest")
    body["digest"] = record._sha(json.dumps(body, sort_keys=True).encode())
    (folder / "record.json").write_text(json.dumps(body))


def put(folder: Path, name: str, content: str | bytes) -> None:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def shorten(folder: Path, name: str, by: int) -> None:
    put(folder, name, (folder / name).read_bytes()[:-by])


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut off": (lambda f: shorten(f, "record.json", 40), "cannot be read (JSONDecodeError"),
    "empty": (lambda f: put(f, "record.json", ""), "cannot be read (JSONDecodeError"),
    "not JSON": (lambda f: put(f, "record.json", "<html>"), "cannot be read (JSONDecodeError"),
    "not text": (lambda f: put(f, "record.json", b"\xff\xfe"), "cannot be read (UnicodeDecodeError"),
    "not an object": (lambda f: put(f, "record.json", "[1]"), "cannot be read (TypeError"),
    "deep": (lambda f: put(f, "record.json", "[" * 100_000), "cannot be read (RecursionError"),
    "no digest": (lambda f: put(f, "record.json", '{"format": 1}'), "cannot be read (KeyError: 'digest')"),
    "newer": (lambda f: edit(f, format=2), "its format is 2, this engine knows 1"),
    "newer without a digest": (lambda f: put(f, "record.json", '{"format": 9}'), "its format is 9"),
    "artifact edited": (lambda f: put(f, "a.csv", "x\n9\n"), "a.csv was edited by hand or damaged"),
    "output cut off": (lambda f: shorten(f, "output.txt", 1), "output.txt was edited by hand or damaged"),
    "file missing": (lambda f: (f / "a.csv").unlink(), "its files differ from its list: a.csv"),
    "file too many": (lambda f: put(f, "b.csv", ""), "its files differ from its list: b.csv"),
    "folder too many": (lambda f: (f / "b").mkdir(), "its files differ from its list: b"),
    "file out of reach": (lambda f: edit(f, files={"../a": "0"}), "its files differ from its list: ../a"),
    "no values": (lambda f: edit(f, values=[1]), "its parts are not what a run writes"),
    "one value": (lambda f: edit(f, values={"float": "1"}), "its parts are not what a run writes"),
    "no inputs": (lambda f: edit(f, inputs=None), "its parts are not what a run writes"),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_damage_is_noticed_and_named(folder: Path, how: str) -> None:
    harm, told = DAMAGE[how]
    harm(folder)
    with pytest.raises(Damaged) as caught:
        load(folder)
    assert told in str(caught.value)


def test_no_output_is_damage(tmp_path: Path) -> None:
    save(make(files={"a.csv": b"1"}), tmp_path / "at", tmp_path / "parts")
    with pytest.raises(Damaged, match=r"cannot be read \(KeyError: 'output.txt'\)"):
        load(tmp_path / "at")


def test_the_digest_covers_everything(folder: Path) -> None:
    text = (folder / "record.json").read_text()
    for line in text.splitlines():
        for at in [i for i, character in enumerate(line) if character.isalnum()][-2:]:
            other = "2" if line[at] != "2" else "3"
            (folder / "record.json").write_text(text.replace(line, line[:at] + other + line[at + 1 :]))
            with pytest.raises(Damaged):
                load(folder)
    (folder / "record.json").write_text(text)
    load(folder)


def test_no_record_is_not_damage(tmp_path: Path) -> None:
    for empty in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(FileNotFoundError):
            load(empty)


# --- the same? ----------------------------------------------------------------------------------------------------

CLOSE = [
    (1.0, 1.0009, True), (1.0, 1.0011, False), (1e-6, 9e-6, True), (1e-6, 1.2e-5, False), (0.0, -0.0, True),
    (math.nan, math.nan, True), (math.nan, 1.0, False), (math.inf, math.inf, True), (math.inf, -math.inf, False),
    (math.inf, 1e308, False), (1, 1, True), (1000, 1001, False), (1, 1.0, False), (True, 1, False),
    ("a", "a", True), ("a", "b", False), (None, None, True), (None, 0, False), ([1.0, 2], [1.0, 2], True),
    ([1.0], [1.0, 2.0], False), ([1.0], [1.1], False), ({"a": 1.0}, {"a": 1.0001}, True),
    (True, False, False), ({"a": 1}, {"b": 1}, False), ([1, 2], [1, 3], False),
    ({"a": 1, "b": 2}, {"a": 1, "b": 3}, False),
    ({1: 1}, {"1": 1}, False), ({"a": 1, "b": 1}, {"b": 1, "a": 1}, False), ([], {}, False),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "same"), CLOSE)
def test_values_are_the_same_within_what_a_processor_moves(old: Any, new: Any, same: bool) -> None:
    assert close(old, new) is same
    assert close(new, old) is same


TEXTS = [
    ("a 0.881\n", "a 0.882\n", True), ("a 0.881\n", "a 0.884\n", False), ("0.881", "0.883", True), ("12", "13", False),
    ("1.0e-05", "1.2e-05", True), ("1.0e-05", "1.3e-05", False), ("1000.0", "1000.9", True), ("-0.01", "0.01", True),
    ("1000.0", "1001.5", False), ("5.0", "5", False), ("a 1", "b 1", False), ("1 ", "1", False), ("1 2", "1", False),
    ("nan", "nan", True), ("nan", "0.1", False), ("x1e999y", "x1e998y", False), ("x1e999y", "x1e999y", True),
    ("1e" + "9" * 5000, "1e" + "8" * 5000, False), ("tensor([1.0000, 2.])", "tensor([1.0001, 2.])", True),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "same"), TEXTS)
def test_texts_are_the_same_but_for_their_last_digits(old: str, new: str, same: bool) -> None:
    assert same_text(old.encode(), new.encode()) is same
    assert same_text(new.encode(), old.encode()) is same


def test_bytes_that_are_no_text_must_be_equal() -> None:
    assert same_text(b"\xff1.0", b"\xff1.0")
    assert not same_text(b"\xff1.00001", b"\xff1.00002")


def test_every_difference_is_told() -> None:
    old = make(1, values={"a": 1.0, "b": 1, "c": "x" * 99}, files={"output.txt": b"1\n", "a.svg": b"1", "a.csv": b""})
    new = make(1, values={"a": 1.5, "b": 1, "d": 1}, files={"output.txt": b"2\n", "a.svg": b"2", "b.csv": b""})
    assert list(differences(old, new)) == [
        "a: 1 → 1.5", "c is gone", "d is new", "a.csv is gone", "a.svg differs", "b.csv is new", "output.txt differs"
    ]  # fmt: skip
    assert not list(differences(old, old))


def test_a_long_value_is_told_by_its_beginning() -> None:
    old, new = (make(1, values={"a": "x" * 57, "b": "x" * 57 + end}) for end in ("y", "z"))
    assert list(differences(old, new)) == [f"b: '{'x' * 56}… → '{'x' * 56}…"]
    assert list(differences(old, make(1, values={"a": "y" * 57, "b": old.values["b"]}))) == [
        f"a: {'x' * 57!r} → {'y' * 57!r}"  # 59 characters with its quotes
    ]


def test_figures_are_compared_on_one_machine_only() -> None:
    old = make(files={"output.txt": b"", "a.svg": b"1"})
    for elsewhere in ({"versions": {"torch": "3"}}, {"machine": {"threads": 2}}):
        assert not list(differences(old, make(files={"output.txt": b"", "a.svg": b"2"}, **elsewhere)))
    assert list(differences(old, make(files={"output.txt": b"", "a.svg": b"2"}))) == ["a.svg differs"]


def test_the_fingerprint_rests_on_source_inputs_and_versions_alone(tiny: Tiny) -> None:
    data = tiny.write("snippets/data/a.csv", "1\n")
    script = tiny.snippet("# reads: snippets/data/a.csv\nx = 1\n")
    first = record.fingerprint(tiny.project, script)
    assert tiny.record({"x": 1}).fingerprint == tiny.record({"x": 2}, output="other").fingerprint == first
    data.write_text("2\n")
    second = record.fingerprint(tiny.project, script)
    third = record.fingerprint(tiny.project, tiny.snippet("# reads: snippets/data/a.csv\nx = 1  # said\n"))
    assert len({first, second, third}) == 3
