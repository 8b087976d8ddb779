# What kind of norm is a module? Family, width, weight, bias, eps and cast order, found by trying
import copy
import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def unit(x: Tensor, family: str, size: int, eps: float = 0.0) -> Tensor:
    """The textbook norm over groups of `size` features, without weight."""
    x = x.unflatten(-1, (-1, size))
    x = x - x.mean(-1, keepdim=True) if family == "LayerNorm" else x
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)).flatten(-2)


def same(a: Tensor, b: Tensor, tolerance: float = 1e-3) -> bool:
    return a.shape == b.shape and bool((a - b).norm() <= tolerance * a.norm())


def fit(f: Any, u: Any, shape: Any) -> tuple[Tensor, Tensor, float]:
    """f = slope * u + offset, feature by feature; and how far f is from that."""
    xs = [100 * (torch.randn(shape) + 0.5) for _ in range(8)]
    us, ys = torch.stack([u(x) for x in xs]), torch.stack([f(x) for x in xs])
    du, dy = us - us.mean(0), ys - ys.mean(0)
    slope = (du * dy).sum(0) / du.pow(2).sum(0).clamp_min(1e-20)
    return slope, ys.mean(0) - slope * us.mean(0), ((dy - slope * du).norm() / dy.norm()).item()


def solve_eps(f: Any, made: dict[str, Any], shape: Any) -> tuple[Any, str]:
    """eps and where it stands, from inputs so small that it dampens them."""
    v = unit(torch.randn(shape), "LayerNorm", made["width"])  # mean 0, mean square 1
    full = f(100 * v).norm()
    low, high = -16.0, 2.0  # powers of ten; between them much of the output is lost
    if f(10**low * v).norm() > 0.6 * full:
        return None, "none"
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if f(10**middle * v).norm() < 0.6 * full else (low, middle)
    t = 10**high
    kept, later = ((f(k * t * v).norm() / full).item() for k in (1, 3))
    inside, outside = t * t * (1 / kept**2 - 1), t * (1 / kept - 1)
    forms = {  # eps by each form, and what it would keep of a larger input
        "in the root": (inside, 3 * t / math.sqrt(9 * t * t + inside)),
        "outside the root": (outside, 3 * t / (3 * t + outside)),
        "a lower bound": (t / kept, 1.0),
    }
    where = min(forms, key=lambda form: abs(forms[form][1] - later))
    count = made["width"] ** (1 if where == "in the root" else 0.5)  # L2 sums, and takes no mean
    return float(f"{forms[where][0] * (count if made['family'] == 'L2' else 1):.3g}"), where


def cast_order(module: nn.Module, made: dict[str, Any], shape: Any) -> str:
    """In which precision the steps run when all is bf16: the order whose bits come out."""
    half = copy.deepcopy(module).bfloat16()
    weight, bias = (dict(half.named_parameters()).get(made[name]) for name in ("w", "b"))
    for p in (weight, bias):
        if p is not None:
            p.data = (0.5 + torch.rand(p.shape)).bfloat16()
    w, b = (torch.full((), n) if p is None else p.float() for n, p in ((1.0, weight), (0.0, bias)))
    w = w + 1 if made["weight"] == "1 + w" else w
    eps = made["eps"] if made["eps place"] == "in the root" else 0.0
    scores: dict[str, float] = {}
    for _ in range(16):
        x = (3 * torch.randn(shape)).bfloat16()
        y, u, low = half(x), *(unit(z, made["family"], made["width"], eps) for z in (x.float(), x))
        if made["family"] == "L2":
            u, low = u / made["width"] ** 0.5, F.normalize(x, dim=-1)
        if y.dtype != torch.bfloat16:
            return f"returns {str(y.dtype).removeprefix('torch.')}"
        wide = x.unflatten(-1, (-1, made["width"])).float()
        root = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps).bfloat16()
        orders = {"fp32 to the end": (u * w + b).bfloat16(), "bf16 throughout": low * w.bfloat16()}
        orders["fp32 for the root alone"] = (wide.bfloat16() * root).flatten(-2) * w.bfloat16()
        if weight is not None:
            orders["fp32, cast, then the weight"] = u.bfloat16() * w.bfloat16() + b.bfloat16()
            orders["fp32 with 1 + w in bf16"] = (u * w.bfloat16() + b).bfloat16()
        for order, guess in orders.items():
            scores[order] = scores.get(order, 0) + (guess == y).double().mean().item() / 16
    best = max(scores, key=lambda order: scores[order])
    return best if scores[best] > 0.99 else f"cannot tell: {best} gives {scores[best]:.0%} of bits"


def describe(module: nn.Module, call: dict[str, Any]) -> dict[str, Any] | None:
    """What `module` does to a tensor like that of the call; None if it is no norm."""
    given, shape, module = call["x"], call["x"].shape, copy.deepcopy(module).float()
    if not isinstance(call["out"], Tensor) or call["out"].shape != shape or shape[-1] < 2:
        return None

    def f(x: Tensor) -> Tensor:
        args = [x if value is given else value for value in call["args"]]
        return module(*args, **{k: x if v is given else v for k, v in call["options"].items()})

    x = 100 * (torch.randn(shape) + 0.5)
    x = x + 20 * x.sign()  # far from zero
    y, alone = f(x), torch.cat((-3 * x[..., :1], x[..., 1:]), -1)
    if not y.norm() > 0 or not same(f(2 * x), y) or same(f(-x), y) or (y >= 0).all():
        return None  # not invariant to scale; or to sign as well; or a softmax
    params = {n: p for n, p in module.named_parameters() if p.is_floating_point()}
    made: dict[str, Any] = {
        "width": shape[-1],
        "weight": "none",
        "bias": False,
        "cast": "",
        "w": "",
        "b": "",
    }
    made |= {
        "eps": None,
        "eps place": "none",
        "parameters": sum(p.numel() for p in params.values()),
    }
    if same(f(alone)[..., 1:], y[..., 1:], 1e-6):  # each feature by itself: no statistics
        high, low, one = f(1e4 * x.abs()), f(-1e4 * x.abs()), torch.ones_like(x)
        gain, offset = (high - low) / 2, (high + low) / 2
        alpha = torch.atanh(((f(0.1 * one) - offset) / gain).clamp(-0.999, 0.999)) / 0.1
        tanh = params and same(f(0.5 * one), gain * torch.tanh(alpha / 2) + offset)
        return (
            made | {"family": "DyT", "weight": "w", "bias": True, "w": "weight"} if tanh else None
        )
    made["family"] = family = "LayerNorm" if same(f(x + 70), y) else "RMSNorm"
    for size in (g for g in range(shape[-1], 1, -1) if shape[-1] % g == 0):
        textbook = lambda x, size=size: unit(x, family, size)  # noqa: E731
        slope, _, error = fit(f, textbook, shape)
        if error < 2e-3:
            made["width"] = size
            break
    else:
        if [*module.children()]:  # a part that ends in a saturated tanh, say
            return None
        return made | {"family": "cannot tell: scale invariant, but no w * norm(x) + b (fused?)"}
    for name, p in params.items():  # one at a time, the others at zero: an offset, or a factor
        for q in params.values():
            q.data.zero_()
        gain, offset, _ = fit(f, textbook, shape)
        p.data.fill_(1.0)
        after, moved, _ = fit(f, textbook, shape)
        if not torch.allclose(offset, moved, atol=1e-3):
            made |= {"bias": True, "b": name}
        elif not torch.allclose(gain, after, atol=1e-3):
            ratio = round((gain.norm() / after.norm()).item(), 2)  # a gate leaves the ratio alone
            told = {0.0: "w", 0.5: "1 + w"}.get(ratio, f"cannot tell: {ratio} of the gain at w = 0")
            made |= {"weight": "cannot tell: several" if made["w"] else told, "w": name}
    if not made["w"] and same(slope, torch.full_like(slope, made["width"] ** -0.5), 1e-2):
        made["family"] = "L2"
    elif call["count"] > 1:
        made["cast"] = "not tried: several inputs"
    elif not made["w"] and not same(slope, torch.ones_like(slope), 1e-2):
        made["weight"] = "cannot tell: a factor that no floating parameter sets (quantized?)"
    for name, p in params.items():
        p.data.fill_(float(name == made["w"] and made["weight"] != "1 + w"))
    if "cannot" not in made["weight"]:
        made["eps"], made["eps place"] = solve_eps(f, made, shape)
        made["cast"] = made["cast"] or cast_order(module, made, shape)
    return made


class Functional(nn.Module):
    """A call of F.rms_norm or its like as a module, which it does not have."""

    def __init__(self, function: Any, args: Any, options: Any) -> None:
        super().__init__()
        self.function, self.rest = function, {**dict(enumerate(args)), **options}
        self.given = {f"p{k}": v for k, v in self.rest.items() if isinstance(v, Tensor)}
        self.p = nn.ParameterDict({k: v.detach().clone() for k, v in self.given.items()})

    def forward(self, x: Tensor) -> Tensor:
        now = {k: self.p.get(f"p{k}", v) for k, v in self.rest.items()}
        options = {k: v for k, v in now.items() if isinstance(k, str)}
        return self.function(x, *(v for k, v in now.items() if isinstance(k, int)), **options)
