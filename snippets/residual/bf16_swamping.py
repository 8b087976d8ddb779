# A small write to a large bf16 stream is lost: the threshold, and the share of entries it hits
import matplotlib.pyplot as plt
import numpy as np
import torch

seeds = range(50)
entries = 4096
bf16 = torch.bfloat16

# the exact threshold: try all bf16 writes to a stream that holds one value
writes = torch.arange(1, 2**14).to(torch.int16).view(bf16)  # positive numbers below 2, in order
thresholds = []
for value in (1.0, 1.5, 256.0, 258.0):
    stream = torch.tensor(value, dtype=bf16)
    lost = writes[(stream + writes) == stream]
    ulp = torch.finfo(bf16).eps * 2.0 ** np.floor(np.log2(value))
    thresholds.append({"stream": value, "ulp": float(ulp), "largest_lost": lost.max().item()})
half_ulp_is_lost_when_even = all(
    t["largest_lost"] == t["ulp"] / 2 for t in thresholds if (t["stream"] / t["ulp"]) % 2 == 0
)
for t in thresholds:
    print(f"stream {t['stream']}: spacing {t['ulp']}, largest write lost {t['largest_lost']}")

# random writes: how much arrives, by the size of a write over that of the stream
ratios = [2.0**e for e in range(-14, 1)]
arrived, unchanged = [], []
for seed in seeds:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(entries, generator=generator).to(bf16)
    f = torch.randn(entries, generator=generator)
    rows = []
    for ratio in ratios:
        write = (ratio * f).to(bf16)
        change = (x + write).float() - x.float()
        rows.append([(change @ f / (ratio * f @ f)).item(), (change == 0).float().mean().item()])
    arrived.append([a for a, _ in rows])
    unchanged.append([u for _, u in rows])
share_lost = np.array(unchanged).mean(axis=0)
lost_at = {f"{-int(np.log2(r))}": float(s) for r, s in zip(ratios, share_lost, strict=True)}
# |f / x| of two Gaussians has a Cauchy law; the threshold over x depends on the mantissa of x
t_low, t_high = 2.0**-9, 2.0**-8
low_theory = 2 / np.pi * np.arctan(t_low / np.array(ratios))
high_theory = 2 / np.pi * np.arctan(t_high / np.array(ratios))
within_theory = bool(((share_lost > low_theory - 0.01) & (share_lost < high_theory + 0.01)).all())
arrives_on_average = float(np.array(arrived)[:, ratios.index(2.0**-8)].mean())
print(
    f"entries that do not change: {lost_at['8']:.2f} at a ratio of 2^-8, {lost_at['3']:.3f} at 2^-3"
)

fig, ax = plt.subplots()
low, high = np.percentile(unchanged, [5, 95], axis=0)
ax.fill_between(ratios, low_theory, high_theory, alpha=0.3, color="C1", linewidth=0)
ax.plot(ratios, share_lost, color="C0", marker="o")
ax.text(2.0**-6, 0.5, "theory, between $2^{-9}$ and $2^{-8}$", color="C1")
ax.set_xscale("log", base=2)
ax.set(xlabel="size of a write / size of the stream", ylabel="share of entries that do not change")
plt.savefig("lost.svg")
table = np.column_stack([ratios, share_lost, low, high, low_theory, high_theory])
header = "ratio,share,p5,p95,theory_low,theory_high"
np.savetxt("lost.csv", table, "%.4g", ",", header=header, comments="")
