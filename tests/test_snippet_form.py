"""A fault of a snippet's form is said at the line where it can be mended."""

from __future__ import annotations

import pytest

from conftest import Tiny
from evidence.project import Refusal
from evidence.snippet import Snippet, load

FAULTY = {
    "# limits: soon\nx = 1\n": 1,
    "# limits: 1801 s\nx = 1\n": 1,
    "# limits: 1 s, 13 GB\nx = 1\n": 1,
    "# reads: snippets/a/none.csv\nx = 1\n": 1,
    "# reads: snippets/../x.csv\nx = 1\n": 1,
    "# reads: docs/x.csv\nx = 1\n": 1,
    "# reads: snippets/a/x.csv snippets/b/x.csv\nx = 1\n": 1,
    "x = 1\nimport flask\n": 2,
    "x = 1\n\nif __name__ == '__main__':\n    x = 2\n": 3,
    "x = 1\ny = (\n": 2,
    "x = '\0'\n": 0,
}


@pytest.mark.parametrize("source", FAULTY)
def test_a_fault_of_form_is_said_at_its_line(tiny: Tiny, source: str) -> None:
    tiny.write("snippets/a/x.csv", "1\n")
    tiny.write("snippets/b/x.csv", "1\n")
    script = Snippet("residual/share", tiny.project.snippets / "residual/share.py", source)
    assert [problem.line for problem in script.problems(tiny.project)] == [FAULTY[source]]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("# reads: docs/x.csv\n", "reads 'docs/x.csv', which is not a path below snippets/"),
        ("# reads: snippets/../x.csv\n", "reads 'snippets/../x.csv', which is not a path below snippets/"),
        ("# reads: snippets/a/none.csv\n", "reads 'snippets/a/none.csv', which does not exist"),
        ("from flask import x\n", "imports flask; a snippet uses torch"),
        ("from . import x\n", "imports .; a snippet uses torch"),
    ],
)
def test_a_fault_is_named(tiny: Tiny, source: str, said: str) -> None:
    script = Snippet("residual/share", tiny.project.snippets / "residual/share.py", source)
    (problem,) = script.problems(tiny.project)
    assert problem.message.startswith(said)


@pytest.mark.parametrize("last", ["torch", "numpy", "matplotlib", "random", "statistics", "yaml", "packaging"])
def test_a_copy_of_it_does_not_take_the_place_of_a_module(tiny: Tiny, last: str) -> None:
    script = Snippet(f"residual/{last}", tiny.project.snippets / f"residual/{last}.py", "# requires: yaml\n")
    (problem,) = script.problems(tiny.project)
    assert str(problem) == (
        f"snippets/residual/{last}.py: saved as {last}.py it would be imported in the place of {last}; "
        "name it after what it shows"
    )


def test_what_a_snippet_may_do(tiny: Tiny) -> None:
    source = "# limits: 1800 s, 12 GB\n# requires: transformers\nimport math, torch\nimport transformers.x\n"
    script = Snippet(
        "residual/share", tiny.project.snippets / "residual/share.py", source + "from numpy import linalg\n"
    )
    assert list(script.problems(tiny.project)) == []


def test_a_snippet_that_is_no_text_is_refused_as_a_whole(tiny: Tiny) -> None:
    tiny.write("snippets/residual/share.py", b"x = '\xff'\n")
    with pytest.raises(Refusal, match=r"^snippets/residual/share\.py: "):
        load(tiny.project, "residual/share")


def test_a_fault_of_the_name_is_the_whole_files(tiny: Tiny) -> None:
    script = Snippet("Residual/share", tiny.project.snippets / "Residual/share.py", "x = 1\n")
    assert [problem.line for problem in script.problems(tiny.project)] == [0]
