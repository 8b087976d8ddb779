# A block trained on L = |y|^2 learns F(x) = -x, and the gradient at its input fades
import torch
from torch import nn

seeds = range(10)
d_model, batch, steps = 64, 64, 200

before: list[torch.Tensor] = []
after: list[torch.Tensor] = []
for seed in seeds:
    torch.manual_seed(seed)
    branch = nn.Sequential(nn.Linear(d_model, d_model), nn.GELU(), nn.Linear(d_model, d_model))
    optimizer = torch.optim.Adam(branch.parameters(), lr=1e-2)
    x = torch.randn(batch, d_model, requires_grad=True)  # held out
    g = nn.functional.normalize(torch.randn(batch, d_model))  # dL/dy, given, |g| = 1 in each row
    for rows in (before, after):
        (total,) = torch.autograd.grad(x + branch(x), x, g)
        rows.append(total.norm(dim=-1).median())
        for _ in range(steps if rows is before else 0):
            fresh = torch.randn(batch, d_model)
            loss = (fresh + branch(fresh)).pow(2).sum(dim=-1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

ratio_before = torch.stack(before).median().item()
ratio_after = torch.stack(after).median().item()
below_identity_in_every_seed = bool(torch.stack(after).max() < 1)
print(f"|dL/dx| / |dL/dy|: {ratio_before:.2f} before, {ratio_after:.2f} after {steps} steps")
