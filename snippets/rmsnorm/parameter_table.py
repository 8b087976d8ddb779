# How many parameters do the norms have in models of known width and depth?
import torch
from torch import nn

# width, layers, norms in a layer, size of the model (1e9 parameters), as their papers state them
models = {
    "GPT-2 small": (768, 12, 2, 0.124),
    "GPT-2 XL": (1600, 48, 2, 1.558),
    "LLaMA 7B": (4096, 32, 2, 6.7),
    "LLaMA 65B": (8192, 80, 2, 65.2),
    "GPT-3": (12288, 96, 2, 175.0),
}


def parameters(norm: nn.Module) -> int:
    return sum(p.numel() for p in norm.parameters())


table, layer_norm, rms_norm, saved = [], {}, {}, {}
for name, (d_model, layers, norms, billions) in models.items():
    with torch.device("meta"):
        count = norms * layers + 1  # and the final norm
        layer_norm[name] = count * parameters(nn.LayerNorm(d_model))
        rms_norm[name] = count * parameters(nn.RMSNorm(d_model))
    saved[name] = (layer_norm[name] - rms_norm[name]) / (billions * 1e9)
    table.append(
        {
            "model": name,
            "width": d_model,
            "layers": layers,
            "LayerNorm": layer_norm[name],
            "RMSNorm": rms_norm[name],
            "saved": f"{saved[name]:.4%}",
        }
    )
for row in table:
    print(*row.values(), sep=" | ")

width, depth, norms = 4096, 32, 2  # the article's table, without a final norm
article_layer_norm = norms * depth * parameters(nn.LayerNorm(width))
article_rms_norm = norms * depth * parameters(nn.RMSNorm(width))
article_saves = article_layer_norm - article_rms_norm
article_share = article_saves / (models["LLaMA 7B"][3] * 1e9)
at_1024 = [parameters(nn.LayerNorm(1024)), parameters(nn.RMSNorm(1024))]
saves_at_4096 = parameters(nn.LayerNorm(width)) - parameters(nn.RMSNorm(width))
rms_norm_halves_all = all(2 * rms_norm[name] == layer_norm[name] for name in models)
smaller_share_when_wider = list(saved.values()) == sorted(saved.values(), reverse=True)
megabytes = article_saves * 2 / 1e6  # in bf16
tokens = 8192
activations = norms * depth * 2 * tokens * width * 2 / 1e6  # MB read and written
read_share = megabytes / activations
print(f"{article_saves} parameters: {article_share:.4%} of a 7B model; {megabytes:.2f} MB in bf16,")
print(f"{read_share:.4%} of what the norms read and write for {tokens} tokens")
