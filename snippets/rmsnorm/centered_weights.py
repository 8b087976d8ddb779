# A linear layer before the norm can do the centering: then RMSNorm gives LayerNorm's output.
import torch
import torch.nn.functional as F
from torch import nn

seeds = range(100)
d_in, d_model = 64, 256
gaps, gaps_before = [], []
for seed in seeds:
    torch.manual_seed(seed)
    linear = nn.Linear(d_in, d_model, dtype=torch.float64)
    linear.bias.data += 0.5  # a mean worth removing
    x = torch.randn(32, d_in, dtype=torch.float64)
    with torch.no_grad():
        wanted = F.layer_norm(linear(x), (d_model,), eps=1e-5)
        gaps_before.append((F.rms_norm(linear(x), (d_model,), eps=1e-5) - wanted).abs().max())
        linear.weight.sub_(linear.weight.mean(dim=0))  # over the outputs, for each input feature
        linear.bias.sub_(linear.bias.mean())
        gaps.append((F.rms_norm(linear(x), (d_model,), eps=1e-5) - wanted).abs().max())
equal_to_rounding = max(gaps).item() < 1e-12
far_apart_before = min(gaps_before).item() > 0.5
print(f"before: more than 0.5 apart in all seeds: {far_apart_before}")
print(f"weights centered: equal to rounding in all seeds: {equal_to_rounding}")
