"""Mutants of Python code: each is the source with one expression written otherwise, as a slip or a fraud would."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

SWAPPED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
SHOWN = {"ax", "axes", "plt", "fig", "print", "writer", "file", "csv", "open"}  # what draws or prints states nothing


@dataclass(frozen=True)
class Change:
    """A mutant: what kind of slip, where, what was there, what is there now, and the whole source."""

    kind: str
    line: int
    column: int
    old: str
    new: str
    source: str

    def __str__(self) -> str:
        return f"line {self.line}:{self.column}: {self.old} → {self.new}"


def changes(source: str) -> Iterator[Change]:
    """All mutants of the source, each once. Texts, annotations, imports, drawing and printing are left alone."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    content = source.encode()
    seen = set()
    for node in _nodes(ast.parse(source)):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        old = content[begin:end].decode()
        for kind, other in _others(node):
            new = f"({ast.unparse(other)})"
            whole = (content[:begin] + new.encode() + content[end:]).decode()
            if whole in seen or ast.unparse(other) == ast.unparse(node):
                continue
            try:
                ast.parse(whole)
            except SyntaxError:
                continue
            seen.add(whole)
            yield Change(kind, node.lineno, node.col_offset + 1, _short(old), _short(new[1:-1]), whole)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) < 70 else text[:69] + "…"


def _nodes(node: ast.AST) -> Iterator[ast.expr]:
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list"} or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _shows(child):
                continue
            if isinstance(child, ast.expr):
                yield child
            yield from _nodes(child)


def _shows(node: ast.AST) -> bool:
    if not isinstance(node, ast.Expr):
        return False
    root: ast.AST = node.value
    while isinstance(root, (ast.Call, ast.Attribute)):
        root = root.func if isinstance(root, ast.Call) else root.value
    return isinstance(root, ast.Constant) or (isinstance(root, ast.Name) and root.id in SHOWN)


def _others(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Each slip that can be made here: its kind, and what would stand there."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield "comparison", ast.Compare(node.left, [SWAPPED[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield "and, or", ast.BoolOp(SWAPPED[type(node.op)](), node.values)
    elif isinstance(node, ast.BinOp):
        if type(node.op) in SWAPPED:
            yield "operator", ast.BinOp(node.left, SWAPPED[type(node.op)](), node.right)
        for other in _of_the_subject(node):
            yield "eps, norm or skip path", other
    elif isinstance(node, ast.UnaryOp):
        counted = isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, int)
        if not counted:  # -1 is most often an axis or place counted from the end: 1 may be the same, and -2 is tried
            yield "operator", node.operand
    elif isinstance(node, ast.Constant):
        for other in _constants(node.value):
            yield "constant", other
    elif isinstance(node, ast.IfExp):
        yield "operator", ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.Attribute) and node.attr == "T":
        yield "axis or argument", node.value
    elif isinstance(node, ast.Call):
        yield from _calls(node)


def _constants(value: object) -> Iterator[ast.expr]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
    elif isinstance(value, float):
        yield ast.Constant(value * 2)


def _calls(node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    for number, keyword in enumerate(node.keywords):
        rest = [*node.keywords[:number], *node.keywords[number + 1 :]]
        if keyword.arg in {"unbiased", "correction", "ddof", "bias", "keepdim", "dtype", "eps", "default", "reverse"}:
            yield "axis or argument", ast.Call(node.func, node.args, rest)
        if keyword.arg in {"dim", "axis"}:
            other = ast.keyword(keyword.arg, ast.Constant(0))
            yield "axis or argument", ast.Call(node.func, node.args, [*rest, other])
    if "norm" in name.lower() and len(node.args) == 1 and not node.keywords:
        yield "eps, norm or skip path", node.args[0]
    pairs = {"min": "max", "max": "min", "any": "all", "all": "any", "mean": "median", "startswith": "endswith"}
    if name in pairs:
        func: ast.expr = (
            ast.Attribute(node.func.value, pairs[name])
            if isinstance(node.func, ast.Attribute)
            else ast.Name(pairs[name])
        )
        yield "all, any, min, max or mean", ast.Call(func, node.args, node.keywords)


def _of_the_subject(node: ast.BinOp) -> Iterator[ast.expr]:
    """eps left out or outside of the root; pre-norm x + f(norm(x)) as post-norm norm(x + f(x)); one summand alone."""
    if not isinstance(node.op, ast.Add):
        return
    if "eps" in ast.unparse(node.right):
        yield node.left
    outer = node.right
    if not isinstance(outer, ast.Call):
        return
    yield outer  # a residual branch without its skip path
    inner = outer.args[0] if len(outer.args) == 1 else None
    if isinstance(inner, ast.Call) and [ast.unparse(one) for one in inner.args] == [ast.unparse(node.left)]:
        branch = ast.Call(outer.func, [node.left], outer.keywords)
        yield ast.Call(inner.func, [ast.BinOp(node.left, ast.Add(), branch)], inner.keywords)
