# The article's computation: on its own seed, on other seeds, in other settings
from itertools import product

import torch
from torch import nn

seeds = range(2000)
article = [13.79, 12.15, 0.881, 6.19]  # total, identity, their ratio, without the residual
article_seed = 3


def norms(
    seed: int,
    up: nn.Linear,
    act: nn.Module,
    down: nn.Linear,
    scale: float = 1.0,
    early: bool = False,
) -> list[float]:
    """Total, identity, and without the residual: with another x, the same x, the same dL/dy."""
    branch = nn.Sequential(up, act, down)
    torch.manual_seed(seed)
    x = torch.randn(1, up.in_features)
    if not early:  # the weights take their random numbers before x does
        torch.manual_seed(seed)
    for layer in (up, down):
        layer.reset_parameters()
        layer.weight.data.mul_(scale)
    x = x if early else torch.randn(1, up.in_features)
    x, other_x = x.requires_grad_(), torch.randn(1, up.in_features, requires_grad=True)
    y = x + branch(x)
    (total,) = torch.autograd.grad(y.pow(2).sum(), x)
    (other,) = torch.autograd.grad(branch(other_x).pow(2).sum(), other_x)
    (same,) = torch.autograd.grad(branch(x).pow(2).sum(), x)
    return [v.norm().item() for v in (total, 2 * y, other, same, total - 2 * y)]


def agreements(total: float, identity: float, without: float) -> list[bool]:
    measured = zip((total, identity, identity / total, without), (2, 2, 3, 2), article, strict=True)
    return [round(value, digits) == stated for value, digits, stated in measured]


block = nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64)
total, identity, without, *_ = norms(article_seed, *block)
ratio = identity / total
print("article stated", article)
print("its code gives", [round(v, 3) for v in (total, identity, ratio, without)])

by_seed = [agreements(*norms(seed, *block)[:3]) for seed in seeds]
n_seeds = len(seeds)
seeds_with_all = sum(all(row) for row in by_seed)
seeds_with_without = sum(row[3] for row in by_seed)
some_seed_gives_ratio = any(row[2] for row in by_seed)
print(f"{n_seeds} seeds: all four {seeds_with_all}; without = {article[3]}: {seeds_with_without}")

# width of the stream, width of F over it, activation, bias, factor on the weights, x drawn early
activations = [nn.GELU(), nn.ReLU(), nn.Tanh(), nn.SiLU()]
by_setting = []
for d, ratio_of_widths, act in product((32, 64, 128), (1, 2, 4), activations):
    for bias, scale, early in product((True, False), (0.5, 1.0, 2.0, 3.0), (False, True)):
        inner = ratio_of_widths * d
        up, down = nn.Linear(d, inner, bias), nn.Linear(inner, d, bias)
        t, i, *readings = norms(article_seed, up, act, down, scale, early)
        for w, factor in product(readings, (1.0, 0.5)):  # the loss |y|^2, or 0.5 |y|^2
            by_setting.append(agreements(factor * t, factor * i, factor * w))
n_settings = len(by_setting)
most_together = max(sum(row) for row in by_setting)
print(f"{n_settings} settings: figures met together: at most {most_together}")
