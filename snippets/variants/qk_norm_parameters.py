# Parameters of QK-Norm on released shapes: one weight per head dimension, or one of full width
# requires: transformers
import torch
from transformers import AutoConfig, AutoModelForCausalLM

# from the config.json files of the released models: what the size of the norms depends on
qwen3 = {"hidden_size": 4096, "num_hidden_layers": 36, "num_attention_heads": 32}
qwen3 |= {"num_key_value_heads": 8, "head_dim": 128}
olmo2 = {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32}
olmo2 |= {"num_key_value_heads": 32}

shapes = []
for name, kind, sizes in (("Qwen3 8B", "qwen3", qwen3), ("OLMo 2 7B", "olmo2", olmo2)):
    with torch.device("meta"):  # shapes without memory
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **sizes))
    norms = {n: p.numel() for n, p in model.named_parameters() if "q_norm" in n or "k_norm" in n}
    d_model, layers = sizes["hidden_size"], sizes["num_hidden_layers"]
    total = sum(norms.values())
    per_layer = total // layers
    row = {"model": name, "q_norm": norms["model.layers.0.self_attn.q_norm.weight"]}
    row |= {"k_norm": norms["model.layers.0.self_attn.k_norm.weight"], "per_layer": per_layer}
    row |= {"article_2d": 2 * d_model, "total": total}
    shapes.append(row)
    print(f"{name}: {per_layer} a layer, {total} in all; 2d = {2 * d_model}")

# the article's own code: RMSNorm(d // heads), one for q and one for k
d, heads = 64, 4
article_code = 2 * (d // heads)
print(f"the article's code, d = {d} and {heads} heads: {article_code}, not {2 * d}")
overstated = shapes[0]["article_2d"] // shapes[0]["per_layer"]
