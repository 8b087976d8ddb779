# reads: snippets/practice/rmsnorm_eps.csv
# What eps does in each RMSNorm its authors published: rms of the output against rms of the input
import csv

import matplotlib.pyplot as plt
import numpy as np
import torch

seeds = range(20)
d_model = 256
with open("rmsnorm_eps.csv") as file:
    published = list(csv.DictReader(line for line in file if line[0] != "#"))
settings = sorted({(float(row["eps"]), row["place"]) for row in published})
published_eps = sorted({eps for eps, _ in settings})
quoted_is_only_cifar = [row["code"] for row in published if float(row["eps"]) == 1e-6] == [
    "CIFAR-10"
]


def rmsnorm(x: torch.Tensor, eps: float, place: str) -> torch.Tensor:
    square = x.square().mean(-1, keepdim=True)
    return x / ((square + eps).sqrt() if place == "inside" else square.sqrt() + eps)


def output_rms(rms: float, eps: float, place: str) -> float:
    out = []
    for seed in seeds:
        generator = torch.Generator().manual_seed(seed)
        x = torch.randn(8, d_model, generator=generator, dtype=torch.float64)
        x = x * rms / x.square().mean(-1, keepdim=True).sqrt()
        out.append(rmsnorm(x, eps, place).square().mean().sqrt().item())
    return sum(out) / len(out)


def theory(r: np.ndarray, eps: float, place: str) -> np.ndarray:
    return r / np.sqrt(r**2 + eps) if place == "inside" else r / (r + eps)


scales = np.geomspace(1e-9, 1, 28)  # rms of the input
loss = 0.01
damped_below = {}  # rms of the input below which more than `loss` of the output is missing
fig, ax = plt.subplots()
columns, errors = [scales], []
labels = [(5e-5, 0.62, "right"), (4e-9, 0.3, "left"), (6e-4, 0.45, "left"), (3e-3, 0.25, "left")]
for k, (eps, place) in enumerate(settings):
    measured = np.array([output_rms(r, eps, place) for r in scales])
    errors.append(np.abs(measured / theory(scales, eps, place) - 1).max())
    name = f"{eps:.0e}_{place}".replace("e-0", "e-")
    keep = 1 - loss
    damped_below[name] = keep / loss * eps if place == "outside" else (eps / (keep**-2 - 1)) ** 0.5
    ax.plot(scales, theory(scales, eps, place), "-" if place == "inside" else "--", color=f"C{k}")
    ax.plot(scales, measured, ".", color=f"C{k}")
    x, y, side = labels[k]
    ax.text(x, y, name.replace("_", " "), ha=side, color=f"C{k}")
    columns.append(measured)
follows_theory = bool(max(errors) < 1e-9)
for name, r in damped_below.items():
    print(f"eps {name.replace('_', ' ')}: 1% of the output is lost below an input rms of {r:.1e}")
print("measured is r / sqrt(r^2 + eps) or r / (r + eps):", follows_theory)
ax.set(xscale="log", xlabel="rms of the input", ylabel="rms of the output")
plt.savefig("eps_damping.svg")
header = "input_rms," + ",".join(damped_below)
np.savetxt("eps_damping.csv", np.column_stack(columns), "%.4g", ",", header=header, comments="")
