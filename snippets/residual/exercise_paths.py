# The gradient through a stack, split by the number of branches its paths go through
import torch
from torch import nn

seeds = range(100)
d_model, n_blocks = 64, 64

errors, energies, expected = [], [], []
for seed in seeds:
    torch.manual_seed(seed)
    h, jacs = torch.randn(d_model), []  # (d_model,)
    for _ in range(n_blocks):
        up, down = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        z = up(h)
        a = nn.functional.gelu(z)
        (slope,) = torch.autograd.grad(a.sum(), z)  # GELU'(z), (d_model,)
        jacs.append(((down.weight * slope) @ up.weight).detach())  # dF_i/dx_j
        h = (h + down(a)).detach()

    # row k sums the paths through k branches: a block passes it on, and adds it to row k + 1
    paths = torch.zeros(n_blocks + 1, d_model)
    paths[0] = total = nn.functional.normalize(torch.randn(d_model), dim=0)  # dL/dy
    for jac in reversed(jacs):
        through = paths[:-1] @ jac
        paths[1:] += through
        total = total + total @ jac
    rho2 = torch.stack([jac.pow(2).sum() / d_model for jac in jacs])  # |g J|^2 / |g|^2, mean over g
    expected.append((rho2 / (1 + rho2)).sum())
    errors.append((paths.sum(dim=0) - total).norm() / total.norm())
    energies.append(paths.pow(2).sum(dim=-1) / paths.pow(2).sum())

adds_up = bool(torch.stack(errors).max() < 1e-4)
energy = torch.stack(energies).mean(dim=0)  # share of the squared norm, by number of branches
mean_branches = (energy * torch.arange(n_blocks + 1)).sum().item()
mean_branches_theory = torch.stack(expected).mean().item()
identity_energy = energy[0].item()
print(f"the paths add up to the gradient: {adds_up}")
print(f"branches on a path, weighted by squared norm: {mean_branches:.1f} of {n_blocks}")
print(f"sum of rho^2 / (1 + rho^2) over the blocks: {mean_branches_theory:.1f}")
print(f"share of the path through no branch: {identity_energy:.2f}")
