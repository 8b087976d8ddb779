# The Jacobian of RMSNorm: its singular values by autograd and by formula, beside LayerNorm's.
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn
from torch.autograd.functional import jacobian

seeds = range(50)
d_model, eps = 16, 1e-6
means = np.geomspace(0.05, 50, 13)  # of a token with standard deviation 1
f64 = torch.float64


def formula(x: torch.Tensor, gain: torch.Tensor, eps: float) -> torch.Tensor:
    r = torch.sqrt(x.square().mean() + eps)
    u = x / r
    return gain.diag() @ (torch.eye(d_model, dtype=f64) - u.outer(u) / d_model) / r


def singular_values(norm: nn.Module, x: torch.Tensor) -> np.ndarray:
    return torch.linalg.svdvals(jacobian(norm, x)).numpy()  # descending


rms = nn.RMSNorm(d_model, eps, dtype=f64)
rms_without_eps = nn.RMSNorm(d_model, 0.0, dtype=f64)
layer = nn.LayerNorm(d_model, eps, dtype=f64)
of_rms, of_layer = (np.empty((len(seeds), len(means), d_model)) for _ in range(2))
errors, ranks, ranks_with_eps, along = [], set(), set(), []
for row, seed in enumerate(seeds):
    torch.manual_seed(seed)
    z = torch.randn(d_model, dtype=f64)
    z = (z - z.mean()) / z.std(correction=0)
    for column, mean in enumerate(means):
        of_rms[row, column] = singular_values(rms, z + mean)
        of_layer[row, column] = singular_values(layer, z + mean)
    J = jacobian(rms_without_eps, z + 1)
    ranks.add(torch.linalg.matrix_rank(J).item())
    ranks_with_eps.add(torch.linalg.matrix_rank(jacobian(rms, z + 1)).item())
    along.append((J @ (z + 1)).norm().item())  # the gain along the token itself
    with_gain = nn.RMSNorm(d_model, eps, dtype=f64)
    with_gain.weight.data = torch.rand(d_model, dtype=f64) + 0.5
    expected = formula(z + 1, with_gain.weight, eps)
    errors.append((jacobian(with_gain, z + 1) - expected).abs().max().item())
formula_holds = max(errors) < 1e-12
(rank,), (rank_with_eps,) = ranks, ranks_with_eps  # the same for all seeds
token_direction_is_lost = max(along) < 1e-12

r = np.sqrt(1 + means**2 + eps)
equal_follow = bool(np.allclose(of_rms[:, :, :-1], (1 / r)[:, None], rtol=1e-6, atol=0))
last_follows = bool(np.allclose(of_rms[:, :, -1], eps / r**3, rtol=1e-3, atol=1e-14))
layer_ignores_mean = bool(np.allclose(of_layer[:, :, :-2], (1 + eps) ** -0.5, rtol=1e-6, atol=0))
loud_mean = 3
gain_at_loud_mean = float(singular_values(rms, z + loud_mean)[0])
print(f"formula equals autograd: {formula_holds}; rank {rank} of {d_model} without eps")
print(f"d - 1 singular values are 1/r: {equal_follow}; one is eps/r^3: {last_follows}")
print(f"LayerNorm's are 1/sigma whatever the mean: {layer_ignores_mean}")

fig, ax = plt.subplots()
ax.plot(means, np.ones_like(means), color="C1")
ax.plot(means, np.median(of_layer[:, :, 0], axis=0), "s", color="C1")
ax.plot(means, 1 / r, color="C0")
ax.plot(means, np.median(of_rms[:, :, 0], axis=0), "o", color="C0")
ax.text(6, 1.15, "LayerNorm: 1/σ")
ax.text(0.9, 0.12, "RMSNorm: 1/r")
ax.set(xscale="log", yscale="log", ylim=(0.01, 2), xlabel="mean / standard deviation of the token")
ax.set(ylabel="singular value, times σ")
plt.savefig("rmsnorm_jacobian.svg")
table = np.column_stack([means, 1 / r, np.median(of_rms, 0)[:, 0], np.median(of_layer, 0)[:, 0]])
header = "mean,theory_rmsnorm,rmsnorm,layernorm"
np.savetxt("rmsnorm_jacobian.csv", table, "%.5g", ",", header=header, comments="")
