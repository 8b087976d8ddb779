# Which cast order does a norm follow? It is asked in bf16, as a black box.
from collections.abc import Callable

import torch
import torch.nn.functional as F

seeds = range(50)
d_model, eps = 512, 1e-6
Norm = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def rounds_once(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    x32 = x.float()
    return (x32 * torch.rsqrt(x32.square().mean(-1, keepdim=True) + eps) * weight.float()).to(
        x.dtype
    )


def rounds_twice(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return rounds_once(x, torch.ones_like(weight)) * weight


def torch_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, (d_model,), weight.to(x.dtype), eps)


def same_rows(norm: Norm, other: Norm, weight: str, tokens: int = 32) -> float:
    """Share of tokens that come out equal in all bits, over the seeds."""
    shares = []
    for seed in seeds:
        torch.manual_seed(seed)
        x = torch.randn(tokens, d_model).bfloat16()
        gain = {"ones": torch.ones(d_model), "random": 0.5 + torch.rand(d_model)}[weight].bfloat16()
        shares.append((norm(x, gain) == other(x, gain)).all(-1).double().mean().item())
    return sum(shares) / len(shares)


twice_with_ones = same_rows(torch_norm, rounds_twice, "ones")
twice_with_random = same_rows(torch_norm, rounds_twice, "random")
once_with_random = same_rows(torch_norm, rounds_once, "random")
torch_rounds_once = once_with_random == 1
ones_hide_it = twice_with_ones == 1
no_row_equal = twice_with_random == 0
x, weight32 = torch.randn(4, d_model).bfloat16(), torch.ones(d_model)
unit = rounds_once(x, weight32)
fp32_weight_returns_fp32 = (weight32 * unit).dtype == torch.float32  # LLaMA's last line
print(
    f"nn.RMSNorm against rounding twice: weights of one {twice_with_ones:.0%} of the tokens equal,"
)
print(f"random weights {twice_with_random:.0%}; against rounding once {once_with_random:.0%}")
