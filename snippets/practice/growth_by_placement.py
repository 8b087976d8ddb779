# limits: 120 s
# Growth of the stream at initialization, and the share of it that each layer wrote, by placement
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(30)
d_model, depth, tokens, c = 64, 32, 16, 0.5  # a branch fed unit variance writes c d
kinds = ["Pre-LN", "LN-scaling", "Peri-LN", "Mix-LN", "Post-LN", "DyT"]
post_layers = depth // 4  # of Mix-LN
alpha = 0.5  # of DyT at initialization


def norm(x: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, (d_model,))


def stack(kind: str, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Squared norm / d after each layer, and each layer's share of the last stream."""
    torch.manual_seed(seed)
    parts = torch.zeros(depth + 1, tokens, d_model)  # the stream as a sum of what was written
    parts[0] = x = norm(torch.randn(tokens, d_model))
    square = [x.pow(2).mean()]
    for layer in range(1, depth + 1):
        a, b = torch.randn(2, d_model, d_model) / math.sqrt(d_model)  # Xavier
        is_post = kind == "Post-LN" or (kind == "Mix-LN" and layer <= post_layers)
        h = torch.tanh(alpha * x) if kind == "DyT" else x if is_post else norm(x)
        h = h / math.sqrt(layer) if kind == "LN-scaling" else h
        write = F.relu(h @ a) @ b
        parts[layer] = norm(write) if kind == "Peri-LN" else write
        x = x + parts[layer]
        if is_post:  # the norm acts on the sum, so on each part of it
            std = x.std(-1, correction=0, keepdim=True)
            parts, x = (parts - parts.mean(-1, keepdim=True)) / std, norm(x)
        square.append(x.pow(2).mean())
    share = (parts * x).sum((1, 2)) / x.pow(2).sum()  # projections on the stream: they sum to one
    return torch.stack(square), share


runs = {kind: [stack(kind, seed) for seed in seeds] for kind in kinds}
square = {k: torch.stack([s for s, _ in r]).double().numpy() for k, r in runs.items()}
share = {k: torch.stack([s for _, s in r]).double().numpy()[:, 1:] for k, r in runs.items()}

layers = np.arange(1, depth + 1)
harmonic = np.cumsum(1 / layers)
late = np.maximum(layers - post_layers, 0)
theory = {
    "Pre-LN": 1 + c * layers,
    "LN-scaling": 1 + c * harmonic,
    "Peri-LN": 1.0 + layers,
    "Mix-LN": 1 + c * late,
    "Post-LN": np.ones(depth),
}
fade = (1 + c) ** -(depth - layers + 1.0)  # what the later norms leave of a write of c d, over d
mix_end = 1 + c * (depth - post_layers)
share_theory = {
    "Pre-LN": np.full(depth, c / (1 + c * depth)),
    "LN-scaling": c / layers / (1 + c * harmonic[-1]),
    "Mix-LN": np.where(late > 0, c, c * (1 + c) ** -(post_layers - layers + 1.0)) / mix_end,
    "Post-LN": c * fade,
}
at_end = {k: float(np.median(v[:, -1])) for k, v in square.items()}
at_end_theory = {k: float(v[-1]) for k, v in theory.items()}
average = {k: v.mean(axis=0) for k, v in share.items()}
lower = depth // 2
last_share = {k: float(v[-1]) for k, v in average.items()}
last_share_theory = {k: float(v[-1]) for k, v in share_theory.items()}
early_share = {k: float(v[:lower].sum()) for k, v in average.items()}  # of the lower layers
all_share = {k: float(v.sum()) for k, v in average.items()}
dyt_first_write = float(np.median(square["DyT"][:, 1] - square["DyT"][:, 0]))
for k in kinds:
    low, high = np.percentile(square[k][:, -1], [5, 95])
    print(f"{k:17} squared norm / d {at_end[k]:.1f} ({low:.1f} to {high:.1f})", end="")
    print(f", theory {at_end_theory[k]:.1f}" if k in theory else "", end="")
    print(f"; last layer {last_share[k]:.1%}, lower {lower} layers {early_share[k]:.0%}")

fig, ax = plt.subplots()
columns = [layers]
for i, kind in enumerate(kinds):
    low, mid, high = np.percentile(square[kind][:, 1:], [5, 50, 95], axis=0)
    ax.fill_between(layers, low, high, color=f"C{i}", alpha=0.3, linewidth=0)
    ax.plot(layers, mid, color=f"C{i}")
    if kind in theory:
        ax.plot(layers, theory[kind], "--", color=f"C{i}")
    ax.text(depth + 0.5, mid[-1], kind, va="center", color=f"C{i}")
    columns += [mid, low, high]
ax.set(xlabel="layer l", ylabel="squared norm / d", yscale="log", xlim=(0, depth + 13))
ax.set_xticks([0, 8, 16, 24, 32])
plt.savefig("growth.svg")
names = [kind.replace(" ", "_") for kind in kinds]
header = ",".join(["layer", *(f"{n}_{q}" for n in names for q in ("p50", "p5", "p95"))])
np.savetxt("growth.csv", np.column_stack(columns), "%.4g", ",", header=header, comments="")

fig, ax = plt.subplots()
columns = [layers]
for i, kind in enumerate(kinds):
    if kind not in share_theory:
        continue
    low, mid, high = np.percentile(share[kind], [5, 50, 95], axis=0)
    ax.fill_between(layers, low, high, color=f"C{i}", alpha=0.3, linewidth=0)
    ax.plot(layers, mid, color=f"C{i}")
    ax.plot(layers, share_theory[kind], "--", color=f"C{i}")
    ax.text(depth + 0.5, mid[-1], kind, va="center", color=f"C{i}")
    columns += [mid, low, high]
ax.set(xlabel="layer l", ylabel="share of the last stream", yscale="log", ylim=(1e-3, 1))
ax.set(xlim=(0, depth + 13))
ax.set_xticks([0, 8, 16, 24, 32])
plt.savefig("share.svg")
names = [kind.replace(" ", "_") for kind in share_theory]
header = ",".join(["layer", *(f"{n}_{q}" for n in names for q in ("p50", "p5", "p95"))])
np.savetxt("share.csv", np.column_stack(columns), "%.4g", ",", header=header, comments="")
