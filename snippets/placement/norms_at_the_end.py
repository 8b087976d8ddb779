# Which norms stand at the end of torch's own stacks, and what the second one of them does
import torch
from torch import nn

seeds = range(50)
d_model = 64


def encoder(norm_first: bool) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(d_model, 4, dropout=0.0, norm_first=norm_first)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


encoder_adds_none = encoder(norm_first=True).norm is None  # Pre-LN, and its final norm is missing
whole = nn.Transformer(d_model, 4, 1, 1, 64, batch_first=True)  # Post-LN
transformer_adds_one = isinstance(whole.encoder.norm, nn.LayerNorm)
print("nn.TransformerEncoder has a final norm by default:", not encoder_adds_none)
print("nn.Transformer puts one after its Post-LN layers:", transformer_adds_one)

moved = []
for seed in seeds:
    torch.manual_seed(seed)
    y = encoder(norm_first=False)(torch.randn(8, 2, d_model))  # ends with a norm already
    moved.append((nn.LayerNorm(d_model)(y) - y).abs().max().item())
largest_move = max(moved)
second_norm_is_idle = largest_move < 1e-4
trained = nn.LayerNorm(d_model)
nn.init.uniform_(trained.weight, 0.5, 1.5)  # gamma of the norm before, once it is no longer one
z = trained(y)
after_training = (nn.LayerNorm(d_model)(z) - z).abs().max().item()
no_longer_idle = after_training > 0.1
print(f"a second norm moves the output by at most {largest_move:.0e}")
print("with another gamma in the norm before it:", "idle" if not no_longer_idle else "not idle")
