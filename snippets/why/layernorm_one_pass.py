# Three ways to a variance in float32, when the mean is large against the standard deviation.
import matplotlib.pyplot as plt
import numpy as np
import torch

seeds = range(1000)
d_model, eps = 256, 1e-5
means = [1, 10, 100, 1000, 10_000, 100_000]  # for a standard deviation of 1
ways = ["one pass", "two passes", "nn.LayerNorm"]

error = np.empty((len(ways), len(means), len(seeds)))  # relative
nan = np.empty((len(means), len(seeds)))
for k, mean in enumerate(means):
    for column, seed in enumerate(seeds):
        torch.manual_seed(seed)
        x = (torch.randn(1, d_model, dtype=torch.float64) + mean).float()
        one_pass = x.square().mean() - x.mean().square()  # E[x^2] - E[x]^2
        two_passes = (x - x.mean()).square().mean()
        rstd = torch.native_layer_norm(x, (d_model,), None, None, eps)[2].double().squeeze()
        variances = torch.stack([one_pass, two_passes, 1 / rstd**2 - eps])
        error[:, k, column] = (variances / x.double().var(correction=0) - 1).abs()
        nan[k, column] = torch.rsqrt(one_pass + eps).isnan()
one_pass_error = dict(zip(map(str, means), error[0].mean(axis=1).tolist(), strict=True))
nan_share = dict(zip(map(str, means), nan.mean(axis=1).tolist(), strict=True))
two_passes_below_1e_6 = bool((error[1, : means.index(10_000)] < 1e-6).all())  # up to 1000
torch_below_1e_2 = bool((error[2] < 1e-2).all())
print(f"one pass, mean relative error: {one_pass_error['100']:.4f} at 100 std")
print(f"  {one_pass_error['1000']:.3f} at 1000 std; at 10000 std {nan_share['10000']:.0%} are NaN")
print(f"two passes below 1e-6 up to mean 1000: {two_passes_below_1e_6}")
print(f"nn.LayerNorm below 1e-2 up to mean 100000: {torch_below_1e_2}")

fig, ax = plt.subplots()
unit = 2.0**-24  # largest relative error of one rounding in float32
ax.plot(means, [unit * mean**2 for mean in means], "k--", linewidth=0.8)
low, middle, high = np.percentile(error, [5, 50, 95], axis=2)  # (ways, means) each
for k, way in enumerate(ways):
    ax.fill_between(means, low[k], high[k], color=f"C{k}", alpha=0.3, linewidth=0)
    ax.plot(means, middle[k], "osv"[k] + "-", color=f"C{k}")
    ax.text(1.3e5, middle[k, -1], way, va="center")
ax.text(4e3, 0.05, "2⁻²⁴ (mean / std)²")
ax.set(xscale="log", yscale="log", xlim=(0.7, 2e6), ylim=(1e-9, 1e5))
ax.set(xlabel="mean / standard deviation", ylabel="relative error of the variance")
plt.savefig("layernorm_one_pass.svg")
header = "mean_over_std,one_pass,two_passes,torch"
table = np.column_stack([means, middle.T])
np.savetxt("layernorm_one_pass.csv", table, "%.2g", ",", header=header, comments="")
