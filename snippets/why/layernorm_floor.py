# Where LayerNorm stops holding the norm: weights so small that their output variance is below eps.
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(100)
d_model, depth, eps = 64, 20, 1e-5  # eps: the default of nn.LayerNorm
threshold = math.sqrt(eps / d_model)  # weight scale at which s^2 d = eps
scales = threshold * np.geomspace(0.25, 1000, 25)


def last_norm(scale: float, seed: int) -> float:
    torch.manual_seed(seed)
    x = F.layer_norm(torch.randn(1, d_model), (d_model,))
    for _ in range(depth):
        x = F.layer_norm(x @ (torch.randn(d_model, d_model) * scale), (d_model,), eps=eps)
    return x.double().norm().item()


measured = np.array([[last_norm(s, seed) for seed in seeds] for s in scales])  # (scales, seeds)
# Fixed point of r^2 = v / (v + eps) with v = s^2 d r^2: the norm settles at sqrt(d - eps / s^2).
theory = np.sqrt(np.maximum(d_model - eps / scales**2, 0))
low, middle, high = np.percentile(measured, [5, 50, 95], axis=1)
held = np.array([last_norm(0.3, seed) for seed in seeds])
smallest_at_0_3, largest_at_0_3 = held.min().item(), held.max().item()
scale_for_one_percent = math.sqrt(eps / (d_model * (1 - 0.99**2)))  # norm = 0.99 sqrt(d)
collapses_below_threshold = bool((measured[scales < threshold / 2] < 0.01).all())
print(f"threshold s = {threshold:.1e}; norm 1% low at s = {scale_for_one_percent:.1e}")
print(f"s = 0.3: {smallest_at_0_3:.4f} to {largest_at_0_3:.4f}")

fig, ax = plt.subplots()
ax.fill_between(scales, low, high, alpha=0.3, linewidth=0)
ax.plot(scales, middle, ".", color="C0")
ax.plot(scales, theory, "--", color="C1")  # dashes: theory
ax.axvline(threshold, color="C2", linestyle=":")
ax.annotate("s = sqrt(eps / d)", (threshold, 1), (8, 0), textcoords="offset points")
ax.set(xscale="log", xlabel="weight scale s", ylabel="norm after the last LayerNorm")
plt.savefig("layernorm_floor.svg")
header = "scale,theory,5%,median,95%"
columns = np.column_stack([scales, theory, low, middle, high])
np.savetxt("layernorm_floor.csv", columns, "%.4g", ",", header=header, comments="")
