# Exercise: LN(x + G(x) / alpha) against LN(alpha x + G(x)), with a normal and with a large eps
import torch
import torch.nn.functional as F

seeds = range(20)
d_model, alpha = 64, 4.0
large_eps = 0.1


def largest_difference(eps: float) -> float:
    worst = 0.0
    for seed in seeds:
        torch.manual_seed(seed)
        x, g = torch.randn(2, 8, d_model)
        one = F.layer_norm(alpha * x + g, (d_model,), eps=eps)
        other = F.layer_norm(x + g / alpha, (d_model,), eps=eps)
        worst = max(worst, (one - other).abs().max().item())
    return worst


same_block = largest_difference(1e-5) < 1e-4
differs_with_large_eps = largest_difference(large_eps) > 0.01
print("the same block:", same_block)
print(f"with eps {large_eps} no longer:", differs_with_large_eps)
