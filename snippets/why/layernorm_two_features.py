# Exercise: LayerNorm over two features. What can it output, and what gradient comes back?
import torch
import torch.nn.functional as F

seeds = range(200)
off_sign, off_circle, gradient = [], [], []
for seed in seeds:
    torch.manual_seed(seed)
    x = torch.randn(32, 2, dtype=torch.float64, requires_grad=True)  # (tokens, features)
    y = F.layer_norm(x, (2,), eps=0.0)
    sign = torch.sign(x[:, :1] - x[:, 1:])  # +1 where feature 0 is the larger
    off_sign.append((y - torch.cat([sign, -sign], dim=1)).abs().max().item())
    (grad,) = torch.autograd.grad((y * torch.randn_like(y)).sum(), x)
    gap = (x[:, :1] - x[:, 1:]).detach().abs()
    gradient.append((grad.abs() * gap).max().item())  # relative to 1 / |x0 - x1|
    z = F.layer_norm(torch.randn(32, 3, dtype=torch.float64), (3,), eps=0.0)
    off_circle.append((z.norm(dim=1) - 3**0.5).abs().max().item())
only_plus_or_minus_one = max(off_sign) < 1e-6
no_gradient = max(gradient) < 1e-6
three_features_on_a_circle = max(off_circle) < 1e-6
print(
    f"two features: outputs only (1, -1) or (-1, 1): {only_plus_or_minus_one}; "
    f"gradient zero: {no_gradient}"
)
print(f"three features: outputs on a circle of radius sqrt(3): {three_features_on_a_circle}")
