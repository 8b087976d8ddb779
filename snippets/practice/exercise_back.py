# RMSNorm to LayerNorm, exactly: carry x and -x side by side, a stream of mean zero
import math

import torch
import torch.nn.functional as F

seeds = range(20)
d_model, hidden, depth, eps = 32, 128, 6, 1e-6

off = []
for seed in seeds:
    torch.manual_seed(seed)
    x = 1 + torch.randn(16, d_model).double()
    wide = torch.cat([x, -x], -1)  # mean zero, and its variance is the mean square of x
    for _ in range(depth):
        a = torch.randn(d_model, hidden).double() / math.sqrt(d_model)
        b = torch.randn(hidden, d_model).double() / math.sqrt(hidden)
        x = x + F.gelu(F.rms_norm(x, (d_model,), eps=eps) @ a) @ b
        read, write = torch.cat([a, torch.zeros_like(a)]), torch.cat([b, -b], -1)
        wide = wide + F.gelu(F.layer_norm(wide, (2 * d_model,), eps=eps) @ read) @ write
    y, z = F.rms_norm(x, (d_model,), eps=eps), F.layer_norm(wide, (2 * d_model,), eps=eps)
    off.append((y - z[:, :d_model]).abs().max().item())
back_is_exact = max(off) < 1e-12
widening = wide.shape[-1] // d_model
print(f"LayerNorm on a stream {widening} times as wide gives the same output:", back_is_exact)
