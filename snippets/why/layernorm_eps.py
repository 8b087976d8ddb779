# What eps does: the size of LayerNorm's output against the size of its input.
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

seeds = range(20)
d_model, quiet = 256, 0.001
scales = np.geomspace(1e-7, 1, 29)  # standard deviation of the input


def output_std(scale: float, eps: float, outside: bool = False) -> float:
    """By nn.LayerNorm, or with eps added to the standard deviation, outside the root."""
    total = 0.0
    for seed in seeds:
        torch.manual_seed(seed)
        z = torch.randn(16, d_model)  # (tokens, d_model)
        x = (z - 0.5) / z.std(-1, correction=0, keepdim=True) * scale  # std is `scale` exactly
        wrong = (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + eps)
        y = wrong if outside else nn.LayerNorm(d_model, eps=eps)(x)
        total += y.std(-1, correction=0).mean().item()
    return total / len(seeds)


corner = 1e-5**0.5  # where the variance equals eps
at_corner = output_std(corner, 1e-5)
loss = 0.01
loses_this_below = corner / (1 / (1 - loss) ** 2 - 1) ** 0.5
small_init = {str(eps): output_std(0.02, eps) for eps in (1e-5, 1e-6, 1e-12)}
inside_root, outside_root = output_std(quiet, 1e-5), output_std(quiet, 1e-5, outside=True)
print(f"input std {corner:.4f}: output std {at_corner:.3f} with eps 1e-05")
print("input std 0.02:", ", ".join(f"{std:.4f} with eps {eps}" for eps, std in small_init.items()))
print(f"input std {quiet}: {inside_root:.3f}, and with eps outside the root {outside_root:.3f}")

fig, ax = plt.subplots()
fine, table, follows_theory = np.geomspace(1e-7, 1, 200), [scales], True
for k, eps in enumerate([1e-12, 1e-6, 1e-5]):
    measured = np.array([output_std(scale, eps) for scale in scales])
    follows_theory &= bool(np.allclose(measured, scales / np.sqrt(scales**2 + eps), rtol=1e-4))
    ax.plot(fine, fine / np.sqrt(fine**2 + eps), color=f"C{k}")
    ax.plot(scales, measured, "o", color=f"C{k}")
    table.append(measured)
table.append(np.array([output_std(scale, 1e-5, outside=True) for scale in scales]))
ax.plot(scales, table[-1], "--", color="C3")
ax.text(1.4e-6, 0.74, "eps 1e-12")
ax.text(9e-4, 0.74, "eps 1e-06", ha="right")
ax.text(4e-3, 0.74, "eps 1e-05")
ax.text(1.3e-5, 0.36, "eps 1e-05\noutside the root")
ax.set(
    xscale="log",
    xlabel="standard deviation of the input",
    ylabel="standard deviation of the output",
)
plt.savefig("layernorm_eps.svg")
header = "input_std,eps_1e-12,eps_1e-6,eps_1e-5,eps_1e-5_outside"
np.savetxt("layernorm_eps.csv", np.column_stack(table), "%.4g", ",", header=header, comments="")
