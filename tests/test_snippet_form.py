"""A fault of a snippet's form is said at the line where it can be mended."""

from __future__ import annotations

import pytest

from conftest import Tiny
from evidence.snippet import Snippet

FAULTY = {
    "# limits: soon\nx = 1\n": 1,
    "# limits: 99999 s\nx = 1\n": 1,
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


def test_a_fault_of_the_name_is_the_whole_files(tiny: Tiny) -> None:
    script = Snippet("Residual/share", tiny.project.snippets / "Residual/share.py", "x = 1\n")
    assert [problem.line for problem in script.problems(tiny.project)] == [0]
