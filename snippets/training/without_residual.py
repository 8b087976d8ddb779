# Blocks without their residual connection: which depths still learn, with which norm
# reads: snippets/training/published_cells.json snippets/training/described_cells.json
import csv
import json
from typing import Any

import matplotlib.pyplot as plt

with open("published_cells.json") as file:
    cells: list[dict[str, Any]] = list(json.load(file).values())
floor, unigram = cells[0]["floor"], cells[0]["unigram_entropy"]
midpoint = (floor + unigram) / 2  # a run has learned if it ends below
fixed = {"precision": "fp32", "gain": 1.0, "final_norm": True, "warmup": 0, "steps": 1000}
rate, depths = 0.001, (6, 12, 20)
kinds = {"none": "no norm", "pre": "Pre-LN", "post": "Post-LN"}

with_residual: dict[str, dict[str, Any]] = {}  # by kind and layers
without: dict[str, dict[str, Any]] = {}
for cell in cells:
    if cell["lr"] != rate or any(cell[key] != value for key, value in fixed.items()):
        continue
    if cell["norm"] == "rmsnorm" or cell["placement"] == "sandwich":
        continue
    kind = "none" if cell["norm"] == "none" else cell["placement"]
    kept = with_residual if cell["residual"] else without
    kept[f"{kind}_{cell['depth']}"] = cell
seeds_per_cell = min(cell["members"] for cell in without.values())
learned = {key: sum(x <= midpoint for x in cell["final_losses"]) for key, cell in without.items()}
lowest = {key: min(cell["final_losses"]) for key, cell in without.items()}
highest = {key: max(cell["final_losses"]) for key, cell in without.items()}
# median gradient norm of the lowest block before training
gradient_low = {key: cell["layers"]["0"]["gradient"][0] for key, cell in without.items()}
gradient_low_with = {key: cell["layers"]["0"]["gradient"][0] for key, cell in with_residual.items()}
# the described network, with a task over positions: final losses without the residual, 12 layers
with open("described_cells.json") as file:
    others = [cell for cell in json.load(file).values() if not cell["residual"]]
described: dict[str, list[float]] = {kind: [] for kind in ("none", "pre")}
for cell in others:
    described["none" if cell["norm"] == "none" else cell["placement"]].append(cell["final_loss"])
limit = (others[0]["floor"] + others[0]["unigram_entropy"]) / 2
described_seeds = {kind: len(losses) for kind, losses in described.items()}
described_learned = {kind: sum(x <= limit for x in losses) for kind, losses in described.items()}
none_at_20 = all(learned[f"{kind}_20"] == 0 for kind in kinds)
stalls_are_stalls = none_at_20 and learned["none_12"] == 0
no_nan = all(cell["members_non_finite"] == 0 for cell in without.values())
for key in sorted(without):
    print(f"{key}: {learned[key]} of {seeds_per_cell} learned without the residual")

fig, axes = plt.subplots(1, 3, figsize=(5.6, 3.2), sharey=True)
rows: list[list[Any]] = []
for ax, (kind, title) in zip(axes, kinds.items(), strict=True):
    for place, depth in enumerate(depths):
        for color, shift, group in (("C0", -0.12, with_residual), ("C1", 0.12, without)):
            if f"{kind}_{depth}" not in group:
                continue
            losses = group[f"{kind}_{depth}"]["final_losses"]
            ax.plot([place + shift] * len(losses), losses, "o", color=color, alpha=0.5)
            skip = "with" if group is with_residual else "without"
            rows += [[kind, depth, skip, seed, loss] for seed, loss in enumerate(losses)]
    ax.axhline(floor, color="C5", linestyle="--", linewidth=1)
    ax.axhline(unigram, color="C5", linestyle=":", linewidth=1)
    ax.set_xticks(range(len(depths)), [str(depth) for depth in depths])
    ax.set(title=title, xlabel="layers", xlim=(-0.5, 2.5), ylim=(1, 4.6))
axes[0].set_ylabel("final loss of each seed, nats")
axes[1].annotate("without the\nresidual", (1.15, 3.4), color="C1", ha="right")
axes[1].annotate("with it", (0.9, 1.4), color="C0", ha="right")
fig.savefig("without_residual.svg")
with open("without_residual.csv", "w", newline="") as file:
    header = ["kind", "layers", "residual", "seed", "loss"]
    csv.writer(file).writerows([header, *rows])
