# How noisy are the statistics of a batch of sequences? Their spread over batches, and its theory.
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

seeds = range(200)
batch_sizes = [2, 4, 8, 16, 32]
tokens, d_model = 32, 64
correlations = [0.0, 0.25]  # rho: between two tokens of one sequence, in each feature


def draw(seed: int, rho: float) -> torch.Tensor:
    """Features of variance 1: one part common to the sequence, one part the token's own."""
    torch.manual_seed(seed)
    common = torch.randn(max(batch_sizes), 1, d_model)
    own = torch.randn(max(batch_sizes), tokens, d_model)
    return math.sqrt(rho) * common + math.sqrt(1 - rho) * own  # (batch, seq, d_model)


def theory(b: int, rho: float) -> list[float]:
    """Standard deviation of the batch mean; that of the batch variance, relative to its mean."""
    inside, between = 1 - rho, 1 + (tokens - 1) * rho  # eigenvalues of one sequence's covariance
    k, m = b * (tokens - 1), b - 1  # degrees of freedom inside and between the sequences
    spread = math.sqrt(2 * (k * inside**2 + m * between**2))
    return [math.sqrt(between / (b * tokens)), spread / (k * inside + m * between)]


def train_eval_gap(x: torch.Tensor) -> float:
    """Rms difference between the outputs in the two modes, with exact running statistics."""
    bn = nn.BatchNorm1d(d_model)  # new, so they are 0 and 1, as in `draw`
    return float((bn.eval()(x.mT) - bn.train()(x.mT)).square().mean().sqrt())


rows = []
for rho in correlations:
    batches = [draw(seed, rho) for seed in seeds]
    for b in batch_sizes:
        sd_mean = torch.stack([x[:b].mean((0, 1)) for x in batches]).std(0)  # (d_model,)
        var = torch.stack([x[:b].var((0, 1)) for x in batches])  # (seeds, d_model)
        measured = [sd_mean.mean().item(), (var.std(0) / var.mean(0)).mean().item()]
        gap = sum(train_eval_gap(x[:b]) for x in batches) / len(batches)
        rows.append([rho, b, *theory(b, rho), *measured, gap, *np.percentile(sd_mean, [5, 95])])
result = np.array(rows).reshape(len(correlations), len(batch_sizes), -1)

agrees_within_5_percent = bool(np.allclose(result[..., 4:6], result[..., 2:4], rtol=0.05, atol=0))
at_8, at_32 = result[:, batch_sizes.index(8)], result[:, batch_sizes.index(32)]
mean_noise_ratio, var_noise_ratio = (at_8[:, 4:6] / at_32[:, 4:6]).T.tolist()
mean_noise_8, mean_noise_32 = at_8[:, 4].tolist(), at_32[:, 4].tolist()  # one for each correlation
gap_8, gap_32 = at_8[:, 6].tolist(), at_32[:, 6].tolist()
for k, rho in enumerate(correlations):
    print(f"correlation {rho}: noise of the mean {mean_noise_32[k]:.3f} and {mean_noise_8[k]:.3f},")
    print(f"  train against eval {gap_32[k]:.2f} and {gap_8[k]:.2f}, at 32 and at 8 sequences")

fig, ax = plt.subplots()
for k, rho in enumerate(correlations):
    _, _, expected, _, middle, _, _, low, high = result[k].T
    ax.plot(batch_sizes, expected, color=f"C{k}")
    ax.errorbar(batch_sizes, middle, [middle - low, high - middle], fmt="o", color=f"C{k}")
    ax.text(8.5, middle[2] * 1.1, f"correlation {rho}")
ax.set(xscale="log", yscale="log", xticks=batch_sizes, xticklabels=batch_sizes)
ax.set(yticks=[0.03, 0.1, 0.3], yticklabels=[0.03, 0.1, 0.3])
ax.set(xlabel=f"sequences of {tokens} tokens", ylabel="noise of the batch mean / std")
ax.minorticks_off()
plt.savefig("batch_noise.svg")
header = "rho,sequences,mean_theory,var_theory,mean,var,train_eval_gap,mean_p5,mean_p95"
np.savetxt("batch_noise.csv", rows, "%.4g", ",", header=header, comments="")
