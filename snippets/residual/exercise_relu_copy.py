# A plain block of two linear layers can copy: relu(x) - relu(-x) = x, at a larger width
import torch

seeds = range(100)
d_model, blocks = 16, 28
up = torch.cat([torch.eye(d_model), -torch.eye(d_model)], dim=1)  # (d_model, hidden)
down = up.T  # (hidden, d_model)
hidden = up.shape[1]

exact, same_width = [], []
for seed in seeds:
    torch.manual_seed(seed)
    x = y = torch.randn(8, d_model)
    for _ in range(blocks):
        y = torch.relu(y @ up) @ down
    exact.append(torch.equal(x, y))
    # with as many hidden units as inputs: the best linear readout of relu(x)
    z = torch.randn(4096, d_model)
    h = torch.cat([torch.relu(z), torch.ones(4096, 1)], dim=1)
    fit = torch.linalg.lstsq(h, z).solution
    same_width.append(((h @ fit - z).pow(2).mean() / z.pow(2).mean()).item())

copies_exactly = all(exact)
# of relu(z) = max(z, 0), what a straight line does not explain of z
left_at_same_width = float(torch.tensor(same_width).median())
left_theory = 1 - 0.25 / (0.5 - 1 / (2 * torch.pi))  # 1 - cov^2 / var of relu
print(f"hidden width {hidden}: {blocks} blocks copy exactly: {copies_exactly}")
print(f"hidden width {d_model}: {left_at_same_width:.3f} is lost, theory {left_theory:.3f}")
