# Linear, norm, ReLU, repeated at initialization: the gradient under BatchNorm and under LayerNorm.
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(100)
d_model, batch, depth = 128, 128, 20
theory = {"BatchNorm": math.pi / (math.pi - 1), "LayerNorm": 1.0}  # |gradient|^2, per layer
steps = depth - 1  # from the last norm back to the lowest
theory_over_all = theory["BatchNorm"] ** (steps / 2)  # of the norm


def gradient_norms(norm: str, seed: int) -> torch.Tensor:
    torch.manual_seed(seed)
    x = torch.randn(batch, d_model, requires_grad=True)
    normalized = []
    for _ in range(depth):
        x = x @ (torch.randn(d_model, d_model) / math.sqrt(d_model))
        if norm == "BatchNorm":
            x = F.batch_norm(x, None, None, training=True)  # each feature, over the batch
        else:
            x = F.layer_norm(x, (d_model,))  # each row, over its features
        normalized.append(x)
        x = x.relu()
    gradients = torch.autograd.grad(x, normalized, torch.randn(batch, d_model))
    return torch.stack([g.norm() for g in gradients])


growth, input_over_output = {}, {}
fig, ax = plt.subplots()
layers = np.arange(1, depth + 1)
columns = [layers]
for k, norm in enumerate(theory):
    norms = torch.stack([gradient_norms(norm, i) for i in seeds])  # (seeds, depth)
    growth[norm] = (norms[:, 0] / norms[:, -1]).log().mean().mul(2 / steps).exp().item()
    input_over_output[norm] = (norms[:, 0] / norms[:, -1]).median().item()
    low, middle, high = np.percentile((norms / norms[:, -1:]).numpy(), [5, 50, 95], axis=0)
    ax.fill_between(layers, low, high, alpha=0.3, color=f"C{k}", linewidth=0)
    ax.plot(layers, middle, ".", color=f"C{k}")  # dots: measured; dashes: theory
    ax.plot(layers, theory[norm] ** ((depth - layers) / 2), "--", color=f"C{k}")
    ax.annotate(norm, (6, middle[5]), (0, 10), textcoords="offset points")
    columns += [low, middle, high]
    print(f"{norm}: squared gradient per layer {growth[norm]:.2f}, theory {theory[norm]:.3f}")
ax.set(yscale="log", xlabel="layer", ylabel="gradient norm over that of the last layer")
ax.set_xticks([1, 5, 10, 15, 20])
plt.savefig("batchnorm_gradient.svg")
header = "layer," + ",".join(f"{n} {p}" for n in theory for p in ("5%", "median", "95%"))
table = np.column_stack(columns)
np.savetxt("batchnorm_gradient.csv", table, "%.4g", ",", header=header, comments="")
