# LayerNorm holds the norm at any depth, and two different tokens still turn into one direction.
import math

import torch
import torch.nn.functional as F

seeds = range(200)
d_model, depths = 64, [20, 100, 400]
generators = [torch.Generator().manual_seed(i) for i in seeds]


def draw(*shape: int) -> torch.Tensor:
    draws = [torch.randn(*shape, generator=g, dtype=torch.float64) for g in generators]
    return torch.stack(draws)  # (seeds, *shape)


# The area that two rows span grows by less than the product of their lengths: this much a layer.
psi_1, psi_2 = [torch.digamma(torch.tensor((d_model - k) / 2)).item() / 2 for k in (1, 2)]
log_sine_theory = {layer: (layer + 1) * (psi_2 - psi_1) for layer in depths}
angle_theory = {str(n): math.degrees(math.asin(math.exp(v))) for n, v in log_sine_theory.items()}

x = F.layer_norm(draw(2, d_model), (d_model,))  # a pair of unrelated tokens
angle, worst_error, worst_norm = {}, 0.0, 0.0
for layer in range(1, depths[-1] + 1):
    x = F.layer_norm(x @ (draw(d_model, d_model) * 0.3), (d_model,))
    worst_norm = max(worst_norm, (x.norm(dim=-1) - math.sqrt(d_model)).abs().max().item())
    if layer in depths:
        cosine = F.cosine_similarity(x[:, 0], x[:, 1], dim=-1)
        log_sine = (1 - cosine**2).sqrt().log()
        error = (log_sine.mean() - log_sine_theory[layer]) / log_sine.std() * len(seeds) ** 0.5
        worst_error = max(worst_error, error.abs().item())  # in standard errors
        angle[str(layer)] = math.degrees(math.asin(log_sine.mean().exp().item()))
        print(f"layer {layer:3}: typical angle between the lines of the two tokens", end=" ")
        print(f"{angle[str(layer)]:.0f} degrees, theory {angle_theory[str(layer)]:.0f}")
norm_held_at_every_layer = worst_norm < 0.001
agrees_with_theory = worst_error < 4
