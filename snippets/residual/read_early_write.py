# Bits written at the start are read at later layers by the same fixed directions
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

seeds = range(20)
widths, depth, bits, tokens = [64, 128, 256], 64, 32, 32

wrong: dict[str, list[list[float]]] = {f"{d}": [] for d in widths}
wrong["replaced"] = []  # each layer overwrites the stream
squares: dict[str, list[list[float]]] = {f"{d}": [] for d in widths}
for seed in seeds:
    for d_model in widths:
        torch.manual_seed(1000 * seed + d_model)
        v = nn.functional.normalize(torch.randn(bits, d_model), dim=1)  # one direction a bit
        message = torch.randint(0, 2, (tokens, bits)).float() * 2 - 1
        x = message @ v * math.sqrt(d_model / bits)  # mean square near one
        norm, replaced = nn.LayerNorm(d_model), x
        runs: list[list[float]] = [[], [], []]
        for _ in range(depth + 1):
            for run, stream in zip(runs, (x, replaced), strict=False):
                run.append(((stream @ v.T).sign() != message).float().mean().item())
            runs[2].append(x.pow(2).mean().item())
            up, down = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
            with torch.no_grad():
                x = x + down(nn.functional.gelu(up(norm(x))))
                replaced = down(nn.functional.gelu(up(norm(replaced))))
        wrong[f"{d_model}"].append(runs[0])
        squares[f"{d_model}"].append(runs[2])
        if d_model == widths[-1]:
            wrong["replaced"].append(runs[1])

errors = {k: np.array(v).mean(axis=0) for k, v in wrong.items()}  # (depth + 1,)
# theory: a bit has the amplitude sqrt(d / bits), all else in the stream is noise of its rms
theory = {}
for d in widths:
    ratio = np.sqrt(d / bits / np.array(squares[f"{d}"]).mean(axis=0))
    theory[f"{d}"] = torch.special.ndtr(-torch.from_numpy(ratio)).numpy()
start = {k: float(v[0]) for k, v in errors.items()}
end = {k: float(v[-1]) for k, v in errors.items()}
a_twentieth_to_a_tenth = 0.05 < end["256"] < 0.1
end_theory = {k: float(v[-1]) for k, v in theory.items()}
replaced_after_one = float(errors["replaced"][1])
chance_after_one = abs(replaced_after_one - 0.5) < 0.02
for k in theory:
    print(f"d_model {k:>3}: {start[k]:.3f} of the bits wrong at the start,", end=" ")
    print(f"{end[k]:.3f} after {depth} layers, theory {end_theory[k]:.3f}")
print(f"stream replaced: {replaced_after_one:.2f} after one layer")

fig, ax = plt.subplots()
layers = np.arange(depth + 1)
table = [layers]
for color, k in zip(("C0", "C1", "C2"), theory, strict=True):
    low, high = np.percentile(np.array(wrong[k]), [5, 95], axis=0)
    ax.fill_between(layers, low, high, alpha=0.3, color=color, linewidth=0)
    ax.plot(layers, errors[k], color=color)
    ax.plot(layers, theory[k], "--", color=color)
    ax.text(depth, errors[k][-1] - 0.055, f"d_model = {k}", color=color, ha="right")
    table += [errors[k], low, high, theory[k]]
ax.plot(layers, errors["replaced"], ":", color="C3")
ax.text(depth, 0.46, "stream replaced", color="C3", ha="right", va="top")
ax.set(xlabel="layer", ylabel="share of bits read wrong", ylim=(-0.01, 0.55))
plt.savefig("errors.svg")
header = "layer," + ",".join(f"d{k},d{k}_p5,d{k}_p95,d{k}_theory" for k in theory)
np.savetxt("errors.csv", np.column_stack(table), "%.4g", ",", header=header, comments="")
