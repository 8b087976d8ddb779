# At gain 1 the norm still wanders: its spread over random weights, by depth and width.
import math

import matplotlib.pyplot as plt
import numpy as np
import torch

seeds = range(300)
depth, widths = 20, [16, 64, 256]
central_share, z_score = 0.9, 1.645  # of a normal law: this share lies within z_score deviations


def log_norms(d_model: int, seed: int) -> torch.Tensor:
    torch.manual_seed(seed)
    path = [torch.randn(1, d_model)]
    for _ in range(depth):
        path.append(path[-1] @ (torch.randn(d_model, d_model) / math.sqrt(d_model)))  # gain 1
    norms = torch.cat(path).norm(dim=-1)
    return (norms / norms[0]).log()


fig, ax = plt.subplots()
layers = np.arange(depth + 1)
columns = [layers]
drift, drift_theory, spread, spread_theory, high_over_low = {}, {}, {}, {}, {}
for k, d in enumerate(widths):
    logs = torch.stack([log_norms(d, i) for i in seeds]).numpy()  # (seeds, depth + 1)
    half = torch.tensor(d / 2)  # one squared gain is chi-squared with d degrees of freedom, over d
    mean_step = (math.log(2 / d) + torch.digamma(half).item()) / 2
    std_step = math.sqrt(torch.polygamma(1, half).item()) / 2
    drift[f"d={d}"], drift_theory[f"d={d}"] = float(logs[:, -1].mean()), depth * mean_step
    spread[f"d={d}"], spread_theory[f"d={d}"] = float(logs[:, -1].std()), depth**0.5 * std_step
    bottom, middle, top = np.exp(np.percentile(logs, [5, 50, 95], axis=0))
    ax.fill_between(layers, bottom, top, alpha=0.3, color=f"C{k}", linewidth=0)
    mean, std = mean_step * layers, std_step * layers**0.5
    low, high = np.exp(mean - z_score * std), np.exp(mean + z_score * std)
    ax.plot(layers, low, "--", layers, high, "--", color=f"C{k}")  # theory: log is nearly normal
    ax.annotate(f"d = {d}", (depth, low[-1]), (4, 0), textcoords="offset points", va="center")
    high_over_low[f"d={d}"] = float(high[-1] / low[-1])
    columns += [bottom, middle, top]
    print(f"d = {d:3}: std of log(norm) at the last layer {spread[f'd={d}']:.1f}", end=", ")
    print(f"theory {spread_theory[f'd={d}']:.2f}")
ax.set(yscale="log", xlabel="layer", ylabel="norm divided by its start", xlim=(0, depth + 3))
ax.set_xticks([0, 5, 10, 15, 20])
ax.set_yticks([0.2, 0.5, 1, 2], ["0.2", "0.5", "1", "2"], minor=False)
ax.minorticks_off()
plt.savefig("spread_and_width.svg")
header = "layer," + ",".join(f"d={d} {p}" for d in widths for p in ("5%", "median", "95%"))
table = np.column_stack(columns)
np.savetxt("spread_and_width.csv", table, "%.4g", ",", header=header, comments="")
