# A large mean costs digits before the norm sees them: store the input in fewer bits and normalize.
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(100)
d_model = 256
means = 1.5 * 2 ** np.arange(13)  # for a standard deviation of 1; each amid two powers of two
types = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}

corr = np.empty((len(types), len(means), len(seeds)))  # of LayerNorm's outputs, exact and stored
for row, dtype in enumerate(types.values()):
    for column, mean in enumerate(means):
        for k, seed in enumerate(seeds):
            torch.manual_seed(seed)
            x = torch.randn(1, d_model, dtype=torch.float64) + mean
            exact, stored = (F.layer_norm(z, (d_model,)) for z in (x, x.to(dtype).double()))
            corr[row, column, k] = (exact * stored).mean()
names = [f"{mean:g}" for mean in means]
median = np.median(corr, axis=2).tolist()
fp32, fp16, bf16 = (dict(zip(names, values, strict=True)) for values in median)
bf16_spacing_at_768 = torch.finfo(torch.bfloat16).eps * 512  # between neighbors, from 512 on
bf16_all_zero_at_3072 = bool((corr[2, names.index("3072")] == 0).all())
fp32_worst = corr[0].min().item()
between_mean = 768 + bf16_spacing_at_768 / 2
between = []  # a mean amid two neighbors in bf16 keeps more: some numbers are rounded up, some down
for seed in seeds:
    torch.manual_seed(seed)
    x = torch.randn(1, d_model, dtype=torch.float64) + between_mean
    exact, stored = (F.layer_norm(z, (d_model,)) for z in (x, x.bfloat16().double()))
    between.append((exact * stored).mean().item())
bf16_between = float(np.median(between))
uniform_variance = 1 / 12  # of an error spread evenly over a spacing of 1
print(f"bf16: correlation {bf16['96']:.3f} at mean 96, {bf16['768']:.2f} at 768")
print(f"bf16 numbers near 768 are {bf16_spacing_at_768:.0f} apart")
print(f"bf16 at mean 3072: all outputs zero: {bf16_all_zero_at_3072}")
print(f"fp16: {fp16['768']:.3f} at 768; fp32: at least {fp32_worst:.4f} at all means")

fig, ax = plt.subplots()
for k, dtype in enumerate(types.values()):
    spacing = torch.finfo(dtype).eps * 2 ** np.floor(np.log2(means))
    fine = spacing <= 2  # where the error of rounding is close to uniform
    ax.plot(means[fine], 1 / np.sqrt(1 + uniform_variance * spacing[fine] ** 2), color=f"C{k}")
    low, middle, high = np.percentile(corr[k], [5, 50, 95], axis=1)
    ax.errorbar(means, middle, [middle - low, high - middle], fmt="osv"[k], color=f"C{k}")
ax.text(6300, 0.95, "fp32")
ax.text(4100, 0.5, "fp16")
ax.text(500, 0.5, "bf16")
ax.set(xscale="log", xlabel="mean / standard deviation of the input")
ax.set(ylabel="correlation with the exact output")
plt.savefig("layernorm_stored_input.svg")
table = np.column_stack([means, *np.array(median)])
header = "mean_over_std,fp32,fp16,bf16"
np.savetxt("layernorm_stored_input.csv", table, "%.4f", ",", header=header, comments="")
