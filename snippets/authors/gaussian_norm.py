# How long is a random vector?
import torch

seeds = range(400)
d_model = 64

norms = []
for seed in seeds:
    torch.manual_seed(seed)
    norms.append(torch.randn(d_model).norm().item())

mean_norm = sum(norms) / len(norms)
shortest, longest = min(norms), max(norms)
within_a_factor_two = longest < 2 * shortest
print(f"mean norm {mean_norm:.2f} over {len(norms)} seeds, from {shortest:.1f} to {longest:.1f}")
