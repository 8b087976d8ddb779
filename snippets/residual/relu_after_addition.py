# ReLU after the addition (ResNet of 2015) against nothing after it (2016): mean and open paths
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(50)
d_model, tokens, depth = 128, 16, 54  # blocks

means, opens, identity_means = [], [], []
for seed in seeds:
    torch.manual_seed(seed)
    x = torch.randn(tokens, d_model)
    v1, v2 = torch.relu(x), x  # the streams of the two forms
    is_open = x > 0  # has the identity path of this entry passed all the ReLUs so far?
    mean, still, plain = [v1.mean() / v1.pow(2).mean().sqrt()], [is_open.float().mean()], []
    for _ in range(depth):
        up = torch.randn(d_model, d_model) / d_model**0.5
        down = torch.randn(d_model, d_model) * (2 / d_model) ** 0.5
        # each branch normalizes what it reads, so all writes have mean square one
        write1 = torch.relu(F.layer_norm(v1, (d_model,)) @ up) @ down
        write2 = torch.relu(F.layer_norm(v2, (d_model,)) @ up) @ down
        is_open &= v1 + write1 > 0
        v1, v2 = torch.relu(v1 + write1), v2 + write2
        mean.append(v1.mean() / v1.pow(2).mean().sqrt())
        still.append(is_open.float().mean())
        plain.append(v2.mean() / v2.pow(2).mean().sqrt())
    means.append(torch.stack(mean))
    opens.append(torch.stack(still))
    identity_means.append(torch.stack(plain))
mean_runs, open_runs = (torch.stack(v).double().numpy() for v in (means, opens))

blocks = np.arange(depth + 1)
# an entry is a random walk, reflected at zero: |Gaussian|, whose mean over its rms is
mean_theory = math.sqrt(2 / math.pi)
# a walk of n symmetric steps stays above zero with probability C(2n, n) / 4^n
open_theory = np.array([math.comb(2 * n, n) / 4**n for n in range(1, depth + 2)])
mean_at_end = float(np.median(mean_runs[:, -1]))
mean_at_start = float(np.median(mean_runs[:, 0]))
open_at_end, open_at_end_theory = float(open_runs[:, -1].mean()), float(open_theory[-1])
open_at_ten, open_at_ten_theory = float(open_runs[:, 10].mean()), float(open_theory[10])
pre_mean_at_end = float(torch.stack(identity_means)[:, -1].mean())
pre_mean_stays_near_zero = abs(pre_mean_at_end) < 0.03
print(f"mean over rms after {depth} blocks: {mean_at_end:.2f}, theory {mean_theory:.2f}")
print(f"without the ReLU on the stream: {abs(pre_mean_at_end):.2f}")
print(f"open identity paths: {open_at_end:.3f}, theory {open_at_end_theory:.3f}")

for stem, runs, theory in (
    ("open", open_runs, open_theory),
    ("mean", mean_runs, np.full(depth + 1, mean_theory)),
):
    low, middle, high = np.percentile(runs, [5, 50, 95], axis=0)
    fig, ax = plt.subplots()
    ax.fill_between(blocks, low, high, alpha=0.3, color="C0", linewidth=0)
    ax.plot(blocks, middle, color="C0")
    ax.plot(blocks, theory, "--", color="C1")
    other = 1.0 if stem == "open" else 0.0
    ax.axhline(other, color="C2", linestyle="-.")
    ax.text(depth, other - 0.03, "nothing after the addition", color="C2", ha="right", va="top")
    ax.set(xlabel="blocks", ylim=(-0.15, 1.05))
    if stem == "open":
        ax.text(20, 0.2, "ReLU after the addition")
        ax.set_ylabel("share of entries with an open identity path")
    else:
        ax.text(20, 0.55, "ReLU after the addition")
        ax.set_ylabel("mean of the stream / its rms")
    plt.savefig(f"{stem}.svg")
    table = np.column_stack([blocks, middle, low, high, theory])
    np.savetxt(f"{stem}.csv", table, "%.4g", ",", header="blocks,p50,p5,p95,theory", comments="")
