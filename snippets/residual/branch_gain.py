# rho = |g J| / |g|: how much of an upstream gradient comes back through the branch, against theory
import math

import torch
from torch import nn

seeds = range(1000)
widths = [32, 64, 128]
sigma2 = 1 / 3  # a default weight is uniform within 1/sqrt(d): its variance is sigma2 / d

rho, rho_theory = {}, {}
for d in widths:
    squares = []
    for seed in seeds:
        torch.manual_seed(seed)
        branch = nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.Linear(d, d))
        x = torch.randn(1, d, requires_grad=True)
        g = torch.randn(1, d)  # given: independent of F
        (through,) = torch.autograd.grad(branch(x), x, g)
        squares.append(through.pow(2).sum() / g.pow(2).sum())
    rho[d] = torch.stack(squares).mean().sqrt().item()

    u = torch.linspace(-10, 10, 4001)
    weight = torch.softmax(-u.pow(2) / 2, dim=0)  # quadrature for a standard normal
    z = u * math.sqrt(sigma2 * (1 + 1 / d))  # before GELU: weights on x, and the bias
    slope = torch.special.ndtr(z) + z * torch.exp(-z.pow(2) / 2) / math.sqrt(2 * math.pi)  # GELU'
    rho_theory[d] = sigma2 * math.sqrt((weight * slope.pow(2)).sum().item())
    print(f"d = {d:3}: rho {rho[d]:.3f}, theory {rho_theory[d]:.3f}")
