# The norm of a token through random linear layers W = s * randn(d, d), without and with LayerNorm.
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(200)
d_model, depth = 64, 20
scales = [0.0375, 0.1, 0.125, 0.3, 1.2]  # s: the standard deviation of one weight
gain = {str(s): round(s * math.sqrt(d_model), 4) for s in scales}  # root mean square, per layer
chi2_log = math.log(2) + torch.digamma(torch.tensor(d_model / 2)).item()  # E log(chi-squared)
typical_gain = {str(s): s * math.exp(chi2_log / 2) for s in scales}  # exp of the mean log gain


def norms(scale: float, seed: int, layer_norm: bool) -> torch.Tensor:
    torch.manual_seed(seed)
    x = F.normalize(torch.randn(1, d_model)) * math.sqrt(d_model)  # one token on the sphere
    path = [x]
    for _ in range(depth):
        x = x @ (torch.randn(d_model, d_model) * scale)
        x = F.layer_norm(x, (d_model,)) if layer_norm else x
        path.append(x)
    return torch.cat(path).double().norm(dim=-1)  # float64, or the squares overflow for s = 1.2


plain = {s: torch.stack([norms(s, i, False) for i in seeds]) for s in scales}  # (seeds, depth + 1)
normed = torch.cat([torch.stack([norms(s, i, True) for i in seeds]) for s in scales])

log_step = plain[0.3].log().diff(dim=1)
measured_gain = log_step.mean().exp().item()
measured_rms_gain = (2 * log_step).exp().mean().sqrt().item()
grows_at_every_layer = bool((log_step > 0).all())
norm_at_20 = {str(s): plain[s][:, -1].median().item() for s in scales}
layernorm_smallest, layernorm_largest = normed.min().item(), normed.max().item()
print("gain per layer in theory:", gain)
print(f"s = 0.3 measured: rms {measured_rms_gain:.1f}, typical {measured_gain:.2f}")
print(f"LayerNorm, all s, seeds and layers: {layernorm_smallest:.3f} to {layernorm_largest:.3f}")

fig, ax = plt.subplots()
layers = np.arange(depth + 1)
for k, s in enumerate(scales):
    low, middle, high = np.percentile(plain[s].numpy(), [5, 50, 95], axis=0)
    ax.fill_between(layers, low, high, alpha=0.3, color=f"C{k}", linewidth=0)
    ax.plot(layers, middle, ".", color=f"C{k}")  # dots: measured; dashes: theory
    ax.plot(layers, math.sqrt(d_model) * typical_gain[str(s)] ** layers, "--", color=f"C{k}")
    ax.annotate(f"s = {s}", (depth, middle[-1]), (4, 0), textcoords="offset points", va="center")
ax.plot(layers, normed.median(dim=0).values, "x", color="C5")
ax.annotate("any s, LayerNorm", (12, 100))
ax.set(yscale="log", xlabel="layer", ylabel="norm of the token", xlim=(0, depth + 4))
ax.set_xticks([0, 5, 10, 15, 20])
plt.savefig("norm_through_depth.svg")
columns = np.column_stack([layers, *(np.median(plain[s].numpy(), axis=0) for s in scales)])
header = ",".join(["layer", *(f"s={s}" for s in scales)])
np.savetxt("norm_through_depth.csv", columns, "%.3g", ",", header=header, comments="")
