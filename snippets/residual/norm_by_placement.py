# The size of a token through depth for four placements and three gains: formula and spread.
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(30)
d_model, depth, tokens = 128, 32, 16
gains = [0.5, 1.0, 1.5]  # of a linear block: weights of standard deviation gain / sqrt(d_model)
placements = ["plain", "residual", "pre", "post"]


def step(x: torch.Tensor, weight: torch.Tensor, placement: str) -> torch.Tensor:
    if placement == "plain":
        return x @ weight
    if placement == "residual":
        return x + x @ weight
    normed = F.rms_norm(x, (d_model,))
    return x + normed @ weight if placement == "pre" else F.rms_norm(x + x @ weight, (d_model,))


def formula(gain: float, placement: str, layer: int) -> float:
    """RMS of a token's features after `layer` blocks; 1 at the input."""
    square = {
        "plain": gain ** (2 * layer),
        "residual": (1 + gain**2) ** layer,
        "pre": 1 + gain**2 * layer,
        "post": 1.0,
    }
    return float(square[placement] ** 0.5)


def measure(gain: float, placement: str) -> np.ndarray:  # (seeds, depth + 1)
    curves = []
    for seed in seeds:
        torch.manual_seed(seed)
        x = F.rms_norm(torch.randn(tokens, d_model), (d_model,))
        curve = [1.0]
        for _ in range(depth):
            x = step(x, torch.randn(d_model, d_model) * gain / d_model**0.5, placement)
            curve.append(x.square().mean().sqrt().item())
        curves.append(curve)
    return np.array(curves)


fig, axes = plt.subplots(1, 3, sharey=True, figsize=(7.2, 3.2))
layers, columns, off = range(depth + 1), [np.arange(depth + 1)], []
at_end = {}  # after the last layer, by placement and gain: the formula
for ax, gain in zip(axes, gains, strict=True):
    for k, placement in enumerate(placements):
        curves = measure(gain, placement)
        theory = np.array([formula(gain, placement, layer) for layer in layers])
        middle = np.median(curves, 0)
        off.append(float(np.abs(np.log(middle / theory)).max() / depth))  # relative, per layer
        at_end[f"{placement} {gain}"] = float(theory[-1])
        low, high = np.percentile(curves, [5, 95], axis=0)
        ax.fill_between(layers, low, high, color=f"C{k}", alpha=0.3, linewidth=0)
        ax.plot(layers, theory, "--", color=f"C{k}")
        columns += [theory, middle]
        if gain == gains[-1]:
            ax.text(depth, theory[-1], placement, color=f"C{k}", va="bottom", ha="right")
    ax.set(title=f"gain {gain}", xlabel="layer", yscale="log")
axes[0].set(ylabel="RMS of a token")
plt.savefig("norm_by_placement.svg")
heads = [f"{p} {g} {w}" for g in gains for p in placements for w in ("formula", "median")]
header = ",".join(["layer", *heads])
np.savetxt(
    "norm_by_placement.csv", np.column_stack(columns), "%.4g", ",", header=header, comments=""
)

within = 0.005
follows = max(off) < within  # the median's error per layer, for all placements and gains
print(f"medians follow the formula within {within:.1%} a layer: {follows}")
for name, value in at_end.items():
    print(f"{name:14} {value:.4g} after {depth} layers")
