# requires: transformers
# limits: 120 s, 4 GB
# GPT-2 and GPT-NeoX of transformers with random weights, gamma and beta: LayerNorm to RMSNorm
import copy
from typing import Any

import torch
import transformers
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM

seeds = range(10)
version = transformers.__version__
small: dict[str, Any] = {
    "vocab_size": 200,
    "hidden_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
}
small |= {"intermediate_size": 256, "max_position_embeddings": 32, "tie_word_embeddings": False}
small |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
# for each kind: what writes to the stream, and which linear layer reads each norm
writes = {
    "gpt2": (["wte", "wpe"], ["attn.c_proj", "mlp.c_proj"]),
    "gpt_neox": (["embed_in"], ["attention.dense", "mlp.dense_4h_to_h"]),
}
reads = {
    "gpt2": {"ln_1": "attn.c_attn", "ln_2": "mlp.c_fc", "ln_f": "head"},
    "gpt_neox": {
        "input_layernorm": "attention.query_key_value",
        "post_attention_layernorm": "mlp.dense_h_to_4h",
        "final_layer_norm": "head",
    },
}


def as_linear(module: Any) -> torch.Tensor:
    """The weight as (outputs, inputs); GPT-2 stores the transpose."""
    return module.weight if isinstance(module, nn.Linear) else module.weight.T


@torch.no_grad()
def convert(source: Any, kind: str) -> Any:
    model = copy.deepcopy(source)
    embeddings, projections = writes[kind]
    for name, module in list(model.named_modules()):
        if name.split(".")[-1] in embeddings:
            module.weight -= module.weight.mean(1, keepdim=True)
        if any(name.endswith(p) for p in projections):
            weight = as_linear(module)
            weight -= weight.mean(0)
            module.bias -= module.bias.mean()
        for norm_name, reader_name in reads[kind].items():
            if name.split(".")[-1] != norm_name:
                continue
            parent = model.get_submodule(name.rpartition(".")[0])
            is_head = reader_name == "head"
            reader = model.get_output_embeddings() if is_head else parent.get_submodule(reader_name)
            if reader.bias is None:  # the head gets one, for beta
                reader.bias = nn.Parameter(torch.zeros_like(reader.weight[:, 0]))
            weight = as_linear(reader)
            reader.bias += weight @ module.bias
            weight *= module.weight
            rms = nn.RMSNorm(module.weight.numel(), eps=module.eps, elementwise_affine=False)
            setattr(parent, norm_name, rms)
    return model


def naive(source: Any) -> Any:
    """Keeps gamma, drops beta, and centers nothing."""
    model = copy.deepcopy(source)
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.LayerNorm):
            rms = nn.RMSNorm(module.weight.numel(), eps=module.eps, dtype=module.weight.dtype)
            rms.weight = module.weight
            setattr(model.get_submodule(name.rpartition(".")[0]), name.split(".")[-1], rms)
    return model


error: dict[str, float] = {}  # largest over seeds, over the spread of the logits
kl: dict[str, list[float]] = {kind: [] for kind in reads}  # of the naive conversion
layernorms_left = 0
for kind in reads:
    for seed in seeds:
        torch.manual_seed(seed)
        config = AutoConfig.for_model(kind, **small)
        model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
        for p in model.parameters():
            nn.init.normal_(p, 0.05, 0.3 if p.dim() == 1 else 0.2)
        for module in model.modules():
            if isinstance(module, nn.LayerNorm):  # gamma around one, beta around zero
                module.weight.data += 1
        token = torch.randint(small["vocab_size"], (2, 16))
        for dtype in (torch.float64, torch.float32):
            old = copy.deepcopy(model).to(dtype)
            new = convert(old, kind)
            layernorms_left += sum(isinstance(m, nn.LayerNorm) for m in new.modules())
            with torch.no_grad():
                y, z, wrong = (m(token).logits for m in (old, new, naive(old)))
            key = f"{kind}_{str(dtype)[6:]}"
            error[key] = max(error.get(key, 0.0), ((y - z).abs().max() / y.std()).item())
        p, q = y.log_softmax(-1), wrong.log_softmax(-1)
        kl[kind].append((p.exp() * (p - q)).sum(-1).mean().item())
exact_in_float64 = max(e for key, e in error.items() if "64" in key) < 1e-12
float32_within = max(e for key, e in error.items() if "32" in key) < 1e-4
naive_kl = {kind: sum(v) / len(v) for kind, v in kl.items()}
print("transformers", version)
print("LayerNorms left:", layernorms_left)
print("exact: error below 1e-12 in float64:", exact_in_float64)
print("exact: error below 1e-4 in float32:", float32_within)
for kind in reads:
    print(f"naive, {kind}: KL {naive_kl[kind]:.1f}")
