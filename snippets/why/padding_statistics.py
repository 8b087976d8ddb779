# Zero padding in a BatchNorm: what the layer sees, and the formula for a share p of zeros.
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

seeds = range(200)
lengths = [5, 12, 30, 200]  # real tokens per sequence
d_model, mu, sigma = 64, 1.0, 2.0  # a real token's features are Gaussian, with this mean and std
real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]  # (batch, seq), False on padding
ratios = [0, 1, 2]  # for the figure: |mean| over standard deviation of the real tokens
p = 1 - real.double().mean().item()  # share of padding

rows = []
for seed in seeds:
    torch.manual_seed(seed)
    x = (mu + sigma * torch.randn(*real.shape, d_model)) * real[..., None]  # padding is zero
    bn = nn.BatchNorm1d(d_model, momentum=1.0)  # momentum 1: its buffers are those of this batch
    y = bn(x.mT).mT  # BatchNorm1d wants (batch, d_model, seq)
    before, after = x[real], y[real]  # (real tokens, d_model)
    seen = [bn.running_mean, bn.running_var]
    alone = nn.BatchNorm1d(d_model)(before)  # the remedy: only the real tokens go in
    each = [before.mean(0), before.var(0), *seen, after.mean(0), after.std(0), alone.std(0)]
    rows.append([value.mean().item() for value in each])
*found, std_alone = np.mean(rows, axis=0).tolist()
true_mean, true_var, seen_mean, seen_var, mean_after, std_after = found
theory_mean, theory_var = (1 - p) * mu, (1 - p) * (sigma**2 + p * mu**2)
print(f"padding {p:.1%}; real tokens: mean {true_mean:.2f}, variance {true_var:.2f}")
print(f"BatchNorm sees: mean {seen_mean:.2f}, variance {seen_var:.2f}")
print(f"the formula says: mean {theory_mean:.2f}, variance {theory_var:.2f}")
print(f"real tokens after BatchNorm: mean {mean_after:.2f}, std {std_after:.2f}")

shares = np.arange(8) / 8
fine, table = np.linspace(0, 7 / 8, 99), [shares]
fig, ax = plt.subplots()
for ratio in ratios:
    change = np.empty((len(seeds), len(shares)))
    for row, seed in enumerate(seeds):
        torch.manual_seed(seed)
        x = ratio + torch.randn(512, d_model)  # (positions, d_model)
        for column, share in enumerate(shares):
            kept = x * (torch.arange(512) >= 512 * share)[:, None]  # the others are padding
            change[row, column] = kept.var(0, correction=0).mean()
    low, middle, high = np.percentile(change, [5, 50, 95], axis=0)
    ax.plot(fine, (1 - fine) * (1 + fine * ratio**2), color=f"C{ratio}")
    ax.errorbar(shares, middle, [middle - low, high - middle], fmt="o", color=f"C{ratio}")
    ax.text(0.89, middle[-1], f"|mean| = {ratio} std", va="center")
    table += [low, middle, high]
largest_at_2_std, p_largest_at_2_std = middle.max().item(), shares[middle.argmax()].item()
ax.set(xlim=(-0.03, 1.12), xlabel="share of padding", ylabel="variance with / without padding")
plt.savefig("padding_statistics.svg")
names = ",".join(f"{r}std_{q}" for r in ratios for q in ("p5", "median", "p95"))
csv = np.column_stack(table)
np.savetxt("padding_statistics.csv", csv, "%.4f", ",", header="share," + names, comments="")
