# LN of LN: the second norm at initialization, and once the weight and bias before it have moved
import numpy as np
import torch
from torch import nn

seeds = range(100)
d_model, eps, sigma = 64, 1e-5, 3.0
move = 0.3  # standard deviation of gamma around one and of beta around zero

shrink, moved, angle = [], [], []
for seed in seeds:
    torch.manual_seed(seed)
    x = torch.randn(16, d_model, dtype=torch.float64) * sigma + 1
    first, second = (nn.LayerNorm(d_model, eps=eps, dtype=torch.float64) for _ in range(2))
    y = first(x)
    shrink.append((second(y).norm() / y.norm()).item())
    nn.init.normal_(first.weight, 1, move)
    nn.init.normal_(first.bias, 0, move)
    y = first(x)
    z = second(y)
    moved.append(((z - y).norm() / y.norm()).item())
    angle.append(torch.cosine_similarity(z, y, dim=-1).mean().item())
second_shrinks_by = 1 - float(np.mean(shrink))
variance = sigma**2 / (sigma**2 + eps)  # of what the second one reads
theory = 1 - 1 / (variance + eps) ** 0.5
change = float(np.median(moved))
low, high = (float(q) for q in np.percentile(moved, [5, 95]))
print(f"gamma 1, beta 0: the second norm shrinks by {second_shrinks_by:.1e}, theory {theory:.1e}")
print(f"gamma and beta moved by {move}: changed by {change:.2f} ({low:.2f} to {high:.2f})")
