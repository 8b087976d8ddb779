# A causality test for any layer: change the tokens from one position on, compare earlier outputs.
from collections.abc import Callable

import torch
from torch import nn

seeds = range(200)
batch, tokens, d_model = 8, 16, 32
Layer = Callable[[torch.Tensor], torch.Tensor]  # (batch, seq, d_model) to the same shape


def leak(layer: Layer, x: torch.Tensor, position: int) -> float:
    """Largest change of an output before `position` when everything from there on is replaced."""
    other = x.clone()
    other[:, position:] = torch.randn_like(other[:, position:])
    return (layer(x) - layer(other))[:, :position].abs().max().item()


def over_channels(norm: nn.Module) -> Layer:
    """For the modules that want (batch, d_model, seq)."""
    return lambda x: norm(x.mT).mT


torch.manual_seed(0)
block = nn.TransformerEncoderLayer(d_model, 4, dropout=0.0, batch_first=True)
mask = nn.Transformer.generate_square_subsequent_mask(tokens)
layers: dict[str, Layer] = {
    "LayerNorm(d)": nn.LayerNorm(d_model),
    "RMSNorm(d)": nn.RMSNorm(d_model),
    "block, causal mask": lambda x: block(x, src_mask=mask),
    "BatchNorm1d(d), eval": over_channels(nn.BatchNorm1d(d_model).eval()),
    "BatchNorm1d(d), train": over_channels(nn.BatchNorm1d(d_model)),
    "LayerNorm((seq, d)), eval": nn.LayerNorm((tokens, d_model)).eval(),
    "GroupNorm(1, d), eval": over_channels(nn.GroupNorm(1, d_model).eval()),
    "InstanceNorm1d(d), eval": over_channels(nn.InstanceNorm1d(d_model).eval()),
}
failures = dict.fromkeys(layers, 0)  # seeds in which an earlier output changed at all
for seed in seeds:
    torch.manual_seed(seed)
    x = torch.randn(batch, tokens, d_model)
    for name, layer in layers.items():
        failures[name] += leak(layer, x, position=1 + seed % (tokens - 1)) > 0
for name, count in failures.items():
    print(f"{name:26}{'fails' if count else 'passes'} ({count} of {len(seeds)})")

passing = ["LayerNorm(d)", "RMSNorm(d)", "block, causal mask", "BatchNorm1d(d), eval"]
passes_bit_for_bit = all(failures[name] == 0 for name in passing)
fails_on_all_seeds = all(n == len(seeds) for name, n in failures.items() if name not in passing)
trials = len(seeds)
