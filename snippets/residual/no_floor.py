# The identity part is no lower bound: the total gradient can be smaller than it, down to zero
import torch
from torch import nn

seeds = range(1000)
d_model = 64
torch.manual_seed(seeds[0])
x = torch.randn(1, d_model, requires_grad=True)
g = torch.randn(1, d_model)  # dL/dy, given

# F writes the negative of its input: the two parts cancel
(total,) = torch.autograd.grad(x + -x, x, g)
cancelled_norm = total.norm().item()
print(f"F(x) = -x: |dL/dx| = {cancelled_norm}")

# F deletes what the stream holds along one direction v: so goes the gradient along v
v = torch.full((d_model, 1), d_model**-0.5)
(total,) = torch.autograd.grad(x - x @ v @ v.T, x, g)
deleted_along_v = (total @ v).abs().item() < 1e-5
print(f"F(x) = -(x.v) v: no gradient left along v: {deleted_along_v}")

# random F in y = x + s F(x): how often is |dL/dx| < |dL/dy|?
scales = [0.25, 0.5, 1.0, 2.0, 4.0]
relative, through_norm = [], []
for seed in seeds:
    torch.manual_seed(seed)
    branch = nn.Sequential(nn.Linear(d_model, d_model), nn.GELU(), nn.Linear(d_model, d_model))
    x = torch.randn(1, d_model, requires_grad=True)
    g = nn.functional.normalize(torch.randn(1, d_model))
    (through,) = torch.autograd.grad(branch(x), x, g)
    relative.append(torch.stack([(g + s * through).norm() for s in scales]))
    through_norm.append(through.norm())
below = (torch.stack(relative) < 1).float().mean(dim=0).tolist()  # share of seeds, by s
low_end = torch.stack(relative).quantile(0.05, dim=0).tolist()  # of total / identity

# theory: (g J) . g is Gaussian with deviation rho / sqrt(d_model), rho = rms of |g J| / |g|
rho = torch.stack(through_norm).pow(2).mean().sqrt()
theory = torch.special.ndtr(-rho * torch.tensor(scales) * d_model**0.5 / 2).tolist()
for s, share, expected in zip(scales, below, theory, strict=True):
    print(f"s = {s:<4}  total below identity: {share:.2f} of seeds, theory {expected:.2f}")
