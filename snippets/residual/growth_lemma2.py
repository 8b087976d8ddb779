# The bounds of Lemma 2 of Xiong et al. in its own setting: Xavier, ReLU, attention that averages
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(40)
d_model, depth, tokens = 128, 32, 32
inputs = ["independent", "equal"]  # tokens


def norm(x: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, (d_model,))


def squared_norms(kind: str, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Squared norm over d, by layer: the Pre-LN stream, and the input of the last Post-LN norm."""
    torch.manual_seed(seed)
    x = torch.randn(tokens, d_model)
    x = x if kind == "independent" else x[:1].expand(tokens, d_model)
    y = norm(x)  # Post-LN
    pre, post = [x.pow(2).mean()], []
    for _ in range(depth):
        v, a, b = torch.randn(3, d_model, d_model) / d_model**0.5
        # W_Q = W_K = 0: attention is the mean over the tokens
        x = x + norm(x).mean(dim=0) @ v
        x = x + F.relu(norm(x) @ a) @ b
        pre.append(x.pow(2).mean())
        y = norm(y + y.mean(dim=0) @ v)
        s = y + F.relu(y @ a) @ b
        post.append(s.pow(2).mean())
        y = norm(s)
    return torch.stack(pre), torch.stack(post)


runs = {k: [squared_norms(k, s) for s in seeds] for k in inputs}
pre = {k: torch.stack([p for p, _ in r]).double().numpy() for k, r in runs.items()}
post = {k: torch.stack([q for _, q in r]).double().numpy() for k, r in runs.items()}
layers = np.arange(depth + 1)
lower_slope, upper_slope = 0.5, 1.5
lower, upper = 1 + lower_slope * layers, 1 + upper_slope * layers
mean = {k: pre[k].mean(axis=0) for k in inputs}
slack = 0.08  # noise of a mean over the seeds
within_bounds = all(
    (mean[k] > (1 - slack) * lower).all() and (mean[k] < (1 + slack) * upper).all() for k in inputs
)
at_end = {k: float(mean[k][-1]) for k in inputs}
lower_at_end, upper_at_end = float(lower[-1]), float(upper[-1])
first_layer = {k: float(mean[k][1] - mean[k][0]) for k in inputs}  # written by layer 1
last_layers = {k: float((mean[k][-1] - mean[k][-9]) / 8) for k in inputs}  # a layer, at the end
post_input = {k: float(post[k].mean()) for k in inputs}
for k in inputs:
    print(f"{k} tokens: {at_end[k]:.0f} at layer {depth}", end="")
    print(f", bounds {lower_at_end:.0f} and {upper_at_end:.0f}; Post-LN {post_input[k]:.2f}")

fig, ax = plt.subplots()
columns = [layers, lower, upper]
for color, k in zip(("C0", "C1"), inputs, strict=True):
    low, high = np.percentile(pre[k], [5, 95], axis=0)
    ax.fill_between(layers, low, high, alpha=0.3, color=color, linewidth=0)
    ax.plot(layers, mean[k], color=color)
    columns += [mean[k], low, high]
ax.plot(layers, lower, "--", color="C5")
ax.plot(layers, upper, "--", color="C5")
ax.text(21, 41, "equal tokens", ha="right")
ax.text(32.5, 23, "independent tokens", ha="right")
ax.text(32, 10, "lower bound", ha="right")
ax.text(14, 27, "upper bound", ha="right")
ax.set(xlabel="layer l", ylabel="squared norm / d")
plt.savefig("bounds.svg")
header = "layer,lower,upper," + ",".join(f"{k} {c}" for k in inputs for c in ("mean", "p5", "p95"))
np.savetxt("bounds.csv", np.column_stack(columns), "%.4g", ",", header=header, comments="")
