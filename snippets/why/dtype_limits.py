# How many random linear layers until a token leaves the range of its dtype: theory and measurement.
import csv
import math

import matplotlib.pyplot as plt
import numpy as np
import torch

seeds = range(100)
d_model = 64
gains = [0.3, 0.8, 1.2, 2.4, 9.6]  # s * sqrt(d)
dtypes = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
drift = (math.log(2 / d_model) + torch.digamma(torch.tensor(d_model / 2)).item()) / 2
# Median of the largest of d standard normal entries: it meets a limit before the rms does.
peak = math.sqrt(2) * torch.erfinv(torch.tensor(0.5 ** (1 / d_model))).item()


def layers_left(dtype: torch.dtype, gain: float) -> float:
    info = torch.finfo(dtype)
    limit = info.max if gain > 1 else info.smallest_normal
    return math.log(limit / peak) / (math.log(gain) + drift)


generators = [torch.Generator().manual_seed(i) for i in seeds]
start = torch.stack([torch.randn(1, d_model, generator=g) for g in generators])  # (seeds, 1, d)
cells = [(name, gain) for name in dtypes for gain in gains]
x = {(name, gain): start.to(dtypes[name]) for name, gain in cells}
left_at = {cell: torch.zeros(len(seeds)) for cell in cells}  # 0: still in range
layer = 0
while any((left_at[cell] == 0).any() for cell in cells):
    layer += 1
    w = torch.stack([torch.randn(d_model, d_model, generator=g) for g in generators])
    for name, gain in [cell for cell in cells if (left_at[cell] == 0).any()]:
        scaled = (w * gain / math.sqrt(d_model)).to(dtypes[name])
        product = x[name, gain].float() @ scaled.float()  # sums in fp32, as matrix units do
        x[name, gain] = product.to(dtypes[name])  # weights and stream are stored in this dtype
        largest = x[name, gain].abs().amax(dim=(1, 2))  # (seeds,)
        smallest_normal = torch.finfo(dtypes[name]).smallest_normal
        out = ~largest.isfinite() if gain > 1 else largest < smallest_normal
        left_at[name, gain][out & (left_at[name, gain] == 0)] = layer

theory, measured = {}, {}
with open("dtype_limits.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["dtype", "gain", "leaves by", "theory", "median", "5%", "95%"])
    for name, gain in cells:
        low, middle, high = np.percentile(left_at[name, gain], [5, 50, 95]).round().astype(int)
        theory[f"{name}_{gain}"] = math.ceil(layers_left(dtypes[name], gain))
        measured[f"{name}_{gain}"] = int(middle)
        way = "overflow" if gain > 1 else "underflow"
        table.writerow([name, gain, way, theory[f"{name}_{gain}"], middle, low, high])
fp16_layers, fp32_layers = ([theory[f"{name}_{g}"] for g in gains] for name in ("fp16", "fp32"))
print(f"gains {gains}: layers in fp16 {fp16_layers}, in fp32 and bf16 {fp32_layers}")

fig, ax = plt.subplots()
for k, name in enumerate(["fp32", "fp16"]):  # bf16 has the exponents of fp32
    for side in (np.geomspace(0.25, 0.95), np.geomspace(1.06, 12)):  # dashes: theory
        ax.plot(side, [layers_left(dtypes[name], g) for g in side], "--", color=f"C{k}")
    label = "fp32 and bf16" if name == "fp32" else "fp16"
    at = (4.8, layers_left(dtypes[name], 4.8))
    ax.annotate(label, at, (0, 8), textcoords="offset points")
for k, (name, marker) in enumerate({"fp32": "o", "fp16": "s", "bf16": "x"}.items()):
    left = np.array([left_at[name, g].numpy() for g in gains])  # (gains, seeds)
    low, middle, high = np.percentile(left, [5, 50, 95], axis=1)
    ax.errorbar(gains, middle, [middle - low, high - middle], fmt=marker, color=f"C{k}")
ax.set(xscale="log", yscale="log", xlabel="gain per layer, s sqrt(d)", ylabel="layers in range")
ax.set_xticks(gains, [str(g) for g in gains])
ax.minorticks_off()
plt.savefig("dtype_limits.svg")
