# A key map from LayerNorm to RMSNorm, on one norm and on a block, and what loading says without
import torch
from torch import nn


def convert(state: dict[str, torch.Tensor], keys: list[str]) -> dict[str, torch.Tensor]:
    return {k.replace("bias", "weight"): state[k.replace("bias", "weight")] for k in keys}


d_model = 8
layernorm, rmsnorm = nn.LayerNorm(d_model), nn.RMSNorm(d_model)
state = layernorm.state_dict()
left = list(convert(state, ["bias"]))
left_from_all = list(convert(state, list(state)))
print("one norm, key 'bias':", left, " all its keys:", left_from_all)

block = nn.Sequential(layernorm, nn.Linear(d_model, d_model))
keys = list(block.state_dict())
kept = list(convert(block.state_dict(), keys))
linear_bias_lost = "1.bias" in keys and "1.bias" not in kept
print("a norm and a linear layer:", keys, "become", kept)

refused = ""
try:
    rmsnorm.load_state_dict(state)
except RuntimeError as error:
    refused = str(error).splitlines()[1].strip()
print("loading without a map:", refused)
complains_of_key = "Unexpected key" in refused and "bias" in refused
shapes_agree = rmsnorm.weight.shape == layernorm.weight.shape
same_names = left == ["weight"] and left_from_all == ["weight"]
