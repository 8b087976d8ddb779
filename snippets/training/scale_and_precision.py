# What else moves the collapse: larger initial weights, no norm before the head, low precision
# reads: snippets/training/published_cells.json
import csv
import json
from typing import Any

import matplotlib.pyplot as plt

with open("published_cells.json") as file:
    cells: list[dict[str, Any]] = list(json.load(file).values())
floor, unigram = cells[0]["floor"], cells[0]["unigram_entropy"]
midpoint = (floor + unigram) / 2  # a run has learned if it ends below
usual = {"final_norm": True, "precision": "fp32", "gain": 1.0}
fixed = {"residual": True, "warmup": 0, "steps": 1000}

# by setting: kind of network, layers, rate, and what differs from the usual
found: dict[str, dict[str, Any]] = {}
for cell in cells:
    if any(cell[key] != value for key, value in fixed.items()) or cell["norm"] == "rmsnorm":
        continue
    kind = "none" if cell["norm"] == "none" else cell["placement"]
    changed = [f"{key}_{cell[key]}" for key, value in usual.items() if cell[key] != value]
    found["_".join([kind, str(cell["depth"]), f"{cell['lr']:g}", *changed])] = cell
finals = {key: [x for x in cell["final_losses"] if x is not None] for key, cell in found.items()}
seeds_of = {key: cell["members"] for key, cell in found.items()}
learned = {key: sum(loss <= midpoint for loss in losses) for key, losses in finals.items()}
not_finite = {key: seeds_of[key] - len(losses) for key, losses in finals.items()}
lowest = {key: min(losses) for key, losses in finals.items() if losses}
highest = {key: max(losses) for key, losses in finals.items() if losses}
# median RMS of the last block's output before training
stream_at_start = {
    key: cell["layers"]["0"]["stream"][-1] for key, cell in found.items() if "0" in cell["layers"]
}
tops = {key: [x for x in cell["top"] if x is not None] for key, cell in found.items()}
peak = {key: max(sizes) for key, sizes in tops.items() if sizes}

gains = [1.5, 2, 3, 4]
scaled = ["none_20_0.001_gain_1.5", "none_20_0.001_gain_2", "none_20_0.001_gain_3"]
all_scaled_learn = all(learned[key] == seeds_of[key] for key in scaled)
in_fp16 = found["none_20_0.001_precision_fp16_gain_1.5"]["non_finite_steps"]
broke_first, broke_last = min(in_fp16), max(in_fp16)
overflow_at_once = set(found["none_20_0.001_gain_4"]["non_finite_steps"]) == {0}

shown = {
    "none_20_0.001": "no norm in the blocks",
    "none_20_0.001_gain_1.5": "weights 1.5 times as large",
    "none_20_0.001_gain_2": "weights 2 times as large",
    "none_20_0.001_gain_3": "weights 3 times as large",
    "none_20_0.001_gain_4": "weights 4 times as large",
    "pre_20_0.001_gain_3": "Pre-LN, weights 3 times as large",
    "none_20_0.001_final_norm_False": "no norm at all",
    "none_20_0.001_final_norm_False_gain_2": "no norm at all, weights 2 times",
    "none_20_0.001_precision_bf16": "no norm in the blocks, bf16",
    "none_20_0.001_precision_fp16": "no norm in the blocks, fp16",
    "none_20_0.001_precision_bf16_gain_1.5": "the same, weights 1.5 times, bf16",
    "none_20_0.001_precision_fp16_gain_1.5": "the same, weights 1.5 times, fp16",
    "pre_20_0.001_precision_fp16": "Pre-LN, fp16",
}
fig, ax = plt.subplots(figsize=(5.6, 4.6))
rows: list[list[Any]] = []
for place, key in enumerate(shown):
    color, losses = "C1" if key.startswith("none") else "C0", finals[key]
    inside = [loss for loss in losses if loss < 6]
    ax.plot(inside, [-place] * len(inside), "o", color=color, alpha=0.5)
    said = f"{not_finite[key]} not finite" if not_finite[key] else ""
    said = f"all above {int(min(losses))}" if losses and not inside else said
    ax.annotate(said, (4.4, -place), va="center", color=color)
    rows += [[key, seed, loss] for seed, loss in enumerate(found[key]["final_losses"])]
ax.set_yticks([-place for place in range(len(shown))], list(shown.values()))
ax.axvline(floor, color="C5", linestyle="--", linewidth=1)
ax.axvline(unigram, color="C5", linestyle=":", linewidth=1)
ax.set(xlabel="final loss of each seed, nats", xlim=(1, 6))
fig.savefig("scale_and_precision.svg")
with open("scale_and_precision.csv", "w", newline="") as file:
    csv.writer(file).writerows([["setting", "seed", "loss"], *rows])
for key in sorted(found):
    if len(key.split("_")) > 3:
        print(f"{key}: {learned[key]} of {seeds_of[key]} learned, {not_finite[key]} not finite")
