# requires: transformers
# limits: 120 s, 4 GB
# Tiny random models from transformers: which module made the input of the head, and its name
import csv

import torch
import transformers
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM

transformers.logging.set_verbosity_error()
version = transformers.__version__
layers = 2
small = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": layers, "intermediate_size": 64}
small |= {"num_attention_heads": 4, "max_position_embeddings": 32}
tokens = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
grouped: dict[str, object] = {"num_key_value_heads": 2, "head_dim": 8}
narrow: dict[str, object] = {"word_embed_proj_dim": 32, "ffn_dim": 64}
models: dict[str, dict[str, object]] = {
    "llama": grouped, "mistral": grouped, "qwen3": grouped, "gemma2": grouped, "olmo2": grouped,
    "mamba": {}, "mpt": {"d_model": 32, "n_heads": 4, "n_layers": layers},
    "gpt2": {}, "bloom": {}, "falcon": {},
    "gpt_neox": {}, "opt": narrow, "phi": {}, "xglm": {"ffn_dim": 64},
    "opt, Post-LN": {**narrow, "do_layer_norm_before": False}, "openai-gpt": {},
}  # fmt: skip
final_norm: dict[str, str] = {}
namesakes: dict[str, int] = {}  # modules of the same name, the final norm among them
given: list[bool] = []  # whether hidden_states[-1] is what the head reads
for kind, more in models.items():
    torch.manual_seed(0)
    config = AutoConfig.for_model(kind.split(",")[0], **{**small, **tokens, **more})
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    head = model.get_output_embeddings()
    read: list[torch.Tensor] = []
    made: dict[str, torch.Tensor] = {}
    head.register_forward_pre_hook(lambda module, args, read=read: read.append(args[0]))
    for name, module in model.named_modules():
        if "norm" in name.split(".")[-1].lower() or "ln" in name.split(".")[-1]:
            module.register_forward_hook(
                lambda module, args, out, name=name, made=made: made.update({name: out})
            )
    out = model(torch.arange(3, 13)[None], output_hidden_states=True)
    name = next(name for name, y in made.items() if torch.equal(y, read[0]))
    final_norm[kind] = name.split(".")[-1]
    if ".layers." in name or ".h." in name:
        final_norm[kind] = "-"
    namesakes[kind] = sum(n.split(".")[-1] == final_norm[kind] for n in made)
    given.append(torch.equal(out.hidden_states[-1], read[0]))
    print(f"{kind:13} {name}")
names = {kind.replace("-", "_"): name for kind, name in final_norm.items()}
distinct_names = len(set(final_norm.values()) - {"-"})
last_state_is_normed = all(given)
opt_namesakes = namesakes["opt"]
post_norm_has_none = final_norm["opt, Post-LN"] == final_norm["openai-gpt"] == "-"
print(f"hidden_states[-1] is the head's input in all of these: {last_state_is_normed}")
print(f"OPT has {opt_namesakes} modules called {final_norm['opt']} with {layers} layers")

vit = AutoConfig.for_model("vit", **{**small, "image_size": 32, "patch_size": 16})
image_model = transformers.AutoModel.from_config(vit).eval()
seen = image_model(torch.randn(1, 3, 32, 32), output_hidden_states=True)
norm = next(
    m for n, m in image_model.named_modules() if isinstance(m, nn.LayerNorm) and "." not in n
)
vit_states_stop_before_norm = torch.equal(norm(seen.hidden_states[-1]), seen.last_hidden_state)
vit_last_is_not_normed = not torch.equal(seen.hidden_states[-1], seen.last_hidden_state)
print("ViT: last_hidden_state is the norm of hidden_states[-1]:", vit_states_stop_before_norm)
with open("names.csv", "w", newline="") as file:
    table = csv.writer(file, lineterminator="\n")
    table.writerow(["model", "name of the final norm"])
    table.writerows(final_norm.items())
