# Finds the norms of any nn.Module: what each does, by trying it (norm_kind.py); where it stands, by
# the autograd graph of one run (norm_graph.py) and by a run in which all but the norms is zero
# reads: snippets/models/norm_kind.py, snippets/models/norm_graph.py
import copy
import runpy
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

_kind, _graph = runpy.run_path("norm_kind.py"), runpy.run_path("norm_graph.py")
describe, unit, same = _kind["describe"], _kind["unit"], _kind["same"]
Functional, Graph = _kind["Functional"], _graph["Graph"]
place, branches = _graph["place"], _graph["branches"]


def tensors(value: Any) -> list[Tensor]:
    inner = value.values() if isinstance(value, dict) else value
    if isinstance(value, (list, tuple, dict)):
        return [x for item in inner for x in tensors(item)]
    return [value] if isinstance(value, Tensor) else []


class Input(torch.autograd.Function):
    """Marks where a floating input enters the graph."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads


class Trace(TorchFunctionMode):
    """Runs a model once, and keeps what went into and out of each module and norm function."""

    def __init__(self, model: nn.Module, args: Any, options: Any) -> None:
        super().__init__()
        self.calls: list[dict[str, Any]] = []
        self.open: list[dict[str, Any]] = []
        self.by_hand: list[nn.Module] = []

        def enter(module: nn.Module, args: Any, options: Any) -> None:
            given = [x for x in tensors((args, options)) if x.is_floating_point()]
            call = {
                "module": module,
                "owner": module,
                "args": args,
                "options": options,
                "count": len(given),
            }
            call |= {"x": given[0] if given else None, "depth": len(self.open)}
            self.open.append(call | {"node": given[0].grad_fn if given else None})

        def leave(module: nn.Module, args: Any, output: Any) -> None:
            self.calls.append(self.open.pop() | {"out": output})

        hooks = [m.register_forward_pre_hook(enter, with_kwargs=True) for m in model.modules()]
        hooks += [m.register_forward_hook(leave) for m in model.modules()]
        with self:
            self.end = tensors(model(*args, **options))
        for hook in hooks:
            hook.remove()

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), options: Any = None
    ) -> Any:
        node = getattr(args[0], "grad_fn", None) if args and isinstance(args[0], Tensor) else None
        output = function(*args, **(options or {}))
        owner = self.open[-1]["module"] if self.open else None
        if function in (F.layer_norm, F.rms_norm, F.normalize) and owner:
            call = {
                "module": Functional(function, args[1:], options or {}),
                "owner": owner,
                "node": node,
            }
            call |= {"args": args[:1], "options": {}, "x": args[0], "count": 1, "depth": -1}
            self.calls.append(call | {"out": output})
        elif getattr(function, "__name__", "") == "rsqrt" and owner:
            self.by_hand.append(owner)
        return output


def zeroed(model: nn.Module, blocks: Any, calls: Any, norms: list[Any]) -> dict[str, str]:
    """What each block makes of 3x + 1 when all but its norms is zero: the stream's norms show."""
    silent, found = copy.deepcopy(model), {}
    ones = {
        n
        for norm in norms
        for n, k in norm["own"].items()
        if k == norm["w"] and norm["weight"] != "1 + w"
    }
    for name, p in silent.named_parameters():
        p.data.fill_(float(name in ones))
    for name, block in model.named_modules():
        call = next((c for c in calls if c["module"] is block and c["x"] is not None), None)
        inner = {*block.modules()} & {c["owner"] for n in norms for c in n["calls"]}
        if not call or block not in blocks or not inner:
            continue
        x = 3 * torch.randn_like(call["x"]) + 1
        args = [x if value is call["x"] else value for value in call["args"]]
        options = {k: x if v is call["x"] else v for k, v in call["options"].items()}
        y = tensors(silent.get_submodule(name)(*args, **options))[0]
        if y.shape == x.shape:
            c = ((x * y).sum() / x.pow(2).sum()).item()
            forms = {
                "LayerNorm(x)": unit(x, "LayerNorm", x.shape[-1]),
                "RMSNorm(x)": unit(x, "", x.shape[-1]),
            }
            forms["x" if abs(c - 1) < 1e-4 else f"{c:.4g} x"] = c * x
            if abs(c) > 1e-4:  # else it is a branch by itself
                found[name] = next(
                    (form for form, z in forms.items() if same(z, y, 1e-2)), "neither"
                )
    return found


def find_norms(model: nn.Module, *args: Any, **options: Any) -> dict[str, Any]:
    """Every norm of `model`, as it runs on the given inputs."""
    torch.manual_seed(0)
    model, inputs = copy.deepcopy(model).float().eval(), [*args, *options.values()]
    for p in model.parameters():
        p.requires_grad_(p.is_floating_point())
    given = [
        Input.apply(x.requires_grad_()) if torch.is_tensor(x) and x.is_floating_point() else x
        for x in inputs
    ]
    trace = Trace(model, given[: len(args)], dict(zip(options, given[len(args) :], strict=True)))
    names: dict[Any, list[str]] = {}
    for name, module in model.named_modules(remove_duplicate=False):
        names.setdefault(module, []).append(name)
    norms: list[dict[str, Any]] = []
    found: set[Any] = set()
    for module in model.modules():  # not called: tried on a guess of its width
        sizes = [p.numel() for p in module.parameters(recurse=False) if p.dim() == 1]
        if (
            sizes
            and not [*module.children()]
            and all(c["module"] is not module for c in trace.calls)
        ):
            x = torch.zeros(2, 3, sizes[0])
            call: dict[str, Any] = {
                "module": module,
                "owner": module,
                "args": (x,),
                "options": {},
                "x": x,
                "out": x,
                "count": 1,
                "depth": 0,
            }
            trace.calls.append(call | {"guess": True})
    for call in sorted(trace.calls, key=lambda c: -c["depth"]):  # the innermost ones before others
        module, owner = call["module"], call["owner"]
        if call["x"] is None or found & {owner, *module.modules()}:
            continue
        try:
            with torch.no_grad():
                made = describe(module, call)
        except RuntimeError:  # the guess was wrong
            if "guess" not in call:
                raise
            continue
        if made:
            found.add(module)
            function = f": F.{module.function.__name__}" if module is not owner else ""
            made["name"] = " = ".join(names[owner]) + function
            tensors_of = module.given if function else dict(module.named_parameters())
            made["own"] = {
                n: k for n, p in model.named_parameters() for k, q in tensors_of.items() if p is q
            }
            made["calls"] = [c for c in trace.calls if c["module"] is module and "guess" not in c]
            norms.append(made)
    graph = Graph(trace.end, [c for n in norms for c in n["calls"]])
    sums, (*roles, products) = graph.sums(), graph.attention()
    for n in norms:
        n["places"] = [place(graph, c, sums, roles) for c in n["calls"]] or [
            "cannot tell: never called"
        ]
    lists = (nn.ModuleList, nn.Sequential)
    blocks = {
        b for m in model.modules() if isinstance(m, lists) for b in m if not isinstance(b, lists)
    }
    blocks -= {c["owner"] for n in norms for c in n["calls"] if c["module"] is c["owner"]}
    gates = {(b, c["node"]) for b in blocks for c in trace.calls if c["module"] is b}
    told = branches(graph, norms, sums, products)
    for n in norms:
        for number, c in enumerate(n["calls"]):
            mine, kind = [b for b in blocks if c["owner"] in {*b.modules()}], n["places"][number]
            if kind in ("post", "embedding") and any((b, c["node"]) in gates for b in mine):
                n["places"][number] = "pre, and of the skip"
            elif (
                mine and kind in ("final", "final of a stack") and any("post" in t[0] for t in told)
            ):
                n["places"][number] = "post"
    if any("pre, and of the skip" in n["places"] for n in norms):
        for n in norms:
            n["places"] = ["pre, and of the skip" if k == "post" else k for k in n["places"]]
    told = branches(graph, norms, sums, products)
    hand = [
        f"{names[m][0]}: cannot tell: a norm by hand"
        for m in dict.fromkeys(trace.by_hand)
        if m not in found
    ]
    shapes = [c["x"].shape for c in trace.calls if c["module"] in blocks and c["x"] is not None]
    reads = [c["x"].shape for n in norms for c in n["calls"]]
    streams = [s[-2] for s in shapes if len(s) == 4 and (*s[:2], s[3]) in map(tuple, reads)]
    pre = [n for n in norms if "pre" in n["places"]]  # one tensor may hold the streams side by side
    streams += [n["calls"][0]["x"].shape[-1] // n["width"] for n in pre]
    return {
        "norms": norms,
        "branches": [t[:3] for t in told],
        "blocks": zeroed(model, blocks, trace.calls, norms),
        "problems": hand,
        "streams": max((n for n in streams if n > 1), default=0),
    }
