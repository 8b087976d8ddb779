# With q and k normalized, a logit is at most sqrt(d_k) g_q g_k, and aligned q and k reach it
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(200)
head_dims = [16, 32, 64, 128, 256]
n_keys, growth = 256, 100.0
gain_q, gain_k = 1.5, 0.8  # the learned weights, here one number each


def logits(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    d_k = q.shape[-1]
    q = gain_q * F.rms_norm(q, (d_k,))
    k = gain_k * F.rms_norm(k, (d_k,))
    return q @ k.mT / math.sqrt(d_k)


largest: dict[int, list[float]] = {d: [] for d in head_dims}
aligned: dict[int, list[float]] = {d: [] for d in head_dims}
changes = []  # of the logits, when q and k grow
for seed in seeds:
    for d_k in head_dims:
        generator = torch.Generator().manual_seed(1000 * seed + d_k)
        q = torch.randn(1, d_k, generator=generator)
        k = torch.randn(n_keys, d_k, generator=generator)
        random_logits = logits(q, k)  # (1, n_keys)
        largest[d_k].append(random_logits.abs().max().item())
        aligned[d_k].append(logits(q, q).item())
        grown = logits(growth * q, growth * k)
        changes.append((grown - random_logits).abs().max().item())

bound = {d: math.sqrt(d) * gain_q * gain_k for d in head_dims}
largest_median = {d: float(np.median(largest[d])) for d in head_dims}
highest = {d: max(largest[d]) for d in head_dims}
within_bound = all(highest[d] <= bound[d] for d in head_dims)
bound_is_met = all(abs(a / bound[d] - 1) < 1e-4 for d in head_dims for a in aligned[d])
growth_changes_nothing = max(changes) < 1e-3
for d in head_dims:
    print(f"d_k {d}: bound {bound[d]:.2f}, largest of {n_keys} random {largest_median[d]:.2f}")
print(f"within the bound: {within_bound}, met by aligned q and k: {bound_is_met}")
print(f"q and k {growth:.0f} times larger change nothing: {growth_changes_nothing}")

low, high = np.array([np.percentile(largest[d], [5, 95]) for d in head_dims]).T
fig, ax = plt.subplots()
ax.plot(head_dims, list(bound.values()), "--", color="C1")
ax.plot(head_dims, [np.median(aligned[d]) for d in head_dims], "o", color="C1")
ax.fill_between(head_dims, low, high, alpha=0.3, color="C0", linewidth=0)
ax.plot(head_dims, list(largest_median.values()), color="C0", marker="s")
ax.text(150, 0.82 * bound[256], "bound, and aligned q and k", color="C1", ha="right")
ax.text(256, 1.15 * high[-1], f"largest of {n_keys} random keys", color="C0", ha="right")
ax.set(xlabel="head dimension", ylabel="largest |logit|", ylim=(0, None))
plt.savefig("bound.svg")
table = np.column_stack([head_dims, list(bound.values()), list(largest_median.values()), low, high])
np.savetxt("bound.csv", table, "%.4g", ",", header="d_k,bound,random_p50,p5,p95", comments="")
