# Size of one gradient step, as the sum of squared gradients over all weights, against depth
# limits: 300 s, 4 GB
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(40)
d_model = 64
sublayers = [4, 12, 40, 120, 400]  # two of them are a layer
kinds = ["Post-LN", "Pre-LN", "DeepNorm", "alpha on the branch"]


def norm(v: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(v, (d_model,))


def squared_gradients(kind: str, n: int) -> np.ndarray:
    """In units of d squared; feed-forward sublayers, Xavier, ReLU, one token; a stack a seed."""
    alpha, beta = (n**0.25, (4 * n) ** -0.25) if kind[0] in "Da" else (1, 1)
    w = torch.empty(n, 2, len(seeds), d_model, d_model)
    ends = torch.empty(2, len(seeds), 1, d_model)
    for i, seed in enumerate(seeds):
        torch.manual_seed(seed)
        w[:, :, i] = torch.randn(n, 2, d_model, d_model)
        ends[:, i, 0] = torch.randn(2, d_model)
    w.mul_(beta / d_model**0.5).requires_grad_()
    x, g = norm(ends)  # g: dL/d(output), of norm root d
    for a, b in w:  # (seeds, d, d) each
        if kind == "Pre-LN":
            x = x + F.relu(norm(x) @ a) @ b
        elif kind == "alpha on the branch":
            x = norm(x + alpha * (F.relu(x @ a) @ b))
        else:
            x = norm(alpha * x + F.relu(x @ a) @ b)
    (gradient,) = torch.autograd.grad(norm(x) if kind == "Pre-LN" else x, w, g)
    return (gradient.pow(2).sum((0, 1, 3, 4)) / d_model**2).numpy()


runs = {k: np.stack([squared_gradients(k, n) for n in sublayers], axis=1) for k in kinds}
n = np.array(sublayers)
alpha, beta = n**0.25, (4 * n) ** -0.25
theory = {  # each sublayer passes the squared gradient on unchanged, or telescopes (Pre-LN)
    "Post-LN": 2 * n / 3,
    "Pre-LN": np.array([sum(2 / (2 + i) for i in range(1, m + 1)) for m in sublayers]),
    "DeepNorm": n * beta**2 / (alpha**2 + beta**4 / 2),
    "alpha on the branch": n * (alpha * beta) ** 2 / (1 + alpha**2 * beta**4 / 2),
}
median = {k: np.median(r, axis=0) for k, r in runs.items()}
slope = {k: float(np.polyfit(np.log(n), np.log(m), 1)[0]) for k, m in median.items()}
at_deepest = {k: float(m[-1]) for k, m in median.items()}
at_deepest_theory = {k: float(t[-1]) for k, t in theory.items()}
pre_is_near_theory = abs(at_deepest["Pre-LN"] / at_deepest_theory["Pre-LN"] - 1) < 0.3
post_median_below_theory = at_deepest["Post-LN"] < at_deepest_theory["Post-LN"]
spread = {k: float(np.divide(*np.percentile(r[:, -1], [95, 5]))) for k, r in runs.items()}
deepnorm_is_flat = abs(slope["DeepNorm"]) < 0.05
post_and_branch_grow_with_depth = slope["Post-LN"] > 0.5 and slope["alpha on the branch"] > 0.5
post_varies_more_than_deepnorm = spread["Post-LN"] > 5 > 1.5 > spread["DeepNorm"]
for k in kinds:
    print(f"{k}: {at_deepest[k]:.3g} at {sublayers[-1]} sublayers", end="")
    print(f", theory {at_deepest_theory[k]:.3g}, grows with depth^{slope[k]:.2f}")

fig, ax = plt.subplots()
columns, names = [n], ["sublayers"]
for color, k in zip(("C1", "C0", "C2", "C3"), kinds, strict=True):
    low, high = np.percentile(runs[k], [5, 95], axis=0)
    ax.fill_between(n, low, high, alpha=0.3, color=color, linewidth=0)
    ax.plot(n, median[k], "o", color=color)
    ax.plot(n, theory[k], "--", color=color)
    columns += [median[k], low, high, theory[k]]
    names += [f"{k} {c}" for c in ("p50", "p5", "p95", "theory")]
ax.text(40, 45, "Post-LN", ha="right")
ax.text(35, 11.5, "alpha on the branch", color="C3")
ax.text(130, 3, "Pre-LN")
ax.text(60, 0.7, "DeepNorm")
ax.set(xscale="log", yscale="log", xlabel="sublayers", ylabel="squared gradient, all weights / d²")
plt.savefig("update.svg")
np.savetxt("update.csv", np.column_stack(columns), "%.3g", ",", header=",".join(names), comments="")
