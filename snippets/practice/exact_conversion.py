# A pre-norm Transformer with LayerNorm becomes one with RMSNorm and computes the same function
import copy
from typing import Any

import torch
from torch import nn

seeds = range(20)
d_model, vocabulary, eps = 64, 200, 1e-5


def center(weight: torch.Tensor, bias: torch.Tensor) -> None:
    """Weight (d_model, n) and bias that write to the stream: each write gets mean zero."""
    weight -= weight.mean(0)
    bias -= bias.mean()


def fold(norm: nn.LayerNorm, weight: torch.Tensor, bias: torch.Tensor) -> nn.RMSNorm:
    """Moves gamma and beta into the weight (n, d_model) and bias that read the norm's output."""
    bias += weight @ norm.bias
    weight *= norm.weight
    return nn.RMSNorm(d_model, eps=norm.eps, elementwise_affine=False)


@torch.no_grad()
def convert(net: Any) -> None:
    net["embed"].weight -= net["embed"].weight.mean(1, keepdim=True)
    for layer in net["stack"].layers:
        attention = layer.self_attn
        center(attention.out_proj.weight, attention.out_proj.bias)
        center(layer.linear2.weight, layer.linear2.bias)
        layer.norm1 = fold(layer.norm1, attention.in_proj_weight, attention.in_proj_bias)
        layer.norm2 = fold(layer.norm2, layer.linear1.weight, layer.linear1.bias)
    net["stack"].norm = fold(net["stack"].norm, net["head"].weight, net["head"].bias)


def logits(net: Any, token: torch.Tensor) -> Any:
    return net["head"](net["stack"](net["embed"](token)))


worst: dict[str, float] = {}
for seed in seeds:
    torch.manual_seed(seed)
    block = nn.TransformerEncoderLayer(
        d_model, 4, 256, dropout=0.0, norm_first=True, batch_first=True
    )
    final = nn.LayerNorm(d_model, eps)
    stack = nn.TransformerEncoder(block, 6, norm=final, enable_nested_tensor=False)
    head = nn.Linear(d_model, vocabulary)
    net: Any = nn.ModuleDict(
        {"embed": nn.Embedding(vocabulary, d_model), "stack": stack, "head": head}
    )
    for p in net.parameters():  # gamma and beta too
        nn.init.normal_(p, 0.05, 0.3 if p.dim() == 1 else 0.2)
    token = torch.randint(vocabulary, (4, 16))
    for dtype in (torch.float64, torch.float32):
        old = copy.deepcopy(net).to(dtype)
        new = copy.deepcopy(old)
        convert(new)
        y, z = logits(old, token), logits(new, token)
        error = ((y - z).abs().max() / y.std()).item()
        worst[str(dtype)[6:]] = max(worst.get(str(dtype)[6:], 0.0), error)
layernorms_left = sum(isinstance(m, nn.LayerNorm) for m in new.modules())
all_replaced = layernorms_left == 0
exact_in_float64 = worst["float64"] < 1e-12
float32_within = worst["float32"] < 1e-4
print(f"LayerNorms left: {layernorms_left}")
print("largest error over the spread of the logits, below 1e-12 in float64:", exact_in_float64)
print("and below 1e-4 in float32:", float32_within)
