# Which norms does an nn.Module have, and where? What each does is found by trying it; where it
# stands, by the autograd graph of one run, and by a run with all parameters but the norms' at zero
import copy
from contextlib import suppress
from functools import partial, reduce
from operator import or_
from typing import Any, NamedTuple
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map_only

Call = dict[str, Any]
# steps of autograd that hand a tensor on: views, parts, copies, sums, factors, the cap of scores
PASSES = "View Reshape Alias Transpose Permute TBackward Expand Squeeze Unsqueeze AsStrided Slice "
PASSES += "Select Unbind Split Chunk Cat Stack Repeat Index Gather Where MaskedFill Roll Flip Clone"
PASSES += " Copy ToCopy ConstantPad AddB SubB Neg MulB DivB Sum Tanh"
PRODUCTS = ("Mm", "Addmm", "Bmm", "Baddbmm", "Convolution", "Fft")
# what a residual sum is called, by the place of the norms at it
PLACEMENT = {"pre": "pre", "branch output": "reordered", "pre, and of the skip": "pre, skip too"}


def floats(tree: Any) -> list[Tensor]:
    return [x for x in tree_leaves(tree) if isinstance(x, Tensor) and x.is_floating_point()]


class Trace(TorchFunctionMode):
    """Keeps the calls of each module, and of functions that norm: what went in, and came out."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[Any, list[Call]] = {}
        self.inside: list[Call] = []  # the calls that are under way

    def keep(self, module: Any, run: Any, state: list[Tensor], args: Any, more: Any) -> Any:
        given = [x for x in floats((args, more)) if all(x is not p for p in state)]
        x, inside = (*given, torch.zeros(()))[0], self.inside
        swap = lambda z, values: {k: z if v is x else v for k, v in values}  # noqa: E731
        call = {"module": module, "x": x, "inside": inside, "state": state, "count": len(given)}
        call["again"] = lambda z: run(*swap(z, enumerate(args)).values(), **swap(z, more.items()))
        call["step"] = x.grad_fn  # now: it may be changed in place
        self.inside = [*inside, call]
        call["out"] = run(*args, **more)
        self.inside = inside
        self.calls.setdefault(module, []).append(call)
        return call["out"]

    def __torch_function__(self, f: Any, types: Any, args: Any = (), more: Any = None) -> Any:
        run, more, name = partial(f), more or {}, getattr(f, "__name__", "")
        if self.inside and (f in (F.layer_norm, F.rms_norm, F.normalize) or name == "rsqrt"):
            return self.keep(run, run, floats((args, more))[1:], args, more)
        return run(*args, **more)


def unit(x: Tensor, family: str, size: int, eps: float = 0.0) -> Tensor:
    """The textbook norm over groups of `size` features, without weight."""
    x = x.unflatten(-1, (-1, size))
    x = x - x.mean(-1, keepdim=True) if family == "LayerNorm" else x
    root = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return (F.normalize(x, dim=-1) if family == "L2" else x * root).flatten(-2)


def same(a: Tensor, b: Tensor, tolerance: float = 1e-3) -> bool:
    return a.shape == b.shape and bool((a - b).norm() <= tolerance * a.norm())


def solve_eps(f: Any, family: str, size: int, shape: Any) -> tuple[Any, str]:
    """eps and where it stands, from what is kept of a tiny input and of one as large as eps."""
    v = unit(torch.randn(shape), "LayerNorm", size)  # mean 0, mean square 1
    kept = lambda t: (f(t * v).norm() / f(100 * v).norm()).item()  # noqa: E731
    if kept(1e-18) > 0.5:
        return None, "none"
    eps = 1e-18 / kept(1e-18)  # or its root
    places = {0.5**0.5: "in the root", 0.5: "outside the root", 1.0: "a lower bound"}
    where = places[min(places, key=lambda share: abs(share - kept(eps)))]
    eps *= size**0.5 if family == "L2" else 1  # which sums, and takes no mean
    return float(f"{eps * eps if where == 'in the root' else eps:.3g}"), where


def cast_order(f: Any, made: Call, shape: Any, w: Tensor, b: Tensor) -> str:
    """In which precision the steps run when all is bf16: the order whose bits come out."""
    for p in (w, b):
        p.data = (0.5 + torch.rand(p.shape)).bfloat16() if p.requires_grad else p
    w, b = w.float() + (made["weight"] == "1 + w"), b.float()
    eps = made["eps"] if made["eps place"] == "in the root" else 0.0
    x = (3 * torch.randn(16, *shape)).bfloat16()
    norm = partial(unit, family=made["family"], size=made["width"], eps=eps)
    y, u, low = (
        torch.stack(zs) for zs in zip(*((f(z), norm(z.float()), norm(z)) for z in x), strict=True)
    )
    orders = {
        "fp32 to the end": (u * w + b).bfloat16(),
        "bf16 throughout": low * w.bfloat16(),
        "fp32 for the root alone": x * (u / x).bfloat16() * w.bfloat16(),
        "fp32, cast, then the weight": u.bfloat16() * w.bfloat16() + b.bfloat16(),
        "fp32 with 1 + w in bf16": (u * w.bfloat16() + b).bfloat16(),
    }
    shares = {order: (guess == y).double().mean().item() for order, guess in orders.items()}
    best = max(shares, key=lambda order: shares[order])
    if y.dtype != torch.bfloat16:
        return f"returns {str(y.dtype).removeprefix('torch.')}"
    return best if shares[best] > 0.99 else f"cannot tell: {best} gives {shares[best]:.0%} of bits"


def describe(call: Call, alone: bool) -> dict[str, Any] | None:
    """What is called, as a norm; None if it is none."""
    f, shape, params = call["again"], call["x"].shape, [p for p in call["state"] if p.requires_grad]
    if not isinstance(call["out"], Tensor) or call["out"].shape != shape or shape[-1:] < (2,):
        return None
    x = 100 * (torch.randn(shape) + 0.5)
    x = x + 20 * x.sign()  # far from zero
    y = f(x)
    if not y.norm() > 0 or not same(f(2 * x), y) or same(f(-x), y) or (y >= 0).all():
        return None  # not invariant to scale; or to sign as well; or a softmax
    made: dict[str, Any] = {"width": shape[-1], "weight": "none", "bias": False, "eps": None}
    made |= {"eps place": "none", "cast": "", "parameters": sum(p.numel() for p in params)}
    xs, w, b = 1e8 * (torch.randn(8, *shape) + 0.5), torch.ones(()), torch.zeros(())
    odd = torch.stack([(f(x) - f(-x)) / 2 for x in xs])  # without the bias
    sizes = [size for size in range(shape[-1], 0, -1) if shape[-1] % size == 0]
    for family, size in [(f, g) for f in ("RMSNorm", "LayerNorm") for g in sizes]:
        norm = unit(xs, family, size)
        slope = (norm * odd).sum(0) / norm.pow(2).sum(0).clamp_min(1e-20)
        if same(odd, slope * norm, 2e-3):
            break
    else:
        fused = {"family": "cannot tell: scale invariant, but no w * norm(x) + b (fused?)"}
        return made | fused if alone else None  # a part may end in a saturated tanh
    if size == 1:  # each feature by itself: no statistics, but perhaps a tanh of alpha * x
        low, high = ((f(torch.full(shape, t)) - f(-1e6 * x.abs())) / slope - 1 for t in (0.1, 0.5))
        tanh = same(5 * torch.atanh(low.clamp(-0.99, 0.99)), torch.atanh(high.clamp(-0.99, 0.99)))
        return made | {"family": "DyT", "weight": "w", "bias": True} if params and tanh else None
    made |= {"family": family, "width": size}
    for one in (None, *params):  # each in turn at one, all others at zero: an offset, or a factor
        for p in params:
            p.data = torch.full_like(p, float(p is one))
        gain, offset = f(x) - f(-x), f(x) + f(-x)
        if one is None:
            gain_0, offset_0 = gain, offset
        elif not torch.allclose(offset, offset_0, atol=1e-3):
            made["bias"], b = True, one
        elif not torch.allclose(gain, gain_0, atol=1e-3):
            ratio = round((gain_0.norm() / gain.norm()).item(), 2)  # a gate leaves the ratio alone
            told = {0.0: "w", 0.5: "1 + w"}.get(ratio, f"cannot tell: {ratio} of the gain at w = 0")
            made["weight"], w = "cannot tell: several" if w.requires_grad else told, one
    if not w.requires_grad and same(slope, torch.full_like(slope, size**-0.5), 1e-2):
        made["family"] = "L2"
    elif call["count"] > 1:
        made["cast"] = "not tried: several inputs"
    elif not w.requires_grad and not same(slope, torch.ones_like(slope), 1e-2):
        made["weight"] = "cannot tell: a factor that no floating parameter sets (quantized?)"
    if "cannot" in made["weight"]:
        return made
    for p in params:
        p.data = torch.full_like(p, float(p is w and made["weight"] == "w"))
    made["eps"], made["eps place"] = solve_eps(f, made["family"], size, shape)
    for p in floats(call["state"]):
        p.data = p.data.bfloat16()
    return made | {"cast": made["cast"] or cast_order(f, made, shape, w, b), "w": w}


class Value(NamedTuple):
    """A value of the run; its views and multiples count as itself. Sets of values are bits."""

    name: str = ""  # of the step of autograd that made it
    bit: int = 0
    up: int = 0  # what it was computed from, and itself
    same: int = 0  # of these what it hands on, as a term or a part
    above: tuple["Value", ...] = ()  # what its step took; of a residual sum: skip, then branch
    reads: Any = None  # of what a norm made: what it read
    factor: float = 1.0


def union(sets: Any) -> int:
    return reduce(or_, sets, 0)


class Graph:
    """The values of a run, which of them are residual sums, and what attention takes."""

    def __init__(self, ends: list[Tensor], sources: set[Any], calls: list[Call]) -> None:
        norms = {c["out"].grad_fn: c["step"] for c in calls}
        self.at: dict[Any, Value] = {}
        self.sums: list[Value] = []
        self.scores = self.values = products = 0
        steps: set[Any] = set()
        todo: list[Any] = [x.grad_fn for x in ends]
        dots: list[Value] = []
        while todo:
            if (step := todo.pop()) and step not in steps:
                steps.add(step)
                todo += [p for p, _ in step.next_functions]
        for number, step in enumerate(sorted(steps, key=lambda step: step._sequence_nr())):
            name, bit = step.name().removeprefix("Unsafe"), 1 << number
            above = tuple(self.at[p] for p, _ in step.next_functions if p in self.at)
            if not (above or step in sources or name.startswith(("Embedding", "Index"))):
                continue  # it does not depend on the input
            handed = above if name.startswith(tuple(PASSES.split())) and step not in norms else ()
            scaled = {"MulB": 1, "DivB": -1}.get(name[:4], 0)
            if scaled and len(handed) == 2:  # a value and its gate, which is narrower
                widths = [p._input_metadata[n].shape[-1:] for p, n in step.next_functions]
                handed = tuple(a for a, k in zip(above, widths, strict=True) if k > min(widths))
            up, same = union(a.up for a in above), union(a.same for a in handed)
            if len(handed) == 1:
                factor = handed[0].factor
                with suppress(RuntimeError, AttributeError):  # changed in place since
                    for x in (step._saved_self, step._saved_other) if scaled else ():
                        if x is not None and x.numel() == 1:
                            factor *= x.item() ** scaled
                self.at[step] = handed[0]._replace(up=up, factor=factor)
                continue
            made = Value(name, bit, up | bit, same | bit, above, self.at.get(norms.get(step)))
            products |= bit if name.startswith(PRODUCTS) else 0
            for a, b in (above, above[::-1]) if len(above) == 2 else ():
                computed = b.up & ~a.up & products
                if name.startswith("AddB") and computed and a.same & b.up & ~b.same:
                    made = made._replace(above=(a, b))
                    self.sums.append(made)
                    break
                if name.startswith("Bmm") and "Softmax" in a.name:
                    self.values |= b.same
            if name.startswith("Bmm"):
                dots.append(made)
            elif "Softmax" in name:
                asked = [dot for dot in dots if dot.bit & above[0].same]
                self.scores |= union(a.same for dot in asked for a in dot.above)
            self.at[step] = made

    def place(self, call: Call) -> tuple[str, int]:
        """Where a call of a norm stands: the first of these that holds; and at which sums."""
        made, read = (self.at.get(step, Value()) for step in (call["out"].grad_fn, call["step"]))
        call["read"], before = read, read.reads or read
        normed = ", of a normed input" if read.reads else ""
        at = lambda test: sum(s.bit for s in self.sums if test(*s.above))  # noqa: E731
        onto = at(lambda skip, branch: skip.same & made.bit)
        into = at(lambda skip, branch: branch.up & ~skip.up & made.bit)
        used = at(lambda skip, branch: (skip.up | branch.up) & made.bit)
        sums = at(lambda skip, branch: True)
        skip = onto if not into or (onto & -onto) <= (into & -into) else 0
        ends = [self.at.get(floats(block["out"])[0].grad_fn) for block in call["blocks"]]
        too = any(end and end.bit & sums for end in ends)  # a block that ends in a sum
        stream, score, value = before.bit & sums, self.scores & made.bit, self.values & made.bit
        places = {
            "cannot tell: no gradient passes through it to the output": not (made.up and read.up),
            "pre, and of the skip": skip if too else 0,
            f"post{normed}": stream if skip else 0,
            "between stages": skip and read.up & sums,
            "embedding": skip,
            "cannot tell: no residual sum (a product that mixes several streams?)": not sums,
            f"final{normed}": 0 if used else stream,
            "head": not used,
            "before the stream": not (read.up & sums or into),
            "branch output": at(lambda skip, branch: branch.same & made.bit) & into,
            "pre": at(lambda skip, branch: skip.same & read.bit) & into,
            "QK and V": score and value,
            "QK": score,
            "V": value,
            f"pre{normed}": at(lambda skip, branch: skip.same & before.bit) & into,
            f"final of a stack{normed}": stream,
            "inside a branch": 1,
        }
        return next((place, int(holds)) for place, holds in places.items() if holds)

    def branches(self, calls: list[Call]) -> list[list[Any]]:
        """For each residual sum with a norm: its placement, the factors of skip and branch."""
        told: list[list[Any]] = []
        for s in self.sums:
            skip, branch = s.above
            kinds = {c["kind"] for c in calls if c["sums"] & s.bit}
            pre = [c for c in calls if c["sums"] & s.bit and c["kind"] == "pre"]
            known = [name for place, name in PLACEMENT.items() if place in kinds]
            known = ["sandwich"] if len(known) > 1 else known
            kind = " and ".join(known + ["post"] * ("post" in kinds))
            halves = {bool(a.up & ~skip.up & self.scores) for a in branch.above}
            last = told[-1][3] if told else 0
            if last == skip.bit and not branch.up & last and (pre or not kind):
                told[-1][0] = f"parallel, {'two norms' if pre else 'one norm'}"
            elif kind:
                if pre and branch.name.startswith("AddB") and halves == {True, False}:
                    kind = f"parallel, {'two norms' if len(pre) > 1 else 'one norm'}"
                times = skip.factor / (pre[0]["read"].factor if pre else 1.0)
                told.append([kind, round(times, 4), round(branch.factor, 4), s.bit])
        return [line[:3] for line in told]


@torch.enable_grad()
def find_norms(model: nn.Module, *args: Any, **options: Any) -> dict[str, Any]:
    """Every norm of `model`, as it runs on the given inputs."""
    torch.manual_seed(0)
    model, trace, call_of = copy.deepcopy(model).cpu().float().eval(), Trace(), nn.Module.__call__
    for p in model.parameters():
        p.requires_grad_(p.is_floating_point())
    enter = lambda x: x.detach().cpu().requires_grad_(x.is_floating_point()).clone()  # noqa: E731
    args, options = tree_map_only(Tensor, enter, (args, options))
    sources = {x.grad_fn for x in floats((args, options))}  # now: they may be changed in place

    def traced(module: nn.Module, *args: Any, **more: Any) -> Any:
        state = floats([*module.parameters(), *module.buffers()])
        return trace.keep(module, partial(call_of, module), state, args, more)

    with patch.object(nn.Module, "__call__", traced), trace, sdpa_kernel(SDPBackend.MATH):
        ends, ran = floats(model(*args, **options)), {*trace.calls}
        for module in model.modules():  # not called: tried on a guess of its width
            sizes = [p.numel() for p in module.parameters(recurse=False) if p.dim() == 1]
            if sizes and module not in ran and not [*module.children()]:
                with suppress(Exception):  # the guess was wrong
                    module(torch.zeros(2, 3, sizes[0]))
    names: dict[Any, str] = {}
    for name, module in model.named_modules(remove_duplicate=False):
        names[module] = f"{names[module]} = {name}" if module in names else name
    norms: dict[Any, Call] = {}
    problems = []
    for module in sorted(trace.calls, key=lambda module: isinstance(module, partial)):
        call = trace.calls[module][0]
        function = module.func.__name__ if isinstance(module, partial) else ""
        parts = [call["inside"][-1]["module"]] if function else [*module.modules()]
        if norms.keys() & {*parts}:
            continue
        with torch.no_grad():
            norm = describe(call, len(parts) == 1)
        if norm:
            name = names[parts[0]] + (f": F.{function}" if function else "")
            norms[module] = norm | {"name": name, "calls": trace.calls[module] * (module in ran)}
        elif function == "rsqrt":
            problems.append(f"{names[parts[0]]}: cannot tell: a norm by hand")
    lists, calls = (nn.ModuleList, nn.Sequential), [c for n in norms.values() for c in n["calls"]]
    blocks = {b for m in model.modules() if isinstance(m, lists) for b in m}
    blocks -= {b for b in blocks if isinstance(b, lists) or b in norms}
    graph = Graph(ends, sources, calls)
    for c in calls:
        c["blocks"] = [b for b in c["inside"] if b["module"] in blocks]
        c["kind"], c["sums"] = graph.place(c)
    post = any(c["kind"] == "post" for c in calls)
    for c in calls:
        if post and c["blocks"] and c["kind"] in ("final", "final of a stack"):
            c["kind"] = "post"  # of the last block
    streams, told = [0], dict[str, str]()
    for n in norms.values():
        n["places"] = [c["kind"] for c in n["calls"]] or ["cannot tell: never called"]
        if "pre" in n["places"]:  # one tensor may hold several streams side by side
            streams.append(n["calls"][0]["x"].shape[-1] // n["width"])
    ones = [n.get("w") for n in norms.values() if n["weight"] == "w"]
    for p in model.float().parameters():
        p.data = torch.full_like(p, float(any(p is w for w in ones)))
    for norm, b in [(c, b) for c in calls for b in c["blocks"]]:
        x = 3 * torch.randn_like(b["x"]) + 1  # a norm hides behind a normed input
        y = floats(b["again"](x))[0]
        if x.dim() == 4 and x[..., 0, :].shape == norm["x"].shape:
            streams.append(x.shape[2])
        gain = (x * y).sum().item() / x.pow(2).sum().item() if y.shape == x.shape else 0
        if abs(gain) > 1e-4:  # else it is a branch by itself
            forms = {f"{f}(x)": unit(x, f, x.shape[-1]) for f in ("LayerNorm", "RMSNorm")}
            forms |= {f"{gain:.4g} x".removeprefix("1 "): gain * x, "neither": y}
            told[names[b["module"]]] = next(f for f, z in forms.items() if same(z, y, 1e-2))
    return {
        "norms": [*norms.values()],
        "branches": graph.branches(calls),
        "blocks": told,
        "problems": [*dict.fromkeys(problems)],
        "streams": max(n for n in streams if n != 1),
    }
