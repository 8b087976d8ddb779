# How far one step of Adam moves the function at initialization, by placement, depth and rate
# limits: 180 s, 2 GB
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(36)
d_model, tokens = 64, 32
depths = [2, 8, 32, 64]  # feed-forward blocks
placements = ["Post-LN", "Pre-LN"]
rates = [1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2]
fixed_rate = 1e-5  # small enough for the linear regime


def norm(v: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(v, (d_model,))


def forward(placement: str, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    for a, b in w:
        post = placement == "Post-LN"
        x = norm(x + F.relu(x @ a) @ b) if post else x + F.relu(norm(x) @ a) @ b
    return x if placement == "Post-LN" else norm(x)


def moves(placement: str, depth: int, seed: int) -> list[float]:
    """Relative change of the output in one step, for each rate."""
    torch.manual_seed(seed)
    w = torch.randn(depth, 2, d_model, d_model) / d_model**0.5  # Xavier
    w.requires_grad_()
    x, target = norm(torch.randn(tokens, d_model)), torch.randn(tokens, d_model)
    y = forward(placement, w, x)
    (gradient,) = torch.autograd.grad((y - target).pow(2).mean(), w)
    with torch.no_grad():  # Adam's step 1 is lr times the sign, see adam_early_steps.py
        return [
            ((forward(placement, w - lr * gradient.sign(), x) - y).norm() / y.norm()).item()
            for lr in rates
        ]


runs = {p: np.array([[moves(p, n, s) for n in depths] for s in seeds]) for p in placements}
median = {p: np.median(r, axis=0) for p, r in runs.items()}  # (depth, rate)
at_fixed_rate = {p: [float(v) for v in m[:, rates.index(fixed_rate)]] for p, m in median.items()}
slope = {p: float(np.polyfit(np.log(depths), np.log(at_fixed_rate[p]), 1)[0]) for p in placements}
post_is_steeper = slope["Post-LN"] > slope["Pre-LN"] + 0.4
steeper_than_the_sum = slope["Post-LN"] > 1.1 and slope["Pre-LN"] > 0.6
deep_over_shallow = {p: m[-1] / m[0] for p, m in at_fixed_rate.items()}
post_over_pre_at_deepest = at_fixed_rate["Post-LN"][-1] / at_fixed_rate["Pre-LN"][-1]
post_over_pre_at_shallowest = at_fixed_rate["Post-LN"][0] / at_fixed_rate["Pre-LN"][0]
# the rate at which one step moves the output by so much, by interpolation
target_move = 0.1


def rate_for(move: np.ndarray) -> float:
    ends = {"left": np.nan, "right": np.nan}  # no value outside the rates that were run
    return float(np.exp(np.interp(np.log(target_move), np.log(move), np.log(rates), **ends)))


rate_for_target = {p: [rate_for(move) for move in median[p]] for p in placements}
post_below_a_quarter = rate_for_target["Post-LN"][-1] < rate_for_target["Pre-LN"][-1] / 4
for p in placements:
    print(f"{p}: moves by depth^{slope[p]:.2f}; {target_move} is reached at a rate of ", end="")
    print(", ".join(f"{r:.1e}" for r in rate_for_target[p]), "for", *depths, "blocks")

fig, ax = plt.subplots()
columns, names = [np.array(rates)], ["lr"]
for color, p in zip(("C1", "C0"), placements, strict=True):
    for i, style in ((0, ":"), (2, "--"), (3, "-")):
        low, high = np.percentile(runs[p][:, i], [5, 95], axis=0)
        ax.fill_between(rates, low, high, alpha=0.25, color=color, linewidth=0)
        ax.plot(rates, median[p][i], style, color=color)
        columns += [median[p][i], low, high]
        names += [f"{p} {depths[i]} {c}" for c in ("p50", "p5", "p95")]
ax.text(3e-5, 0.5, "Post-LN", color="C1", ha="right")
ax.text(2e-5, 2e-3, "Pre-LN", color="C0")
ax.text(5e-4, 4e-4, "dots 2, dashes 32, line 64 blocks", ha="center")
ax.set(xscale="log", yscale="log", xlabel="learning rate", ylabel="change of the output, relative")
plt.savefig("moved.svg")
np.savetxt("moved.csv", np.column_stack(columns), "%.3g", ",", header=",".join(names), comments="")
