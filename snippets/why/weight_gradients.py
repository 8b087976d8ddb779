# The gradient of each weight matrix by layer, without and with LayerNorm, for three weight scales.
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(200)
d_model, depth = 64, 20
scales = [0.1, 0.125, 0.15]  # gain per layer: s * sqrt(d_model)


def weight_gradient_norms(scale: float, seed: int, layer_norm: bool) -> torch.Tensor:
    torch.manual_seed(seed)
    x = F.layer_norm(torch.randn(1, d_model), (d_model,))  # one token
    weights = [(torch.randn(d_model, d_model) * scale).requires_grad_() for _ in range(depth)]
    for w in weights:
        x = F.layer_norm(x @ w, (d_model,)) if layer_norm else x @ w
    direction = F.normalize(torch.randn(1, d_model))  # dL/dx_L: fixed, of norm 1
    gradients = torch.autograd.grad(x, weights, direction)
    return torch.stack([g.norm() for g in gradients])  # Frobenius norms, layers 1 to L


plain = {s: torch.stack([weight_gradient_norms(s, i, False) for i in seeds]) for s in scales}
normed = {s: torch.stack([weight_gradient_norms(s, i, True) for i in seeds]) for s in scales}

# |dL/dW_l| = |x_(l-1)| |dL/dx_l|: the forward gains below l and the backward gains above it.
chi2_log = math.log(2) + torch.digamma(torch.tensor(d_model / 2)).item()
theory = {str(s): math.sqrt(d_model) * (s * math.exp(chi2_log / 2)) ** (depth - 1) for s in scales}
first_layer = {str(s): plain[s][:, 0].median().item() for s in scales}
last_layer = {str(s): plain[s][:, -1].median().item() for s in scales}
log_ratio = (plain[0.1][:, -1] / plain[0.1][:, 0]).log()
standard_errors = (log_ratio.mean() / log_ratio.std()).abs().item() * math.sqrt(len(seeds))
no_trend_with_depth = standard_errors < 4
normed_median = {str(s): normed[s].median().item() for s in scales}
doubled = torch.stack([weight_gradient_norms(0.2, i, True) for i in seeds]) / normed[0.1]
smallest_ratio, largest_ratio = doubled.min().item(), doubled.max().item()
print("no norm, median of |dL/dW| by scale:", {s: float(f"{v:.1g}") for s, v in theory.items()})
print(f"LayerNorm, weights doubled: |dL/dW| times {smallest_ratio:.3f} to {largest_ratio:.3f}")

fig, ax = plt.subplots()
layers = np.arange(1, depth + 1)
columns = [layers]
for k, s in enumerate(scales):
    low, middle, high = np.percentile(plain[s].numpy(), [5, 50, 95], axis=0)
    ax.fill_between(layers, low, high, alpha=0.3, color=f"C{k}", linewidth=0)
    ax.plot(layers, middle, ".", color=f"C{k}")
    ax.plot(layers, np.full(depth, theory[str(s)]), "--", color=f"C{k}")  # dashes: theory
    ax.plot(layers, np.median(normed[s].numpy(), axis=0), "x", color=f"C{k}")
    ax.annotate(f" s = {s}", (depth, middle[-1]), va="center")
    columns += [low, middle, high, np.median(normed[s].numpy(), axis=0)]
ax.annotate("crosses: LayerNorm", (1, 15))
ax.set(yscale="log", xlabel="layer", ylabel="norm of the gradient of W", xlim=(0, depth + 4))
ax.set_xticks([1, 5, 10, 15, 20])
plt.savefig("weight_gradients.svg")
names = ["5%", "median", "95%", "LayerNorm"]
header = ",".join(["layer", *(f"s={s} {name}" for s in scales for name in names)])
table = np.column_stack(columns)
np.savetxt("weight_gradients.csv", table, "%.3g", ",", header=header, comments="")
