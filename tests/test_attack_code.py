"""The attack on code works: it makes the mutants a slip would make, and tells what is noticed from what is not."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

import attack_code
from attack_summary import Outcome
from conftest import UP, Tiny
from evidence import refresh
from evidence.project import Project
from mutate import Change, changes


def made(source: str) -> set[str]:
    return {change.source.strip() for change in changes(source)}


@pytest.mark.parametrize(
    ("source", "mutant"),
    [
        ("y = a < b", "y = (a <= b)"),
        ("y = a and b", "y = (a or b)"),
        ("y = a @ b", "y = (a * b)"),
        ("y = not a", "y = (a)"),
        ("y = 3", "y = (4)"),
        ("y = 1e-05", "y = (2e-05)"),
        ("y = W.T", "y = (W)"),
        ("y = x.var(-1, unbiased=False)", "y = (x.var(-1))"),
        ("y = x.var(-1, unbiased=False)", "y = x.var(-1, unbiased=(True))"),
        ("y = x.sum(dim=1)", "y = (x.sum(dim=0))"),
        ("y = x / (x.var() + eps).sqrt()", "y = x / ((x.var())).sqrt()"),
        ("x = x + f(norm(x))", "x = (norm(x + f(x)))"),
        ("x = x + f(norm(x))", "x = (f(norm(x)))"),
        ("y = final_norm(x)", "y = (x)"),
        ("y = all(z)", "y = (any(z))"),
        ("y = a if b else c", "y = (c if b else a)"),
    ],
)
def test_slips_that_are_made(source: str, mutant: str) -> None:
    assert mutant in made(source)


@pytest.mark.parametrize("source", ["'text 1'", "ax.plot(1)", "print(1 + 2)", "import a", "f'{1}'", "plt.savefig('a')"])
def test_what_states_nothing_is_left_alone(source: str) -> None:
    assert made(source) == set()


def test_a_change_keeps_all_else_as_it_was() -> None:
    source = "# µ\nx = 1  # one\n\ny = x < 2  # less\n"
    (one,) = (change for change in changes(source) if "<=" in change.new)
    assert one.source == "# µ\nx = 1  # one\n\ny = (x <= 2)  # less\n"
    assert str(one) == "line 4:5: x < 2 → x <= 2"


def test_a_mutant_of_a_snippet_is_judged_by_what_is_stated_of_it(tiny: Tiny) -> None:
    tiny.snippet("seeds = range(3)\nshare = 0.5 + 0.25\nunstated = 4\nnoise = 1e-9\nsame = 3 > 2\n")
    tiny.page(
        f'# T\n\nIt is [0.75]({UP}/residual/share.py#share "n=3 ±0.01"), [surely]({UP}/residual/share.py#same).\n'
    )
    refresh.refresh(tiny.project, tell=lambda _: None)
    site = attack_code.Site(tiny.project)
    made = [(name, change) for name, source in site.sources.items() for change in changes(source)]
    fates = {str(change): fate for _, change, fate in site.attack(made)}
    assert fates["line 2:9: 0.5 + 0.25 → 0.5 - 0.25"] == "killed: a statement fails"
    assert fates["line 1:15: 3 → 4"] == "killed: a statement fails"
    assert fates["line 3:12: 4 → 5"] == "killed: the record differs"
    assert fates["line 4:9: 1e-9 → 2e-09"] == "survived: moves noise most: 1e-09 → 2e-09"
    assert fates["line 5:8: 3 > 2 → 3 >= 2"] == "equivalent"


def test_all_mutants_are_noted_place_by_place_and_reasons_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = {"a": "x = 1\ny = 2.5\n", "b": "x = 3 < 4\n"}
    asked = []

    def attack(made: Sequence[tuple[str, Change]]) -> Iterator[tuple[str, Change, str]]:
        for name, change in made:
            asked.append(name)
            fate = {"1 → 2": "survived: x moves", "2.5 → 5.0": "equivalent"}.get(str(change).partition(": ")[2])
            yield name, change, fate or "killed: a statement fails"

    def run() -> list[str]:
        asked.clear()
        attack_code.in_full("snippets", sources, list(sources), attack, Outcome(tmp_path))
        return sorted(set(asked))

    assert run() == ["a", "b"]
    assert run() == []  # goes on where it was
    survivors = tmp_path / "survivors.csv"
    assert survivors.read_text() == "code,where,kind,change,why\nsnippets,a,constant,line 1:5: 1 → 2,x moves\n"
    survivors.write_text(survivors.read_text().replace("x moves", "equivalent: x is unused"))
    sources["b"] += "z = 3\n"
    assert run() == ["b"]  # what changed is attacked again, and the reason is kept
    rows = [line.split(",") for line in (tmp_path / "code.csv").read_text().splitlines()]
    assert [row[:2] + row[3:] for row in rows[1:]] == [
        ["snippets", "a", "2", "0", "2", "0"], ["snippets", "b", "4", "4", "0", "0"],
    ]  # fmt: skip
    assert "snippets,6,4,0,2,0" in (tmp_path / "outcome.csv").read_text().splitlines()
    assert (tmp_path / "kinds.csv").read_text().splitlines()[1:] == ["kind,equivalent,survived", "constant,2,0"]
    said = capsys.readouterr().out
    assert "snippets a: {'survived': 1, 'equivalent': 1} in" in said
    assert said.endswith("2 of 2 are done: 6 mutants, 4 killed, 2 equivalent\n")
    sources["a"] += "w = 1\n"
    attack_code.in_full("snippets", sources, ["b"], attack, Outcome(tmp_path))
    assert "1 of 2 are done: 4 mutants" in capsys.readouterr().out  # what is said of the other is of other code


def test_a_sample_of_the_engine_by_date() -> None:
    """Most are killed; those that live are printed, and judged by people: tests/attack_code.py engine --all."""
    seed = datetime.now(UTC).date().toordinal()
    print("seed", seed)
    quick = {name: attack_code.modules()[name] for name in ("statement", "tables", "links", "compare")}
    results = list(attack_code.engine(attack_code.sample(quick, seed, 6)))
    for name, change, fate in results:
        print(fate, name, change)
    fates = Counter(fate for _, _, fate in results)
    assert fates["killed"] >= 3


def test_a_sample_of_the_snippets_by_date() -> None:
    seed = datetime.now(UTC).date().toordinal()
    print("seed", seed)
    site = attack_code.Site(Project(attack_code.ROOT))
    chosen = {name: source for name, source in site.sources.items() if name.startswith("rmsnorm/")}
    results = list(site.attack(attack_code.sample(chosen, seed, 4)))
    for name, change, fate in results:
        print(fate, name, change)
    assert len(results) == 4


def test_tests_that_see_nothing_are_found_out(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    for name, body in (("test_blind.py", "assert 1"), ("test_sees.py", "assert 0")):
        (tmp_path / "tests" / name).write_text(f"def test_it():\n    {body}\n")
    assert attack_code.passes(tmp_path, ["test_blind.py"])
    assert not attack_code.passes(tmp_path, ["test_blind.py", "test_sees.py"])


def test_a_program_that_attacks_is_still_there_for_its_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of a snippet puts `__main__` aside; its module was once taken for one of the suite's and dropped."""
    monkeypatch.setattr(sys.modules["__main__"], "__file__", attack_code.__file__)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_main.py").write_text("import sys\n\ndef test_it():\n    assert '__main__' in sys.modules\n")
    assert attack_code.passes(tmp_path, ["test_main.py"])
