# A stack of random linear layers, no norm and no residual: seed 0, then many seeds.
from itertools import pairwise

import torch

seeds = range(200)
d_model, depth = 64, 20


def mean_norms(scale: float, seed: int, dtype: torch.dtype = torch.float32) -> list[float]:
    torch.manual_seed(seed)
    x = torch.randn(4, 16, d_model)  # (batch, sequence, d_model)
    path = [x.to(dtype).norm(dim=-1).mean().item()]
    for _ in range(depth):
        x = x @ (torch.randn(d_model, d_model) * scale)
        path.append(x.to(dtype).norm(dim=-1).mean().item())
    return path


small, large = mean_norms(0.3, 0), mean_norms(1.2, 0)
print("s = 0.3:", ", ".join(f"{v:.3g}" for v in small[:8]))
print("s = 1.2:", ", ".join(f"{v:.3g}" for v in large[:5]))

start = small[0]
grown = [mean_norms(0.3, seed) for seed in seeds]
grows_at_every_layer = all(a < b for path in grown for a, b in pairwise(path))
exploded = torch.tensor([mean_norms(1.2, seed)[:5] for seed in seeds])
median_at_4 = exploded[:, 4].median().item()
claimed_order, claimed_layer = 1e4, 4
theory_at_4 = 8 * (1.2 * d_model**0.5) ** 4
always_above_ten_thousand_at_4 = bool((exploded[:, 4] > 1e4).all())
ratio_at_4 = large[4] / small[4]  # the same draws: (1.2 / 0.3)^4

# The norm of a float32 vector squares its entries, so it overflows long before they do.
first_infinite_norm = large.index(float("inf"))
norm_in_float64 = mean_norms(1.2, 0, torch.float64)[-1]
entries_stay_finite = norm_in_float64 < torch.finfo(torch.float32).max
print(f"s = 1.2: the norm is inf at layer {first_infinite_norm}, in float64 it stays finite")
