# One variable of each kind that a page can state
import statistics

import torch

seeds = range(200)
d_model, eps = 512, 1e-5

layer = torch.nn.LayerNorm(d_model, eps=eps)
parameters = sum(p.numel() for p in layer.parameters())  # a count
largest_shrink = 1 / (1 + eps) ** 0.5  # of an input with variance one: no randomness in it

rms, spread = {}, {}
for scale in (0.5, 2.0):
    rows = []
    for seed in seeds:
        torch.manual_seed(seed)
        x = scale * torch.randn(d_model)
        rows.append(x.pow(2).mean().sqrt().item())
    rms[scale] = sum(rows) / len(rows)  # over many seeds
    spread[scale] = statistics.stdev(rows)

ends_at_unit_variance = all(
    abs(layer(torch.full((d_model,), s).cumsum(0)).var(unbiased=False).item() - 1) < 1e-3
    for s in (0.5, 2.0)
)
name = type(layer).__name__
by_scale = [{"scale": k, "rms": f"{v:.2f} ± {spread[k]:.2f}"} for k, v in rms.items()]
print(name, parameters, f"{largest_shrink:.7f}", {k: round(v, 2) for k, v in rms.items()})
