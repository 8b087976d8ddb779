# Pre-LN, Post-LN and Post-LN with warm-up, 12 layers: training loss of all seeds
# reads: snippets/training/published_cells.json snippets/training/described_cells.json
import csv
import itertools
import json
from typing import Any

import matplotlib.pyplot as plt

kinds = {"Pre-LN": ("pre", False), "Post-LN": ("post", False), "with warm-up": ("post", True)}
usual = {
    "norm": "layernorm",
    "residual": True,
    "final_norm": True,
    "precision": "fp32",
    "gain": 1.0,
}
depth, rates = 12, (0.001, 0.003, 0.01)
short_run, long_run, warm_up, early_look = 1000, 3000, 1000, 100
runs: dict[str, dict[str, Any]] = {}
bounds: dict[str, tuple[float, float]] = {}
for network in ("published", "described"):
    with open(f"{network}_cells.json") as file:
        for cell in json.load(file).values():
            bounds.setdefault(network, (cell["floor"], cell["unigram_entropy"]))
            if cell["depth"] != depth or any(cell[key] != value for key, value in usual.items()):
                continue
            for kind, (placement, warm) in kinds.items():
                if (cell["placement"], cell["warmup"] > 0) == (placement, warm):
                    key = f"{network}_{kind}_{cell['lr']:g}_{cell['steps']}".replace(" ", "-")
                    run = runs.setdefault(key, {**cell, "curves_of_all": [], "losses": []})
                    run["curves_of_all"] += cell.get("curves", [cell["curve"]])
                    run["losses"] += cell.get("final_losses", [cell["final_loss"]])

lost_from: dict[str, int] = {}  # the earliest step at which a seed had learned and lost it
for key, run in runs.items():
    midpoint = (run["floor"] + run["unigram_entropy"]) / 2
    for curve in run["curves_of_all"]:
        below = [loss is not None and loss < midpoint for loss in curve]
        lost = [i for i, now in enumerate(below) if not now and any(below[:i])]
        if lost:
            step = run["window"] * lost[0]
            lost_from[key] = min(step, lost_from.get(key, step))
stalled = runs["published_Post-LN_0.01_1000"]["layers"]
gradient_low = {int(step): layers["gradient"][0] for step, layers in stalled.items()}
window = runs["published_Pre-LN_0.001_1000"]["window"]
seeds_of = {key: len(run["losses"]) for key, run in runs.items()}
largest_rise: dict[str, float] = {}  # from one window of steps to the next, over all seeds
early: dict[str, float] = {}  # mean training loss over the leading tenth of the windows
for key, run in runs.items():
    curves = [[x for x in curve if x is not None] for curve in run["curves_of_all"]]
    rises = [later - before for c in curves for before, later in itertools.pairwise(c)]
    largest_rise[key] = max(rises)
    early[key] = sum(sum(c[: len(c) // 10]) / (len(c) // 10) for c in curves) / len(curves)
    print(f"{key}: {seeds_of[key]} seeds, largest rise {largest_rise[key]:.2f}")

fig, axes = plt.subplots(2, 3, figsize=(5.6, 4.8), sharey=True)
rows: list[list[Any]] = []
for row, network in zip(axes, bounds, strict=True):
    for ax, rate in zip(row, rates, strict=True):
        for color, kind in zip(("C0", "C1", "C2"), kinds, strict=True):
            start = f"{network}_{kind}_{rate:g}_".replace(" ", "-")
            of_kind = [run for key, run in runs.items() if key.startswith(start)]
            for run in sorted(of_kind, key=lambda run: run["steps"])[-1:]:  # the longest
                for number, curve in enumerate(run["curves_of_all"]):
                    steps = [run["window"] * (i + 1) for i in range(len(curve))]
                    shown = [float("nan") if x is None else x for x in curve]
                    ax.plot(steps[::2], shown[::2], color=color, linewidth=0.8)  # the file has all
                    points = list(zip(steps, curve, strict=True))
                    rows += [[network, kind, rate, number, *point] for point in points]
        for bound, style in zip(bounds[network], ("--", ":"), strict=True):
            ax.axhline(bound, color="C5", linestyle=style, linewidth=1)
        ax.set(title=f"{network}, {rate:g}", ylim=(1, 4.6))
        if not ax.lines[2:]:
            ax.annotate("not run", (0.3, 0.5), xycoords="axes fraction")
            ax.set_xticks([])
for place, (color, name) in enumerate(zip(("C0", "C1", "C2"), kinds, strict=True)):
    name = name.replace("with", "Post-LN with")
    name = name.replace("with ", "with\n")
    where = (0.15, 0.76 - 0.13 * place)
    axes[0][0].annotate(name, where, xycoords="axes fraction", color=color, va="top")
for ax in axes[1]:
    ax.set_xlabel("step")
for ax in axes[:, 0]:
    ax.set_ylabel("training loss, nats")
fig.savefig("curves.svg")
with open("curves.csv", "w", newline="") as file:
    csv.writer(file).writerows([["network", "kind", "lr", "seed", "step", "loss"], *rows])
