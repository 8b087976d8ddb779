# The gradient at a block's input is the identity part g plus the part through the branch F, g J
import torch
from torch import nn
from torch.autograd.functional import jacobian

seeds = range(200)
d_model = 64
errors, moves = [], []
for seed in seeds:
    torch.manual_seed(seed)
    up, down = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
    branch = nn.Sequential(up, nn.GELU(), down).double()  # F
    x = torch.randn(1, d_model).double().requires_grad_()  # (1, d_model)

    y = x + branch(x)
    (total,) = torch.autograd.grad(y.pow(2).sum(), x)  # dL/dx, a row (1, d_model)

    g = 2 * y.detach()  # dL/dy of L = |y|^2, a row (1, d_model)
    jac = jacobian(branch, x)[0, :, 0]  # jac[i, j] = dF_i/dx_j, (d_model, d_model)
    errors.append((g + g @ jac - total).norm() / total.norm())

    # the same x after F has drawn new weights: is dL/dy still the same?
    up.reset_parameters()
    down.reset_parameters()
    moves.append((2 * (x + branch(x)) - g).norm() / g.norm())

exact_to_rounding = bool(torch.stack(errors).max() < 1e-14)
move_median = torch.stack(moves).median().item()
print(f"dL/dx = g + g J to float64 rounding on {len(seeds)} seeds: {exact_to_rounding}")
print(f"new weights in F move g by {move_median:.2f} of its norm (median)")
