# The published network without norms: loss and stream through training, all seeds
# reads: snippets/training/published_cells.json
import csv
import json
import math
from typing import Any

import matplotlib.pyplot as plt

with open("published_cells.json") as file:
    cells: list[dict[str, Any]] = list(json.load(file).values())
usual = {"residual": True, "final_norm": True, "precision": "fp32", "gain": 1.0, "warmup": 0}
cells = [cell for cell in cells if all(cell[key] == value for key, value in usual.items())]
cells = [cell for cell in cells if cell["placement"] == "pre" and cell["steps"] == 1000]
floor, unigram = cells[0]["floor"], cells[0]["unigram_entropy"]
midpoint = (floor + unigram) / 2  # a run has learned if it ends below
bare = {f"{c['depth']}_{c['lr']:g}": c for c in cells if c["norm"] == "none"}
normed = {f"{c['depth']}_{c['lr']:g}": c for c in cells if c["norm"] == "layernorm"}

seeds_per_cell = min(cell["members"] for cell in cells)
finals = {key: [x for x in cell["final_losses"] if x is not None] for key, cell in bare.items()}
lowest = {key: min(losses) for key, losses in finals.items() if losses}
highest = {key: max(losses) for key, losses in finals.items() if losses}
middle = {key: cell["final_loss"] for key, cell in bare.items() if finals[key]}
learned = {key: sum(loss <= midpoint for loss in losses) for key, losses in finals.items()}
not_finite = {key: cell["members_non_finite"] for key, cell in bare.items()}
broke_at = {
    key: sorted(step for step in cell["non_finite_steps"] if step is not None)
    for key, cell in bare.items()
}
tops = {key: [x for x in cell["top"] if x is not None] for key, cell in bare.items()}
peak = {key: max(sizes) for key, sizes in tops.items() if sizes}
normed_lowest = {key: min(cell["final_losses"]) for key, cell in normed.items()}
normed_highest = {key: max(cell["final_losses"]) for key, cell in normed.items()}
normed_middle = {key: cell["final_loss"] for key, cell in normed.items()}
normed_peak = {key: max(cell["top"]) for key, cell in normed.items()}
# what the article states
claimed_nan, claimed_norm, claimed_at_6 = [300, 900], 1000, [3.1, 2.4]
failed = {key: seeds_per_cell - count for key, count in learned.items()}
mostly_without_nan = 2 * sum(not_finite.values()) < sum(failed.values())
steps_run, window = cells[0]["steps"], cells[0]["window"]
stream_at_start = {key: cell["layers"]["0"]["stream"][-1] for key, cell in bare.items()}
peak_early = {key: cell["top"][0] for key, cell in bare.items() if tops[key]}
gradient_low_at_start = {key: cell["layers"]["0"]["gradient"][0] for key, cell in bare.items()}
gradient_low = {
    key: cell["layers"]["1000"]["gradient"][0]
    for key, cell in bare.items()
    if "1000" in cell["layers"]
}
early_limit = 1e8
early_explosion = peak_early["12_0.01"] > early_limit
no_nan_at_12 = not_finite["12_0.01"] == 0
cost = {key: middle[key] - normed_middle[key] for key in middle if key in normed_middle}
print(f"floor {floor:.3f}, unigram entropy {unigram:.3f}; without norms, by depth and rate:")
for key in sorted(bare):
    print(f"{key}: learned {learned[key]} of {seeds_per_cell}, not finite {not_finite[key]}")

rates, depths = (0.0001, 0.001, 0.003, 0.01), (6, 12, 20, 60)
rate_factor = round(rates[-1] / rates[1])
fig, axes = plt.subplots(4, 4, figsize=(5.6, 6.6), sharex=True, sharey=True)
rows: list[list[Any]] = []
for row, depth in zip(axes, depths, strict=True):
    for ax, rate in zip(row, rates, strict=True):
        key = f"{depth}_{rate:g}"
        for number, curve in enumerate(bare[key]["curves"] if key in bare else []):
            steps = [bare[key]["window"] * (i + 1) for i in range(len(curve))]
            shown = [float("nan") if loss is None else loss for loss in curve]
            ax.plot(steps, shown, color="C1", linewidth=0.8)
            rows += [[depth, rate, number, *point] for point in zip(steps, curve, strict=True)]
            if len(curve) < bare[key]["steps"] // bare[key]["window"] and curve:
                ax.plot(steps[-1], shown[-1], "x", color="C1")
        ax.axhline(floor, color="C5", linestyle="--", linewidth=1)
        ax.axhline(unigram, color="C5", linestyle=":", linewidth=1)
        ax.set(ylim=(1, 5), title=f"{depth}, {rate:g}")
        if key not in bare:
            ax.text(500, 2.7, "not run", ha="center")
axes[0][0].annotate("unigram", (980, unigram + 0.08), ha="right", color="C5")
axes[0][0].annotate("floor", (980, floor + 0.08), ha="right", color="C5")
for ax in axes[-1]:
    ax.set(xlabel="step", xticks=[0, 500])
axes[1][0].set_ylabel("training loss, nats")
fig.savefig("without_norm.svg")
with open("without_norm.csv", "w", newline="") as file:
    csv.writer(file).writerows([["layers", "lr", "seed", "step", "loss"], *rows])

fig, ax = plt.subplots()
rows = []
last = [("C1", "no norm", key, cell) for key, cell in bare.items()]
last += [("C0", "Pre-LN", key, cell) for key, cell in normed.items()]
in_figure = {"20_0.001", "12_0.003", "12_0.01", "60_0.0001"}
last = [one for one in last if one[2] in in_figure and one[3]["top"][-1] is not None]
height = -1.0  # of the previous label, as a power of ten
for color, kind, key, cell in sorted(last, key=lambda one: one[3]["top"][-1]):
    steps = [cell["window"] * (i + 1) for i in range(len(cell["top"]))]
    ax.plot(steps, cell["top"], color=color)
    height = max(height + 0.95, math.log10(cell["top"][-1]) - 0.2)
    ax.annotate(f" {kind} {key.replace('_', ', ')}", (steps[-1], 10**height), color=color)
    rows += [[kind, *key.split("_"), *point] for point in zip(steps, cell["top"], strict=True)]
ax.set(yscale="log", xlabel="step", ylabel="largest RMS of the last stream", xlim=(0, 1650))
fig.savefig("stream.svg")
with open("stream.csv", "w", newline="") as file:
    csv.writer(file).writerows([["kind", "layers", "lr", "step", "rms"], *rows])
