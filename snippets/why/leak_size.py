# How much of one future token reaches the earlier outputs of a BatchNorm in train mode.
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

seeds = range(200)
batch_sizes = [1, 2, 4, 8, 16, 32, 64]
tokens, d_model = 32, 64

bn, ln = nn.BatchNorm1d(d_model, affine=False), nn.LayerNorm(d_model, elementwise_affine=False)
change = np.empty((len(seeds), len(batch_sizes)))  # rms, over the tokens before the last
layernorm_unchanged = True
for row, seed in enumerate(seeds):
    torch.manual_seed(seed)
    x = torch.randn(max(batch_sizes), tokens, d_model)
    other = x.clone()
    other[0, -1] = torch.randn(d_model)  # a new last token in one sequence
    for column, b in enumerate(batch_sizes):
        difference = (bn(x[:b].mT) - bn(other[:b].mT)).mT[:, :-1]  # (b, seq - 1, d_model)
        change[row, column] = difference.square().mean().sqrt()
    layernorm_unchanged &= ln(x)[:, :-1].equal(ln(other)[:, :-1])
c = 3  # 2 from the mean of two draws, 1 from the variance
theory = math.sqrt(c) / (np.array(batch_sizes) * tokens)
low, middle, high = np.percentile(change, [5, 50, 95], axis=0)

leak_1, leak_8, leak_64 = middle[[0, 3, 6]].tolist()
agrees_within_5_percent = bool(np.allclose(middle, theory, rtol=0.05, atol=0))
print(f"1 sequence: {leak_1:.3f}, 8: {leak_8:.4f}, 64: {leak_64:.5f}")
print(f"LayerNorm's earlier outputs unchanged: {layernorm_unchanged}")

fig, ax = plt.subplots()
ax.plot(batch_sizes, theory, color="C0")
ax.fill_between(batch_sizes, low, high, color="C0", alpha=0.3, linewidth=0)
ax.plot(batch_sizes, middle, "o", color="C0")
ax.text(4.4, theory[2] * 1.1, "√3 / number of tokens")
ax.set(xscale="log", yscale="log", xticks=batch_sizes, xticklabels=batch_sizes)
ax.set(xlabel=f"sequences of {tokens} tokens in the batch", ylabel="rms change of earlier outputs")
ax.minorticks_off()
plt.savefig("leak_size.svg")
table = np.column_stack([batch_sizes, theory, low, middle, high])
header = "sequences,theory,p5,median,p95"
np.savetxt("leak_size.csv", table, "%.4g", ",", header=header, comments="")
