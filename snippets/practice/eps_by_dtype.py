# What is left of eps in half precision, and which eps nn.RMSNorm takes by default
import torch
from torch import nn

types = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
wanted = [1e-5, 1e-6, 1e-8, 1e-12]
stored = {
    name: {f"{e:g}": torch.tensor(e, dtype=t).item() for e in wanted} for name, t in types.items()
}
off = {n: {k: abs(v / float(k) - 1) for k, v in by.items()} for n, by in stored.items()}  # relative
for name, by in stored.items():
    print(f"{name}:", ", ".join(f"{k} is {v:.3g}" for k, v in by.items()))
lost_in_fp16 = stored["fp16"]["1e-08"] == stored["fp16"]["1e-12"] == 0
kept_in_bf16 = all(v > 0 for v in stored["bf16"].values())
bf16_smallest_normal = torch.finfo(torch.bfloat16).tiny


def eps_of(dtype: torch.dtype) -> float:
    """Solves y = x / sqrt(x^2 + eps) for eps, with an input so small that eps decides."""
    x = torch.full((1, 64), 2.0**-14, dtype=dtype)
    y = nn.RMSNorm(64, eps=None, elementwise_affine=False)(x)
    r, out = x.double()[0, 0].item(), y.double()[0, 0].item()
    return r**2 * (1 / out**2 - 1)


implied = {name: eps_of(t) for name, t in types.items()}
fp32_epsilon, bf16_epsilon = (torch.finfo(types[n]).eps for n in ("fp32", "bf16"))
for name, e in implied.items():
    print(f"nn.RMSNorm(eps=None) in {name} behaves as eps = {e:.2g}")
none_means_fp32_epsilon = all(abs(e / fp32_epsilon - 1) < 0.05 for e in implied.values())
none_means_own_epsilon = abs(implied["bf16"] / bf16_epsilon - 1) < 0.05
