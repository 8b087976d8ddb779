# The article's listing: token norms through 12 Pre-LN blocks; then what its growth rate predicts
from itertools import pairwise

import torch
import torch.nn as nn


class PreLNBlock(nn.Module):
    def __init__(self, d: int, hidden: int) -> None:
        super().__init__()
        self.ln = nn.LayerNorm(d)
        self.sub = nn.Sequential(nn.Linear(d, hidden), nn.GELU(), nn.Linear(hidden, d))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.sub(self.ln(x))


torch.manual_seed(11)
d, L = 128, 12
blocks = nn.ModuleList([PreLNBlock(d, d * 4) for _ in range(L)])
final_ln = nn.LayerNorm(d)

x = torch.randn(2, 16, d)
norms = [x.norm(dim=-1).mean().item()]
for blk in blocks:
    x = blk(x)
    norms.append(round(x.norm(dim=-1).mean().item(), 2))

print([round(n, 2) for n in norms])
final_norm = final_ln(x).norm(dim=-1).mean().item()
print(f"after the final LN: {final_norm:.2f}")
grow = (norms[-1] / norms[0]) ** (1 / (len(norms) - 1)) - 1
print(f"growth per layer: {grow:.2%}")

# the listing ends here; all norms in the article's text, and the growth over seeds
article = [11.25, 11.42, 11.68, 11.9, 12.06, 12.32, 12.48, 12.69, 12.92, 13.1, 13.31, 13.49, 13.66]
all_as_stated = [round(n, 2) for n in norms] == article
total = norms[-1] / norms[0]
rates = [b / a - 1 for a, b in pairwise(norms)]
first_half, second_half = sum(rates[:6]) / 6, sum(rates[6:]) / 6
print(f"growth per layer, first half {first_half:.2%}, second half {second_half:.2%}")

seeds = range(100)
totals: list[float] = []
monotonic = 0
for seed in seeds:
    torch.manual_seed(seed)
    blocks = nn.ModuleList([PreLNBlock(d, d * 4) for _ in range(L)])
    h = [torch.randn(2, 16, d)]
    for blk in blocks:
        h.append(blk(h[-1]).detach())
    mean_norms = torch.stack(h).norm(dim=-1).mean(dim=(1, 2))  # (L + 1,)
    totals.append((mean_norms[-1] / mean_norms[0]).item())
    monotonic += bool((mean_norms.diff() > 0).all())
total_median = torch.tensor(totals).median().item()
low, high = torch.tensor(totals).quantile(torch.tensor([0.05, 0.95])).tolist()
rate_median = total_median ** (1 / L) - 1
share_below = sum(t < total for t in totals) / len(totals)
share_monotonic = monotonic / len(totals)
print(f"total growth over seeds: {low:.2f} to {high:.2f}, median {total_median:.2f}")
