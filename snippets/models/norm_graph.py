# Where a norm stands: reads the residual sums, the branches and attention off an autograd graph
from typing import Any

from torch import Tensor

# autograd nodes that hand a tensor on: views, casts, sums, factors
VIEWS = "View Reshape Alias Transpose Permute TBackward Expand Squeeze Unsqueeze AsStrided"
PARTS = "Slice Select Unbind Split Chunk Cat Stack Repeat Index Gather Where MaskedFill Roll Flip"
PASSES = (*VIEWS.split(), *PARTS.split(), "Clone", "Copy", "ToCopy", "ConstantPad")
PASSES = (*PASSES, "AddB", "SubB", "Neg", "MulB", "DivB", "Sum")
PRODUCTS = ("Mm", "Addmm", "Bmm", "Baddbmm", "Convolution", "ScaledDotProduct", "Fft")


def factors(node: Any) -> list[Any]:
    """Both sides of a product, as far as they were kept; None if changed in place since."""
    found = []
    for side in ("_saved_self", "_saved_other"):
        try:
            found.append(getattr(node, side))
        except RuntimeError:
            found.append(None)
    return found


class Graph:
    """The autograd graph as sets of bits: ancestors (up), and what a node hands on (same)."""

    def __init__(self, ends: list[Tensor], calls: list[dict[str, Any]]) -> None:
        self.norm = {c["out"].grad_fn: c for c in calls}
        self.bit: dict[Any, int] = {}
        self.up: dict[Any, int] = {}
        self.same: dict[Any, int] = {}
        self.parents: dict[Any, list[Any]] = {}
        todo = [(x.grad_fn, False) for x in ends if x.grad_fn]
        while todo:
            node, ready = todo.pop()
            if node in self.bit:
                continue
            if not ready:
                todo += [(node, True), *((p, False) for p, _ in node.next_functions if p)]
                continue
            above = [p for p, _ in node.next_functions if p and self.up[p]]
            source = node.name().startswith(("Embedding", "Index", "Input"))
            self.bit[node], self.parents[node] = 1 << len(self.bit), above
            self.up[node] = self.same[node] = self.bit[node] if above or source else 0
            for p in above:
                self.up[node] |= self.up[p]
            for p in self.handed(node):
                self.same[node] |= self.same[p]

    def handed(self, node: Any) -> list[Any]:
        """The parents whose value this node hands on: none at a norm's output or a product."""
        above = self.parents[node]
        if node in self.norm or not node.name().removeprefix("Unsafe").startswith(PASSES):
            return []
        if node.name().startswith(("MulB", "DivB")) and len(above) > 1:
            sizes = [0 if x is None else x.numel() for x in factors(node)]
            return [above[sizes.index(max(sizes))]] if sizes[0] != sizes[1] else []
        return above

    def core(self, node: Any) -> tuple[Any, float]:
        """Where this value was made, and the constant factor since."""
        factor = 1.0
        while len(above := self.handed(node)) == 1:
            if node.name().startswith(("MulB", "DivB")):
                pair = [x for x in factors(node) if x is not None]
                small = next((x.item() for x in pair if x.numel() == 1), 1.0)
                factor *= small if node.name().startswith("MulB") else 1 / small
            node = above[0]
        return node, factor

    def inside(self, bits: int, what: Any) -> list[Any]:
        return [n for n in self.bit if n.name().startswith(what) and bits & self.bit[n]]

    def sums(self) -> list[tuple[Any, Any, Any]]:
        """Residual sums, a value plus something computed from it: the node, skip, branch."""
        within, found = 0, []
        for out, call in self.norm.items():
            within |= self.up.get(out, 0) & ~self.up.get(call["node"], 0)
        for node in self.inside(~within, "AddB"):
            for skip, branch in zip(self.parents[node], self.parents[node][1::-1], strict=False):
                new = self.up[branch] & ~self.up[skip]
                shared = self.same[skip] & self.up[branch] & ~self.same[branch]
                if shared and self.inside(new, PRODUCTS):
                    found.append((node, skip, branch))
                    break
        return found

    def attention(self) -> tuple[int, int, int]:
        """What reaches the scores of attention, what its values; and the products themselves."""
        scores = values = products = 0
        for node in self.inside(-1, "ScaledDotProduct"):
            q, k, v = (self.same.get(p, 0) for p, _ in node.next_functions[:3])
            scores, values, products = scores | q | k, values | v, products | self.bit[node]
        for node in (n for n in self.inside(-1, "Bmm") if len(self.parents[n]) == 2):
            for probs, value in (self.parents[node], self.parents[node][::-1]):
                todo = self.inside(self.same[probs], "Softmax")
                while todo:
                    at = todo.pop()
                    if at.name().startswith("Bmm"):
                        scores |= self.same[self.parents[at][0]] | self.same[self.parents[at][-1]]
                        values, products = values | self.same[value], products | self.bit[node]
                    elif at.name().removeprefix("Unsafe").startswith(("Softm", "Tanh", *PASSES)):
                        todo += self.parents[at]
        return scores, values, products


def place(graph: Graph, call: dict[str, Any], sums: list[Any], roles: tuple[int, ...]) -> str:
    """Where one call of a norm stands, from what it reads and what its output goes into."""
    mine = graph.bit.get(call["out"].grad_fn, 0)
    if not mine or call["node"] not in graph.bit:
        return "cannot tell: no gradient passes through it to the output"
    source = graph.core(call["node"])[0]
    onto = [n for n, (_, skip, _) in enumerate(sums) if graph.same[skip] & mine]
    into = [n for n, (_, _, branch) in enumerate(sums) if graph.up[branch] & mine]
    behind, stream = graph.norm.get(source), [node for node, _, _ in sums]
    before = graph.core(behind["node"])[0] if behind else source
    if onto and not (into and into[0] < onto[0]):
        if behind or source in stream:
            return "post" if source in stream else "post, of a normed input"
        later = any(graph.up[source] & graph.bit[node] for node in stream)
        return "between stages" if later else "embedding"
    if not sums:
        return "cannot tell: no residual sum (a product that mixes several streams?)"
    if not into:
        end = "final, of a normed input" if behind else "final"
        return end if before in stream else "head"
    early = not any(graph.up[source] & graph.bit[node] for node in stream)
    if early and all(graph.up[sums[n][1]] & mine for n in into):
        return "before the stream"
    if any(graph.same[sums[n][2]] & mine for n in into):
        return "branch output"
    if any(graph.same[sums[n][1]] & graph.bit[source] for n in into):
        return "pre"
    if (roles[0] | roles[1]) & mine:
        return "QK" if not roles[1] & mine else "V" if not roles[0] & mine else "QK and V"
    if behind and any(graph.same[sums[n][1]] & graph.bit[before] for n in into):
        return "pre, of a normed input"
    end = "final of a stack, of a normed input" if behind else "final of a stack"
    return end if before in stream else "inside a branch"


def branches(graph: Graph, norms: list[Any], sums: list[Any], products: int) -> list[list[Any]]:
    """For each residual sum with a norm: its placement, the factors of the skip and the branch."""
    told: list[list[Any]] = []
    calls = [
        (kind, c)
        for n in norms
        for kind, c in zip(n["places"], n["calls"], strict=False)
        if c["node"] in graph.bit
    ]
    reads = {id(c): graph.core(c["node"]) for _, c in calls}
    for node, skip, branch in sums:
        new = graph.up[branch] & ~graph.up[skip]
        near = [(kind, c) for kind, c in calls if new & graph.bit.get(c["out"].grad_fn, 0)]
        pre = [
            c for kind, c in near if kind == "pre" and graph.same[skip] & graph.bit[reads[id(c)][0]]
        ]
        out = any(
            kind == "branch output" and graph.same[branch] & graph.bit[c["out"].grad_fn]
            for kind, c in near
        )
        post = any(kind == "post" and reads[id(c)][0] is node for kind, c in calls)
        both = [
            c
            for kind, c in calls
            if kind == "pre, and of the skip" and graph.same[skip] & graph.bit[c["out"].grad_fn]
        ]
        kind = "sandwich" if pre and out else "pre" if pre else "reordered" if out else ""
        kind = kind or ("pre, skip too" if both else "")
        kind = " and ".join(filter(None, (kind, "post" if post else "")))
        top = graph.core(branch)[0]
        halves = [bool(graph.up[p] & new & products) for p in graph.parents[top]]
        chained = (
            told
            and told[-1][3] is graph.core(skip)[0]
            and not graph.up[branch] & graph.bit[told[-1][3]]
        )
        if chained and (pre or not kind):
            told[-1][0] = f"parallel, {'two norms' if pre else 'one norm'}"
        elif kind:
            if pre and top.name().startswith("AddB") and sorted(halves) == [False, True]:
                kind = f"parallel, {'two norms' if len(pre) > 1 else 'one norm'}"
            scaled = reads[id(pre[0])][1] if pre else 1.0
            told.append(
                [
                    kind,
                    round(graph.core(skip)[1] / scaled, 4),
                    round(graph.core(branch)[1], 4),
                    node,
                ]
            )
    return told
