# requires: transformers
# Do the forms written out on the page return the bits of the classes in transformers?
import torch
from torch import nn
from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
from transformers.models.llama.modeling_llama import LlamaRMSNorm
from transformers.models.t5.modeling_t5 import T5LayerNorm

seeds = range(10)
d_model, tokens, eps = 1024, 64, 1e-6


def unit32(x: torch.Tensor) -> torch.Tensor:
    x32 = x.float()
    return x32 * torch.rsqrt(x32.square().mean(-1, keepdim=True) + eps)


def rounds_twice(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return weight * unit32(x).to(x.dtype)


def rounds_once(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return (unit32(x) * weight.float()).to(x.dtype)


def one_plus(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (unit32(x) * (1 + w.float())).to(x.dtype)


forms = {
    LlamaRMSNorm: rounds_twice,
    T5LayerNorm: rounds_twice,
    GemmaRMSNorm: one_plus,
    nn.RMSNorm: rounds_once,
}
equal = {norm.__name__: True for norm in forms}
for seed in seeds:
    torch.manual_seed(seed)
    x32, w32 = 2 * torch.randn(tokens, d_model), 0.2 * torch.randn(d_model)
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        x = x32.to(dtype)
        for norm, form in forms.items():
            module = norm(d_model, eps=eps).to(dtype)
            weight = (w32 if norm is GemmaRMSNorm else 1 + w32).to(dtype)
            module.weight.data = weight
            equal[norm.__name__] &= torch.equal(module(x), form(x, weight))
all_equal = all(equal.values())
print("equal in all bits, fp32, bf16 and fp16:", equal)
