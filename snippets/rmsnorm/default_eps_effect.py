# What the default eps of nn.RMSNorm does to a quiet token, against other choices of eps.
import math

import torch
from torch import nn

d_model, size = 4096, 1e-3  # the token's root mean square
signs = torch.where(torch.arange(d_model) % 2 == 0, 1.0, -1.0)
choices = {"None": None, "1e-6": 1e-6, "1e-5": 1e-5, "0.0078": torch.finfo(torch.bfloat16).eps}
root_mean_square, expected = {}, {}
for dtype in (torch.float32, torch.bfloat16):
    x = (size * signs).to(dtype)
    for name, eps in choices.items():
        y = nn.RMSNorm(d_model, eps=eps, dtype=dtype)(x)
        key = f"{str(dtype).removeprefix('torch.')}, {name}"
        root_mean_square[key] = y.double().square().mean().sqrt().item()
        used = torch.finfo(torch.float32).eps if eps is None else eps
        expected[key] = 1 / math.sqrt(1 + used / size**2)  # r / sqrt(r^2 + eps)
        print(f"{key:16} root mean square of the output {root_mean_square[key]:.3f}")
follows_formula = all(
    abs(root_mean_square[key] / expected[key] - 1) < 0.02 for key in root_mean_square
)
