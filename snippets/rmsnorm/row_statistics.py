# Row mean and row std of RMSNorm's output against mu / sigma of its input: theory and spread.
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(100)
d_model, rows_per_seed = 512, 32
ratios = np.round(np.linspace(0, 4, 17), 2)  # mu / sigma of the distribution the entries come from


def rows(ratio: float, seed: int) -> torch.Tensor:
    torch.manual_seed(seed)
    return F.rms_norm(torch.randn(rows_per_seed, d_model) + ratio, (d_model,), eps=1e-6)


spans = []  # percentiles of row mean and row std
for ratio in ratios:
    y = torch.cat([rows(ratio, seed) for seed in seeds])
    both = torch.stack([y.mean(-1), y.std(-1, correction=0)], dim=-1)  # (rows, 2)
    spans.append(np.percentile(both.numpy(), [5, 50, 95], axis=0))
low, measured, high = np.array(spans).transpose(1, 0, 2)  # (ratios, 2) each
mean_theory, std_theory = ratios / np.sqrt(1 + ratios**2), 1 / np.sqrt(1 + ratios**2)
theory = np.column_stack([mean_theory, std_theory])
follows_theory = bool(np.abs(measured - theory).max() < 0.005)
at = {str(r): i for i, r in enumerate(ratios)}
row_mean = {k: float(measured[i, 0]) for k, i in at.items()}
row_std = {k: float(measured[i, 1]) for k, i in at.items()}
half_width = {k: float((high[i, 0] - low[i, 0]) / 2) for k, i in at.items()}  # of the row mean
print(f"median row mean and row std follow theory within 0.005: {follows_theory}")
print(f"mu / sigma = 4: row mean {row_mean['4.0']:.2f}, row std {row_std['4.0']:.2f}")

fig, ax = plt.subplots()
for k, label in enumerate(("row mean", "row std")):
    ax.fill_between(ratios, low[:, k], high[:, k], color=f"C{k}", alpha=0.3, linewidth=0)
    ax.plot(ratios, theory[:, k], "--", color=f"C{k}")
    ax.plot(ratios, measured[:, k], "os"[k], color=f"C{k}")
    ax.text(3.2, theory[-4, k] + (-0.09 if k == 0 else 0.05), label)
ax.set(xlabel="mean / standard deviation of the input", ylabel="of the output of RMSNorm")
plt.savefig("row_statistics.svg")
table = np.column_stack([ratios, theory, measured, low, high])
header = "ratio,mean_theory,std_theory,mean,std,mean_5%,std_5%,mean_95%,std_95%"
np.savetxt("row_statistics.csv", table, "%.3g", ",", header=header, comments="")
