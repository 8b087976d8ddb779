# Gradient of the second weight matrix of each block in a stack, at initialization, by placement
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(60)
d_model, depth = 128, 32
placements = ["Post-LN", "Pre-LN", "plain"]


def norm(v: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(v, (d_model,))


def gradient_norms(placement: str, seed: int) -> torch.Tensor:
    torch.manual_seed(seed)
    # the setting of Xiong et al. without attention: square matrices, Xavier, ReLU, no bias
    w1, w2 = torch.randn(2, depth, d_model, d_model) / d_model**0.5
    w2.requires_grad_()
    x, g = norm(torch.randn(d_model)), torch.randn(d_model)  # one token; dL/d(output)
    for a, b in zip(w1, w2, strict=True):
        if placement == "Post-LN":
            x = norm(x + F.relu(x @ a) @ b)
        elif placement == "Pre-LN":
            x = x + F.relu(norm(x) @ a) @ b
        else:
            x = F.relu(x @ a) @ b  # neither norm nor residual
    y = norm(x) if placement == "Pre-LN" else x  # Pre-LN: the final norm
    (gradient,) = torch.autograd.grad(y, w2, g)
    return gradient.double().norm(dim=(1, 2)) / d_model


layers = np.arange(1, depth + 1)
measured = {p: torch.stack([gradient_norms(p, s) for s in seeds]).numpy() for p in placements}
median = {p: np.median(measured[p], axis=0) for p in placements}
theory = {  # in units of d_model
    "Post-LN": np.full(depth, 3**-0.5),
    "Pre-LN": (2 + layers) ** -0.5,
    "plain": np.full(depth, 2 ** (-depth / 2)),
}
# change from a layer to the one before it, from a straight line through the logarithm
factor = {p: float(np.exp(-np.polyfit(layers, np.log(median[p]), 1)[0])) for p in placements}
rms = {p: np.sqrt((measured[p] ** 2).mean(axis=0)) for p in placements}
pre_first_over_last = float(rms["Pre-LN"][0] / rms["Pre-LN"][-1])
pre_first_over_last_theory = float(theory["Pre-LN"][0] / theory["Pre-LN"][-1])
post_over_pre_at_last = float(rms["Post-LN"][-1] / rms["Pre-LN"][-1])
plain_per_block = float(median["plain"].mean() ** (1 / depth))
for p in placements:
    print(f"{p}: factor per layer towards the input {factor[p]:.2f}")
print(f"Pre-LN: layer 1 over layer {depth} {pre_first_over_last:.1f}, ", end="")
print(f"theory {pre_first_over_last_theory:.2f}")
print(f"plain: factor per block of depth {plain_per_block:.2f}")

fig, ax = plt.subplots()
columns, names = [layers], ["layer"]
for color, p in zip(("C1", "C0", "C2"), placements, strict=True):
    low, high = np.percentile(measured[p], [5, 95], axis=0)
    ax.fill_between(layers, low, high, alpha=0.3, color=color, linewidth=0)
    ax.plot(layers, median[p], color=color)
    ax.plot(layers, theory[p], "--", color=color)
    columns += [median[p], low, high, theory[p]]
    names += [f"{p} {c}" for c in ("p50", "p5", "p95", "theory")]
ax.text(26, 0.75, "Post-LN")
ax.text(26, 0.06, "Pre-LN")
ax.text(17, 2e-4, "no norm, no residual")
ax.set(yscale="log", xlabel="layer", ylabel="norm of the weight gradient / d")
plt.savefig("by_layer.svg")
header = ",".join(names)
np.savetxt("by_layer.csv", np.column_stack(columns), "%.3g", ",", header=header, comments="")
