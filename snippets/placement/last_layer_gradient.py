# Gradient of the last block's second weight matrix against depth and width, at initialization
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(150)
d_model = 64
depths = [1, 2, 4, 8, 16, 32, 64]
widths = [32, 64, 128, 256]


def last_gradient(placement: str, depth: int, d: int, seed: int) -> float:
    """Xavier, ReLU, square matrices, no bias or attention; the output gradient has unit entries."""
    torch.manual_seed(seed)
    x, g = F.layer_norm(torch.randn(d), (d,)), torch.randn(d)
    for _ in range(depth):
        a, b = torch.randn(2, d, d) / d**0.5
        if placement == "Post-LN":
            h = F.relu(x @ a)
            y = F.layer_norm(s := (x + h @ b).requires_grad_(), (d,))
            x = y.detach()
        else:
            h = F.relu(F.layer_norm(x, (d,)) @ a)
            x = x + h @ b
    if placement == "Pre-LN":
        y = F.layer_norm(s := x.requires_grad_(), (d,))  # the final norm
    (at_sum,) = torch.autograd.grad(y, s, g)
    return (h.norm() * at_sum.norm()).item()  # one token: the weight gradient is an outer product


runs = {
    p: np.array([[last_gradient(p, n, d_model, s) for n in depths] for s in seeds]) / d_model
    for p in ("Post-LN", "Pre-LN")
}
rms = {p: np.sqrt((r**2).mean(axis=0)) for p, r in runs.items()}
theory = {p: np.array([(3 if p == "Post-LN" else 2 + n) ** -0.5 for n in depths]) for p in runs}
post_over_depth = float(rms["Post-LN"].max() / rms["Post-LN"].min())
slope = {p: float(np.polyfit(np.log(depths), np.log(rms[p]), 1)[0]) for p in runs}
steep = {p: float(np.polyfit(np.log(depths[-3:]), np.log(rms[p][-3:]), 1)[0]) for p in runs}
largest_error = float(max(np.abs(rms[p] / theory[p] - 1).max() for p in runs))
at_64 = {p: float(rms[p][-1]) for p in runs}
at_64_theory = {p: float(theory[p][-1]) for p in runs}

by_width = [
    float(np.sqrt(np.mean([last_gradient("Post-LN", 4, d, s) ** 2 for s in seeds])) / d)
    for d in widths
]
log_would_add = float(np.sqrt(np.log(widths[-1]) / np.log(widths[0])))  # the bound's factor
width_added = by_width[-1] / by_width[0]
for p in runs:
    print(f"{p}: gradient / d at {depths[-1]} blocks {at_64[p]:.2f}, slope in depth {steep[p]:.2f}")
print(f"width {widths[0]} to {widths[-1]}: gradient / d times {width_added:.2f}")

fig, ax = plt.subplots()
columns = [np.array(depths)]
for color, p in zip(("C1", "C0"), runs, strict=True):
    low, high = np.percentile(runs[p], [5, 95], axis=0)
    ax.fill_between(depths, low, high, alpha=0.3, color=color, linewidth=0)
    ax.plot(depths, rms[p], "o", color=color)
    ax.plot(depths, theory[p], "--", color=color)
    columns += [rms[p], low, high, theory[p]]
ax.text(8, 0.75, "Post-LN")
ax.text(8, 0.19, "Pre-LN")
ax.set(xlabel="blocks", ylabel="norm of the last weight gradient / d")
ax.set_xscale("log", base=2)
ax.set_yscale("log")
plt.savefig("last_layer.svg")
header = "blocks," + ",".join(f"{p} {c}" for p in runs for c in ("rms", "p5", "p95", "theory"))
np.savetxt("last_layer.csv", np.column_stack(columns), "%.3g", ",", header=header, comments="")
