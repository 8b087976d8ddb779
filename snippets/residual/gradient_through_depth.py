# Gradient norm at the input of a stack over the norm at its output, with and without the residual
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

seeds = range(100)
d_model = 64
depths = [1, 2, 4, 8, 16, 32, 64]

stacks: dict[str, list[torch.Tensor]] = {"residual": [], "plain": []}
for seed in seeds:
    torch.manual_seed(seed)
    blocks = [
        nn.Sequential(nn.Linear(d_model, d_model), nn.GELU(), nn.Linear(d_model, d_model)).double()
        for _ in range(depths[-1])
    ]
    x = torch.randn(1, d_model).double().requires_grad_()
    g = nn.functional.normalize(torch.randn(1, d_model).double())  # dL/dy, |g| = 1
    for kind, rows in stacks.items():
        h, norms = x, []
        for depth, block in enumerate(blocks, 1):
            h = h + block(h) if kind == "residual" else block(h)
            if depth in depths:
                norms.append(torch.autograd.grad(h, x, g, retain_graph=True)[0].norm())
        rows.append(torch.stack(norms))

# theory: a block multiplies the mean squared norm by 1 + rho^2, without the residual by rho^2
sigma2 = 1 / 3  # d_model times the variance of a default weight
u = torch.linspace(-10, 10, 4001).double()
weight = torch.softmax(-u.pow(2) / 2, dim=0)  # quadrature for a standard normal
theory: dict[str, list[float]] = {}
for kind in stacks:
    q, gain = 1.0, [1.0]  # q: mean square of the stream
    for _ in range(depths[-1]):
        z = u * math.sqrt(sigma2 * (q + 1 / d_model))
        density = torch.exp(-z.pow(2) / 2) / math.sqrt(2 * math.pi)
        slope = torch.special.ndtr(z) + z * density  # GELU'
        rho2 = sigma2**2 * (weight * slope.pow(2)).sum().item()
        written = sigma2 * ((weight * nn.functional.gelu(z).pow(2)).sum().item() + 1 / d_model)
        q = q + written if kind == "residual" else written
        gain.append(gain[-1] * math.sqrt(1 + rho2 if kind == "residual" else rho2))
    theory[kind] = gain

residual, plain = (torch.stack(rows).numpy() for rows in stacks.values())  # (seeds, depths)
percentiles = [5, 50, 95]
bands = {"residual": np.percentile(residual, percentiles, axis=0)}
bands["plain"] = np.percentile(plain, percentiles, axis=0)
residual_median = bands["residual"][1].tolist()
spread_factor = float(np.exp(np.log(residual[:, -1]).std()))  # one deviation of the logarithm
plain_median = bands["plain"][1].tolist()
identity_over_total = 1 / residual_median[-1]  # the path through no branch has norm |g| = 1
above_identity_in_every_seed = bool(residual[:, -1].min() > 1)
per_block = {kind: float(bands[kind][1, -1]) ** (1 / depths[-1]) for kind in stacks}
per_block_theory = {kind: theory[kind][-1] ** (1 / depths[-1]) for kind in stacks}
below_float32 = plain_median[-1] < torch.finfo(torch.float32).smallest_normal
for i, n in enumerate(depths):
    print(f"{n:2} blocks: residual {residual_median[i]:.1f}, plain {plain_median[i]:.0e}")
for kind in stacks:
    print(f"factor per block, {kind}: {per_block[kind]:.3f}, theory {per_block_theory[kind]:.3f}")

fig, axes = plt.subplots(1, 2)
for ax, kind, color in zip(axes, stacks, ("C0", "C1"), strict=True):
    ax.fill_between(depths, bands[kind][0], bands[kind][2], color=color, alpha=0.3, linewidth=0)
    ax.plot(depths, bands[kind][1], color=color, marker="o")
    ax.plot(theory[kind], color=color, linestyle="--")
    ax.set_xlabel("blocks")
axes[0].set_yscale("log", base=2)
axes[1].set_yscale("log")
axes[0].text(2, 5.5, "with the residual\n(dashes: theory)")
axes[1].text(20, 1e-3, "without")
axes[0].set_ylabel("gradient norm, input / output")
plt.savefig("depth.svg")
columns = [depths, *bands["residual"], np.array(theory["residual"])[depths]]
columns += [*bands["plain"], np.array(theory["plain"])[depths]]
header = "blocks," + ",".join(f"{k} {c}" for k in stacks for c in ("p5", "p50", "p95", "theory"))
np.savetxt("depth.csv", np.column_stack(columns), "%.3g", ",", header=header, comments="")
