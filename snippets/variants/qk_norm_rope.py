# RoPE and QK-Norm: without a weight their order is free, with a weight it is not
import torch
import torch.nn.functional as F

seeds = range(100)
d_k, distance, last = 64, 7, 512
spread_of_weight = 0.3


def rope(x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
    """Rotates the pairs (i, i + d_k/2) of x (d_k,) by each position: (positions, d_k)."""
    angle = position[:, None] * 10000.0 ** (-torch.arange(d_k // 2) * 2 / d_k)
    a, b = x.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


position = torch.arange(0, last, 16, dtype=torch.float64)
bare: list[float] = []  # relative difference between the orders, by the weight
weighted: list[float] = []
paired: list[float] = []
before: list[float] = []  # spread of the logit over positions, at one distance
after: list[float] = []
for seed in seeds:
    torch.manual_seed(seed)
    q, k = torch.randn(2, d_k, dtype=torch.float64)
    w = 1 + spread_of_weight * torch.randn(d_k, dtype=torch.float64)
    w_pair = w[: d_k // 2].repeat(2)  # one weight for both entries of a rotated pair
    for rows, weight in ((bare, torch.ones_like(w)), (weighted, w), (paired, w_pair)):
        first = rope(F.rms_norm(q, (d_k,), weight), position)
        second = F.rms_norm(rope(q, position), (d_k,), weight)
        rows.append(((first - second).norm() / first.norm()).item())
    key = position + distance
    norm_first = [rope(F.rms_norm(t, (d_k,), w), p) for t, p in ((q, position), (k, key))]
    norm_last = [F.rms_norm(rope(t, p), (d_k,), w) for t, p in ((q, position), (k, key))]
    for rows, (u, v) in ((before, norm_first), (after, norm_last)):
        rows.append(((u * v).sum(-1) / d_k**0.5).std().item())

commutes_without_weight = max(bare) < 1e-10
commutes_with_paired_weight = max(paired) < 1e-10
difference = float(torch.tensor(weighted).median())
relative_before = max(before) < 1e-10  # the logit depends on the distance alone
drift_after = float(torch.tensor(after).median())  # standard deviation over positions
print(f"no weight: the orders agree: {commutes_without_weight}")
print(
    f"one weight a pair: {commutes_with_paired_weight}; a weight an entry: {difference:.2f} apart"
)
print(f"norm, then RoPE: the logit depends on the distance alone: {relative_before}")
print(f"RoPE, then norm: at one distance it moves by {drift_after:.2f} (standard deviation)")
