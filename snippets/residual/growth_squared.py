# Squared norm of the stream through Pre-LN blocks at initialization, and what a layer writes to it
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

seeds = range(50)
d_model, hidden, depth = 128, 512, 64
rate, fitted = 0.0163, 12  # the article's growth per layer, and the layers it was fitted on

squares, writes, posts = [], [], []
for seed in seeds:
    torch.manual_seed(seed)
    norm = nn.LayerNorm(d_model)
    x = torch.randn(16, d_model)  # (tokens, d_model)
    post, square, write, post_square = norm(x), [x.pow(2).mean()], [], []
    for _ in range(depth):
        branch = nn.Sequential(nn.Linear(d_model, hidden), nn.GELU(), nn.Linear(hidden, d_model))
        with torch.no_grad():
            f = branch(norm(x))
            write.append((f.norm(dim=-1) / x.norm(dim=-1)).mean())
            x = x + f
            square.append(x.pow(2).mean())
            post = norm(post + branch(post))
            post_square.append(post.pow(2).mean())
    squares.append(torch.stack(square))
    writes.append(torch.stack(write))
    posts.append(torch.stack(post_square))
measured, written, flat = (torch.stack(v).double().numpy() for v in (squares, writes, posts))

# theory: |x_l|^2 / d grows by c / d a layer
sigma2 = 1 / 3  # fan_in times the variance of a default weight or bias
u = torch.linspace(-10, 10, 4001).double()
weight = torch.softmax(-u.pow(2) / 2, dim=0)  # quadrature for a standard normal
z = u * math.sqrt(sigma2 * (1 + 1 / d_model))
gelu_square = (weight * nn.functional.gelu(z).pow(2)).sum().item()  # E GELU(z)^2
c_over_d = sigma2 * (gelu_square + 1 / hidden)
layers = np.arange(depth + 1)
theory = 1 + c_over_d * layers
relative = np.sqrt(c_over_d / theory[:-1])  # of layers 1 to L
law = (1 + rate) ** (2 * layers)

mean = measured.mean(axis=0)
per_layer = float(np.polyfit(layers, mean, 1)[0])
at_end, at_end_theory = float(mean[-1]), float(theory[-1])
norm_at_end, norm_at_end_theory = math.sqrt(at_end), math.sqrt(at_end_theory)
percentage_at_end = float((1 + rate) ** depth)  # of the norm
norm_at_fitted = math.sqrt(theory[fitted])  # over the norm at the start
rates = np.sqrt(theory[1:] / theory[:-1]) - 1
rate_at = {str(n): float(rates[n - 1]) for n in (1, fitted, depth)}
middle = np.median(written, axis=0)
write_first, write_last = float(middle[0]), float(middle[-1])
write_first_theory, write_last_theory = float(relative[0]), float(relative[-1])
target = 2  # times the norm of the input
layers_to_target = (target**2 - 1) / c_over_d
post_off_by = float(np.abs(flat - 1).max())
post_is_flat = post_off_by < 1e-4
falls_at_every_layer = bool((np.diff(relative) < 0).all())
print(f"E GELU(z)^2 = {gelu_square:.4f}, c = {c_over_d:.4f} d, measured {per_layer:.4f} d")
print(f"squared norm / d after {depth} layers: {at_end:.2f}, theory {at_end_theory:.2f}")
print(f"write / stream: layer 1 {write_first:.3f}, layer {depth} {write_last:.3f}")

fig, ax = plt.subplots()
low, high = np.percentile(measured, [5, 95], axis=0)
ax.fill_between(layers, low, high, alpha=0.3, color="C0", linewidth=0)
ax.plot(layers, np.median(measured, axis=0), color="C0")
ax.plot(layers, theory, "--", color="C0")
ax.plot(layers, law, ":", color="C1")
ax.plot(layers[1:], flat.mean(axis=0), color="C2")
ax.text(44, 2.5, "Pre-LN", va="top")
ax.text(29, 3.2, f"{rate:.2%} a layer", ha="right")
ax.text(40, 1.1, "Post-LN")
ax.set(xlabel="layer l", ylabel="squared norm / d", ylim=(0, 6))
plt.savefig("squared_norm.svg")
table = np.column_stack([layers, np.median(measured, axis=0), low, high, theory, law])
header = "layer,p50,p5,p95,theory,percentage"
np.savetxt("squared_norm.csv", table, "%.4g", ",", header=header, comments="")

fig, ax = plt.subplots()
low, high = np.percentile(written, [5, 95], axis=0)
ax.fill_between(layers[1:], low, high, alpha=0.3, color="C0", linewidth=0)
ax.plot(layers[1:], middle, color="C0")
ax.plot(layers[1:], relative, "--", color="C0")
ax.set(xlabel="layer l", ylabel="norm written / norm of the stream", ylim=(0, None))
plt.savefig("relative_write.svg")
table = np.column_stack([layers[1:], middle, low, high, relative])
np.savetxt("relative_write.csv", table, "%.4g", ",", header="layer,p50,p5,p95,theory", comments="")
