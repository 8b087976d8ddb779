# Entropy and gradient of attention while q and k grow: without QK-Norm, with it, and in its gains
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(30)
d_model, d_k, tokens = 128, 64, 64
scales = [2.0**e for e in range(-2, 9)]  # of q . k
kinds = ["plain", "qk_norm", "gains"]
alive = 0.01  # a row whose Jacobian is smaller hardly learns


def measure(kind: str, scale: float, seed: int) -> list[float]:
    """Entropy over its maximum, gain of softmax, its median, share of rows alive, grad at W_q."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(tokens, d_model, generator=generator, dtype=torch.float64)
    w_q, w_k = torch.randn(2, d_k, d_model, generator=generator, dtype=torch.float64)
    values, upstream = torch.randn(2, tokens, d_k, generator=generator, dtype=torch.float64)
    root = math.sqrt(scale / d_model)
    w_q, w_k = (root * w_q).requires_grad_(), root * w_k
    q, k = x @ w_q.T, x @ w_k.T  # (tokens, d_k), entries of variance scale
    if kind != "plain":
        gain = math.sqrt(scale) if kind == "gains" else 1.0
        q, k = gain * F.rms_norm(q, (d_k,)), gain * F.rms_norm(k, (d_k,))
    p = torch.softmax(q @ k.T / math.sqrt(d_k), dim=-1)  # (tokens, tokens)
    (grad,) = torch.autograd.grad((p @ values * upstream).sum(), w_q)
    p = p.detach()
    entropy = torch.special.entr(p).sum(dim=-1).mean() / math.log(tokens)
    # the softmax Jacobian of a row is J = diag(p) - p p'; its Frobenius norm:
    norm = (torch.diag_embed(p) - p[:, :, None] * p[:, None, :]).flatten(1).norm(dim=1)
    share = (norm > alive).double().mean()
    return [v.item() for v in (entropy, norm.mean(), norm.median(), share, grad.norm())]


# (kinds, scales, seeds, 5)
runs = np.array([[[measure(kind, a, s) for s in seeds] for a in scales] for kind in kinds])
middle = np.median(runs, axis=2)
rows = {f"{a:g}": j for j, a in enumerate(scales)}
entropy = {k: {a: float(middle[i, j, 0]) for a, j in rows.items()} for i, k in enumerate(kinds)}
gain_mean = {k: {a: float(middle[i, j, 1]) for a, j in rows.items()} for i, k in enumerate(kinds)}
gain_median = {a: float(middle[0, j, 2]) for a, j in rows.items()}
median_row_is_dead = gain_median["32"] < alive / 10
rows_alive = {a: float(runs[0, j, :, 3].mean()) for a, j in rows.items()}
freezing = math.sqrt(2 * math.log(tokens))  # of the random energy model
theory = np.clip(1 - (np.array(scales) / freezing) ** 2, 0, None)
entropy_theory = {a: float(theory[j]) for a, j in rows.items()}
qk_norm_keeps_entropy = bool(np.ptp(runs[1, :, :, 0], axis=0).max() < 1e-6)
entropy_falls_in_every_seed = bool((np.diff(runs[0, :, :, 0], axis=0) < 0).all())
power = math.log(gain_mean["plain"]["256"] / gain_mean["plain"]["32"]) / math.log(256 / 32)
grad_over_peak = float(middle[0, -1, 4] / middle[0, :, 4].max())  # at W_q, without QK-Norm
grad_shrinks = float(middle[1, -1, 4] / middle[1, rows["1"], 4])  # at W_q, with it
grad_shrinks_theory = 256**-0.5  # W_q grew by the inverse
grad_shrinks_as_theory = abs(grad_shrinks / grad_shrinks_theory - 1) < 1e-6
w_q_growth = round(1 / grad_shrinks_theory)
for a, j in rows.items():
    plain, normed, gains = middle[:, j]
    print(
        f"scale {a:>4}: entropy {plain[0]:.3f}; QK-Norm {normed[0]:.3f}, gains {gains[0]:.3f};",
        end="",
    )
    print(f" gain {plain[1]:.3f}, median {plain[2]:.0e}; QK-Norm {normed[1]:.3f}")

header = "scale,plain,plain_p5,plain_p95,qk_norm,qk_norm_p5,qk_norm_p95"
for column, stem in enumerate(("entropy", "gain")):
    fig, ax = plt.subplots()
    table = [np.array(scales)]
    for i, color in enumerate(("C0", "C1")):
        low, high = np.percentile(runs[i, :, :, column], [5, 95], axis=1)
        ax.fill_between(scales, low, high, alpha=0.3, color=color, linewidth=0)
        ax.plot(scales, middle[i, :, column], color=color)
        table += [middle[i, :, column], low, high]
    ax.set(xscale="log", ylim=(0, None), xlabel="standard deviation of the logits without QK-Norm")
    if stem == "entropy":
        ax.plot(scales, theory, "--", color="C0")
        ax.plot(scales, middle[2, :, 0], "o", color="C2")
        ax.set_ylabel("entropy / ln(tokens)")
        ax.text(256, 0.92, "QK-Norm", color="C1", ha="right")
        ax.text(9, 0.2, "without", color="C0")
        ax.text(9, 0.3, "QK-Norm, gains grown instead", color="C2")
    else:
        ax.plot(scales, middle[0, :, 2], ":", color="C0")
        ax.set_ylabel("norm of the softmax Jacobian")
        ax.text(256, 0.19, "QK-Norm", color="C1", ha="right")
        ax.text(256, 0.11, "without, mean of the rows", color="C0", ha="right")
        ax.text(14, 0.03, "median row", color="C0", ha="right")
    plt.savefig(f"{stem}.svg")
    np.savetxt(f"{stem}.csv", np.column_stack(table), "%.4g", ",", header=header, comments="")
