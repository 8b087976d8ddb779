# LayerNorm written out, held against nn.LayerNorm.
import torch
from torch import nn

seeds = range(200)
d_model, narrow = 256, [2, 3]
article_in_code, article_in_text = 0.0, 1e-6  # its difference from nn.LayerNorm: printed, and said


class LayerNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))  # gamma
        self.bias = nn.Parameter(torch.zeros(d_model))  # beta
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        centered = x - x.mean(dim=-1, keepdim=True)  # (batch, seq, d_model) - (batch, seq, 1)
        var = centered.square().mean(dim=-1, keepdim=True)  # divided by d_model, not d_model - 1
        return centered / torch.sqrt(var + self.eps) * self.weight + self.bias


parameters = sum(p.numel() for p in LayerNorm(d_model).parameters())
eps = nn.LayerNorm(d_model).eps
difference, pooled_std, pooled_mean = [], [], []
for seed in seeds:
    torch.manual_seed(seed)
    x = torch.randn(4, 32, d_model) * 3.0 + 2.0
    y, reference = LayerNorm(d_model)(x), nn.LayerNorm(d_model)(x)
    difference.append((y - reference).abs().max().item())
    pooled_mean.append(abs(y.mean().item()))
    pooled_std.append(y.std().item())  # torch divides by N - 1
largest_difference = max(difference)
never_identical = min(difference) > 0
mean_is_zero_to_1e_7 = max(pooled_mean) < 1e-7
output_std = sum(pooled_std) / len(seeds)
print(f"parameters {parameters}, eps {eps}, output std {output_std:.6f}")
print(
    f"identical to nn.LayerNorm in no seed: {never_identical}; "
    f"never more than 2e-6 apart: {largest_difference < 2e-6}"
)

widest_gap = 0.0  # over narrow tokens, and over inputs of variance 1 and 1e-8
for width in [*narrow, d_model]:
    for std in (1.0, 1e-4):
        for seed in seeds:
            torch.manual_seed(seed)
            x = torch.randn(32, width) * std
            gap = (LayerNorm(width)(x) - nn.LayerNorm(width)(x)).abs().max().item()
            widest_gap = max(widest_gap, gap)
# of nearly equal entries only the rounding is left, and is divided by sqrt(eps)
agrees_at_small_width_and_variance = widest_gap < 1e-4
print(f"at widths 2 and 3 and variance 1e-8 within 1e-4: {agrees_at_small_width_and_variance}")
