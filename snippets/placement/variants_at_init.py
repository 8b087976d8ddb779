# Growth of the stream, and the gradient at either end of the stack, by placement and depth
# limits: 180 s, 2 GB
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(40)
d_model = 64
depths = [1, 2, 4, 8, 16, 32]  # sublayers
placements = ["Post-LN", "Pre-LN", "sandwich", "reordered", "parallel"]


def norm(v: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(v, (d_model,))


def run(placement: str, depth: int, seed: int, stronger: float = 1) -> tuple[float, float, float]:
    """Squared norm at the end over d; gradient of the second matrix at either end, over d."""
    torch.manual_seed(seed)
    # the setting of Xiong et al. without attention: square matrices, Xavier, ReLU, no bias
    w1, w2 = torch.randn(2, depth, d_model, d_model) / d_model**0.5
    w2 = (w2 * stronger).requires_grad_()
    x, g = norm(torch.randn(d_model)), torch.randn(d_model)  # one token; dL/d(output)
    read = x
    for i, (a, b) in enumerate(zip(w1, w2, strict=True)):
        if placement == "Post-LN":
            x = norm(x + F.relu(x @ a) @ b)
        elif placement == "Pre-LN":
            x = x + F.relu(norm(x) @ a) @ b
        elif placement == "sandwich":
            x = x + norm(F.relu(norm(x) @ a) @ b)
        elif placement == "reordered":
            x = x + norm(F.relu(x @ a) @ b)
        else:  # parallel: two sublayers in a row read the same input
            read = norm(x) if i % 2 == 0 else read
            x = x + F.relu(read @ a) @ b
    y = x if placement == "Post-LN" else norm(x)  # the final norm
    (gradient,) = torch.autograd.grad(y, w2, g)
    size = gradient.norm(dim=(1, 2)) / d_model
    return x.pow(2).mean().item(), size[-1].item(), size[0].item()


runs = {p: np.array([[run(p, n, s) for n in depths] for s in seeds]) for p in placements}
n = np.array(depths)
growth_theory = {"Post-LN": 1 + 0 * n, "Pre-LN": 1 + n / 2, "sandwich": 1 + n}
last_theory = {"Post-LN": 3**-0.5 + 0 * n, "Pre-LN": (2 + n) ** -0.5, "sandwich": (1 + n) ** -0.5}
mean = {p: r.mean(axis=0) for p, r in runs.items()}
rms = {p: np.sqrt((r**2).mean(axis=0)) for p, r in runs.items()}
growth = {p: float(mean[p][-1, 0]) for p in placements}  # at the deepest
growth_by_theory = {p: float(t[-1]) for p, t in growth_theory.items()}
last = {p: float(rms[p][-1, 1]) for p in placements}
last_by_theory = {p: float(t[-1]) for p, t in last_theory.items()}
median = {p: np.median(r, axis=0) for p, r in runs.items()}
front = {p: float(median[p][-1, 2]) for p in placements}  # heavy tail: median
front_by_theory = {"Post-LN": 3**-0.5, "Pre-LN": 3**-0.5, "sandwich": 2**-0.5}
front_within_a_quarter = all(abs(front[p] / f - 1) < 0.25 for p, f in front_by_theory.items())
# the last matrix of each branch made stronger
stronger = 4
grown = {
    p: float(np.mean([run(p, depths[-1], s, stronger)[0] for s in seeds])) for p in placements[1:]
}
for p in placements:
    print(f"{p}, {depths[-1]} sublayers: squared norm / d {growth[p]:.0f}", end="")
    print(f", gradient / d last {last[p]:.2f}, front {front[p]:.2f}")

fig, axes = plt.subplots(2, 1, figsize=(5.6, 5.6), sharex=True)
columns, names = [n], ["sublayers"]
for color, p in zip(("C1", "C0", "C2"), growth_theory, strict=True):
    for i, (ax, theory) in enumerate(zip(axes, (growth_theory, last_theory), strict=True)):
        low, high = np.percentile(runs[p][:, :, i], [5, 95], axis=0)
        center = (mean, rms)[i][p][:, i]
        ax.fill_between(n, low, high, alpha=0.3, color=color, linewidth=0)
        ax.plot(n, center, "o", color=color)
        ax.plot(n, theory[p], "--", color=color)
        columns += [center, low, high, theory[p]]
        names += [f"{p} {('growth', 'gradient')[i]} {c}" for c in ("mean", "p5", "p95", "theory")]
axes[0].plot(n, mean["reordered"][:, 0], "x", color="C3")
axes[1].plot(n, rms["reordered"][:, 1], "x", color="C3")
columns += [mean["reordered"][:, 0], rms["reordered"][:, 1]]
names += ["reordered growth mean", "reordered gradient mean"]
axes[0].text(14, 24, "sandwich, x: reordered", ha="right")
axes[0].text(20, 6.5, "Pre-LN")
axes[0].text(20, 1.2, "Post-LN")
axes[1].text(16, 0.66, "Post-LN")
axes[1].text(3, 0.2, "Pre-LN and sandwich")
axes[0].set(yscale="log", ylabel="squared norm / d")
axes[1].set(yscale="log", ylabel="last weight gradient / d", xlabel="sublayers")
axes[1].set_xscale("log", base=2)
plt.savefig("at_init.svg")
np.savetxt(
    "at_init.csv", np.column_stack(columns), "%.3g", ",", header=",".join(names), comments=""
)
