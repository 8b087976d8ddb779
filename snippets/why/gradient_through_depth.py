# The gradient at the input of each layer of a random linear stack, without and with LayerNorm.
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(200)
d_model, depth = 64, 20
scales = [0.0375, 0.1, 0.125, 0.3, 1.2]  # s: the standard deviation of one weight


def gradient_norms(scale: float, seed: int, layer_norm: bool) -> torch.Tensor:
    torch.manual_seed(seed)
    x = F.layer_norm(torch.randn(1, d_model), (d_model,)).requires_grad_()
    inputs = [x]  # x_0 to x_L
    for _ in range(depth):
        x = x @ (torch.randn(d_model, d_model) * scale)
        x = F.layer_norm(x, (d_model,)) if layer_norm else x
        inputs.append(x)
    direction = F.normalize(torch.randn(1, d_model))  # dL/dx_L: fixed, of norm 1
    gradients = torch.autograd.grad(x, inputs, direction)
    return torch.cat(gradients).double().norm(dim=-1)


plain = {s: torch.stack([gradient_norms(s, i, False) for i in seeds]) for s in scales}
normed = {s: torch.stack([gradient_norms(s, i, True) for i in seeds]) for s in scales}

chi2_log = math.log(2) + torch.digamma(torch.tensor(d_model / 2)).item()
typical_gain = {str(s): s * math.exp(chi2_log / 2) for s in scales}  # as in the forward pass
measured_gain = (-plain[0.3].log().diff(dim=1)).mean().exp().item()  # x_l against x_(l+1)
plain_at_input = {str(s): plain[s][:, 0].median().item() for s in scales}
largest_difference = max((normed[s] / normed[0.3] - 1).abs().max().item() for s in scales)
plain_spread = plain[0.3][:, 0].log().std().item()
normed_spread = normed[0.3][:, 0].log().std().item()
same_for_every_scale = largest_difference < 0.001
print(f"s = 0.3: gain per layer backward {measured_gain:.2f}, theory {typical_gain['0.3']:.2f}")
print(f"LayerNorm: largest difference between any two scales {largest_difference:.0e} of the norm")

fig, ax = plt.subplots()
layers = np.arange(depth + 1)
columns = [layers]
for k, s in enumerate(scales):
    low, middle, high = np.percentile(plain[s].numpy(), [5, 50, 95], axis=0)
    ax.fill_between(layers, low, high, alpha=0.3, color=f"C{k}", linewidth=0)
    ax.plot(layers, middle, ".", color=f"C{k}")  # dots: measured; dashes: theory
    ax.plot(layers, typical_gain[str(s)] ** (depth - layers), "--", color=f"C{k}")
    ax.annotate(f"s = {s} ", (0, middle[0]), ha="right", va="center")
    columns.append(middle)
columns.append(np.median(normed[0.3].numpy(), axis=0))
ax.plot(layers, columns[-1], "x", color="C5")
ax.annotate("any s, LayerNorm", (2, 20))
ax.set(yscale="log", xlabel="layer l", ylabel="norm of the gradient at x_l", xlim=(-5, depth))
ax.set_xticks([0, 5, 10, 15, 20])
plt.savefig("gradient_through_depth.svg")
header = ",".join(["layer", *(f"s={s}" for s in scales), "LayerNorm"])
table = np.column_stack(columns)
np.savetxt("gradient_through_depth.csv", table, "%.3g", ",", header=header, comments="")
