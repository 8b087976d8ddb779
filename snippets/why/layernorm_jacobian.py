# The Jacobian of LayerNorm: its singular values by autograd, and by formula.
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn
from torch.autograd.functional import jacobian

seeds = range(50)
d_model, eps = 16, 1e-5
scales = np.geomspace(1e-5, 10, 25)  # standard deviation of the input
f64 = torch.float64


def formula(x: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
    s, one = torch.sqrt(x.var(correction=0) + eps), torch.ones(d_model, dtype=f64)
    x_hat = (x - x.mean()) / s
    middle = torch.eye(d_model, dtype=f64) - one.outer(one) / d_model - x_hat.outer(x_hat) / d_model
    return gamma.diag() @ middle / s


norm = nn.LayerNorm(d_model, eps, dtype=f64)
norm_without_eps = nn.LayerNorm(d_model, eps=0.0, dtype=f64)
spectrum = np.empty((len(seeds), len(scales), d_model))  # singular values, descending
errors, ranks, ranks_without_eps = [], set(), set()
for row, seed in enumerate(seeds):
    torch.manual_seed(seed)
    z = torch.randn(d_model, dtype=f64)
    z = (z - z.mean()) / z.std(correction=0)  # mean 0, variance 1
    for column, scale in enumerate(scales):
        spectrum[row, column] = torch.linalg.svdvals(jacobian(norm, z * scale + 1))
    ranks.add(torch.linalg.matrix_rank(jacobian(norm, z)).item())
    ranks_without_eps.add(torch.linalg.matrix_rank(jacobian(norm_without_eps, z)).item())
    with_gamma = nn.LayerNorm(d_model, eps, dtype=f64)
    with_gamma.weight.data = torch.rand(d_model, dtype=f64) + 0.5
    errors.append((jacobian(with_gamma, z) - formula(z, with_gamma.weight)).abs().max().item())
formula_holds = max(errors) < 1e-12
(rank,), (rank_without_eps,) = ranks, ranks_without_eps  # the same for all seeds

s = np.sqrt(scales**2 + eps)
equal, own = spectrum[:, :, : d_model - 2], spectrum[:, :, d_model - 2]
equal_directions = d_model - 2
equal_follow = bool(np.allclose(equal, (1 / s)[:, None], rtol=1e-6, atol=0))
own_follows = bool(np.allclose(own, eps / s**3, rtol=1e-6, atol=0))
last_is_zero = bool((spectrum[:, :, -1] * s < 1e-10).all())
largest_gain, own_at_1 = eps**-0.5, eps / (1 + eps) ** 1.5
print(f"formula equals autograd: {formula_holds}; rank {rank}, with eps = 0 {rank_without_eps}")
print(
    f"{equal_directions} singular values are 1/s: {equal_follow}; one is eps/s^3: {own_follows}; "
)
print(f"one is zero: {last_is_zero}; the largest gain is 1/sqrt(eps) = {largest_gain:.1f}")

fig, ax = plt.subplots()
ax.plot(scales, 1 / s, color="C0")
ax.plot(scales, np.median(equal[:, :, 0], axis=0), "o", color="C0")
ax.plot(scales, eps / s**3, color="C1")
ax.plot(scales, np.median(own, axis=0), "s", color="C1")
ax.text(0.05, 60, f"{equal_directions} directions: 1/s")
ax.text(0.02, 0.05, "along the input: eps/s³", ha="right")
ax.set(xscale="log", yscale="log", ylim=(1e-9, 1e4))
ax.set(xlabel="standard deviation of the input", ylabel="singular values; s = √(variance + eps)")
plt.savefig("layernorm_jacobian.svg")
table = np.column_stack(
    [scales, 1 / s, np.median(equal, axis=(0, 2)), eps / s**3, np.median(own, 0)]
)
header = "input_std,theory,measured,theory_along_input,measured_along_input"
np.savetxt("layernorm_jacobian.csv", table, "%.5g", ",", header=header, comments="")
