# The article's listing on its seed; then an input of another mean and scale, and other seeds.
import torch
from torch import nn

seeds = range(100)
article_seed, d_model, rows = 7, 512, 1024
input_mean, input_std = 1.5, 3.0
article = {"rms_mean": 0.4475, "rms_mean_std": 0.0324, "layer_std": 1.0010, "rms_std": 0.8944}


class RMSNorm(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ms = x.pow(2).mean(dim=-1, keepdim=True)
        return x * torch.rsqrt(ms + self.eps) * self.weight


def statistics(seed: int, std: float, mean: float) -> dict[str, float]:
    torch.manual_seed(seed)
    x = torch.randn(rows, d_model) * std + mean
    y_layer, y_rms = nn.LayerNorm(d_model)(x), RMSNorm(d_model)(x)
    row_means = y_rms.mean(dim=-1)  # (rows,)
    return {
        "layer_mean": y_layer.mean(dim=-1).abs().max().item(),
        "rms_mean": row_means.mean().item(),
        "rms_mean_std": row_means.std().item(),  # over rows
        "layer_std": y_layer.std(dim=-1).mean().item(),  # divides by d - 1
        "rms_std": y_rms.std(dim=-1).mean().item(),
        "rms_std_biased": y_rms.std(dim=-1, correction=0).mean().item(),
    }


with torch.no_grad():
    stated = statistics(article_seed, input_std, input_mean)
    smaller = statistics(article_seed, std=2.0, mean=1.0)
    over_seeds = [statistics(seed, input_std, input_mean) for seed in seeds]
article_holds = all(f"{stated[k]:.4f}" == f"{v:.4f}" for k, v in article.items())
same_for_mean_1_std_2 = all(abs(smaller[k] - stated[k]) < 5e-5 for k in article)
layer_means_are_zero = max(s["layer_mean"] for s in over_seeds) < 1e-6
print("on seed 7:", {k: round(v, 4) for k, v in stated.items() if k in article})
print(f"the article's four figures: {article_holds}; the same at mean 1, std 2:", end=" ")
print(f"{same_for_mean_1_std_2}; LayerNorm's row means are zero: {layer_means_are_zero}")

ratio = input_mean / input_std
root = (1 + ratio**2) ** 0.5
theory = {"rms_mean": ratio / root, "rms_std": 1 / root}
theory_spread = ((1 + ratio**2 / 2) / d_model) ** 0.5 / root**3  # of the row means
theory_layer_std = (d_model / (d_model - 1)) ** 0.5
average = {k: sum(s[k] for s in over_seeds) / len(seeds) for k in over_seeds[0]}
lowest_rms_std, highest_rms_std = (f(s["rms_std"] for s in over_seeds) for f in (min, max))
print(f"theory: row mean {theory['rms_mean']:.4f} with spread {theory_spread:.4f},", end=" ")
print(f"row std {theory['rms_std']:.4f}; LayerNorm's with d - 1 {theory_layer_std:.4f}")
