# How many tensors of the input's size does each form of a norm read and write? Counted, not timed.
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

d_model = 64
Norm = Callable[[torch.Tensor], torch.Tensor]


def rms_norm_by_hand(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * weight


def layer_norm_by_hand(x: torch.Tensor) -> torch.Tensor:
    centered = x - x.mean(-1, keepdim=True)
    variance = centered.square().mean(-1, keepdim=True)
    return centered * torch.rsqrt(variance + 1e-5) * weight + bias


class Traffic(TorchDispatchMode):
    """Sees each operator that is really called; counts its tensors that have the input's size."""

    reads = writes = operators = 0

    def __torch_dispatch__(self, operator: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = operator(*args, **(kwargs or {}))
        results = result if isinstance(result, tuple) else (result,)
        self.reads += sum(isinstance(a, torch.Tensor) and a.shape == x.shape for a in args)
        self.writes += sum(isinstance(r, torch.Tensor) and r.shape == x.shape for r in results)
        self.operators += 1
        return result


weight, bias = torch.ones(d_model), torch.zeros(d_model)
x = torch.randn(8, 16, d_model)  # (batch, seq, d_model)
norms: dict[str, Norm] = {
    "LayerNorm by hand": layer_norm_by_hand,
    "nn.LayerNorm": nn.LayerNorm(d_model),
    "RMSNorm by hand": rms_norm_by_hand,
    "nn.RMSNorm": nn.RMSNorm(d_model),
}
traffic = []
for name, norm in norms.items():
    with torch.no_grad(), Traffic() as seen:
        norm(x)
    total = seen.reads + seen.writes
    row = {"norm": name, "operators": seen.operators, "read": seen.reads, "written": seen.writes}
    traffic.append({**row, "passes": total})
passes = {row["norm"]: row["passes"] for row in traffic}
by_traffic = passes["RMSNorm by hand"] / passes["LayerNorm by hand"]
torch_rms_norm_is_not_fused = passes["nn.RMSNorm"] == passes["RMSNorm by hand"]
torch_layer_norm_is_fused = passes["nn.LayerNorm"] == 2  # one in, one out
for row in traffic:
    print(f"{row['norm']:18} {row['read']} read, {row['written']} written: {row['passes']} passes")
print(f"by hand, RMSNorm makes {by_traffic:.1%} of LayerNorm's passes")
