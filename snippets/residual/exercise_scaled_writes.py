# The stream after L blocks when what each block writes is divided by the root of L
import torch
from torch import nn

seeds = range(30)
d_model, hidden = 64, 256
depths = [4, 16, 64]

growth: dict[str, list[float]] = {"default": [], "divided": []}
for depth in depths:
    for kind, sums in growth.items():
        scale = depth**-0.5 if kind == "divided" else 1.0
        total = 0.0
        for seed in seeds:
            torch.manual_seed(seed)
            norm, x = nn.LayerNorm(d_model), torch.randn(16, d_model)
            start = x.pow(2).mean().item()
            for _ in range(depth):
                wide, narrow = nn.Linear(d_model, hidden), nn.Linear(hidden, d_model)
                with torch.no_grad():
                    x = x + scale * narrow(nn.functional.gelu(wide(norm(x))))
            total += x.pow(2).mean().item() - start
        sums.append(total / len(seeds))
for kind, sums in growth.items():
    print(f"{kind}: squared norm / d grows by", [round(s, 2) for s in sums], f"for {depths} blocks")
default_at_64, divided_at_64, divided_at_4 = (
    growth["default"][-1],
    growth["divided"][-1],
    growth["divided"][0],
)
