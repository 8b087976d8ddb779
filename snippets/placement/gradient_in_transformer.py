# The gradient by layer in stacks of torch's own encoder and decoder layers, at initialization
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

seeds = range(24)
d_model, depth, vocabulary = 64, 24, 100
stacks = ["encoder-Post-LN", "encoder-Pre-LN", "decoder-Post-LN", "decoder-Pre-LN"]


def gradient_norms(stack: str, seed: int) -> torch.Tensor:
    torch.manual_seed(seed)
    kind = nn.TransformerDecoderLayer if "decoder" in stack else nn.TransformerEncoderLayer
    wide, pre = 2 * d_model, "Pre" in stack
    layers = [
        kind(d_model, 4, wide, dropout=0.0, batch_first=True, norm_first=pre) for _ in range(depth)
    ]
    for parameter in nn.ModuleList(layers).parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)  # as nn.Transformer does
    final = nn.LayerNorm(d_model) if pre else nn.Identity()
    head = nn.Linear(d_model, vocabulary)
    x = torch.randn(2, 16, d_model)  # (batch, seq, d_model)
    # one token of encoder output to read: cross-attention then writes the same at all positions
    memory = [nn.LayerNorm(d_model)(torch.randn(2, 1, d_model))] if "decoder" in stack else []
    for layer in layers:
        x = layer(x, *memory)
    target = torch.randint(vocabulary, (2 * 16,))
    loss = nn.functional.cross_entropy(head(final(x)).flatten(0, 1), target)
    weights = [layer.linear2.weight for layer in layers]
    return torch.stack([g.norm() for g in torch.autograd.grad(loss, weights)]).double()


runs = {s: torch.stack([gradient_norms(s, i) for i in seeds]).numpy() for s in stacks}
numbers = np.arange(1, depth + 1)
median = {s: np.median(runs[s], axis=0) for s in stacks}
# factor per layer towards the input, from a straight line in the logarithm
factor = {s: float(np.exp(-np.polyfit(numbers, np.log(median[s]), 1)[0])) for s in stacks}
first_over_last = {s: float(median[s][0] / median[s][-1]) for s in stacks}
# cross-attention writes 1/2 of the memory's mean square, the norm divides by the root of the sum,
# and the gradient of that write goes to the memory instead of down the stack
decoder_theory = (1 + 1 / 2) ** -0.5
for s in stacks:
    print(f"{s}: factor per layer {factor[s]:.2f}, layer 1 over last {first_over_last[s]:.2g}")

fig, ax = plt.subplots()
for color, s in zip(("C1", "C0", "C2", "C3"), stacks, strict=True):
    low, high = np.percentile(runs[s], [5, 95], axis=0)
    ax.fill_between(numbers, low, high, alpha=0.3, color=color, linewidth=0)
    ax.plot(numbers, median[s], color=color)
last = median[stacks[2]][-1]
ax.plot(numbers, last * decoder_theory ** (depth - numbers), "--", color="C2")
for s, x, y in zip(stacks, (11, 8.5, 8, 1), (0.8, 0.33, 0.006, 0.1), strict=True):
    ax.text(x, y, s.replace("-", ", ", 1))
ax.set(yscale="log", xlabel="layer", ylabel="norm of the gradient of linear2", ylim=(2e-3, 1.5))
plt.savefig("in_transformer.svg")
np.savetxt(
    "in_transformer.csv",
    np.column_stack([numbers, *median.values()]),
    "%.3g",
    ",",
    header=",".join(["layer", *stacks]),
    comments="",
)
