# Post-LN with warm-up at a rate that fails without: at which learning rate each seed is lost
# reads: snippets/training/published_cells.json snippets/training/described_cells.json
import csv
import json
import statistics
from typing import Any

import matplotlib.pyplot as plt

lost_at: dict[str, list[float]] = {}  # the learning rate of each seed that had learned and lost it
lost_in_warm_up: dict[str, int] = {}
seeds_of: dict[str, int] = {}
kept: dict[str, int] = {}
reached: dict[str, float] = {}  # the best that the worst seed reached on the way
curves: dict[str, tuple[dict[str, Any], list[list[float | None]]]] = {}
for network in ("published", "described"):
    with open(f"{network}_cells.json") as file:
        for cell in json.load(file).values():
            if cell["placement"] == "post" and cell["warmup"]:
                key = f"{network}_{cell['depth']}_{cell['lr']:g}_{cell['warmup']}"
                curves.setdefault(key, (cell, []))[1].extend(cell.get("curves", [cell["curve"]]))
for key, (cell, found) in curves.items():
    midpoint = (cell["floor"] + cell["unigram_entropy"]) / 2
    lost_at[key], lost_in_warm_up[key], kept[key] = [], 0, 0
    seeds_of[key] = len(found)
    reached[key] = max(min(x for x in curve if x is not None) for curve in found)
    for curve in found:
        learned = False
        for number, loss in enumerate(curve, 1):
            learned = learned or (loss is not None and loss < midpoint)
            if learned and (loss is None or loss > midpoint):
                step = cell["window"] * (number - 0.5)  # the middle of the window
                lost_at[key].append(cell["lr"] * min(1, step / cell["warmup"]))
                lost_in_warm_up[key] += step < cell["warmup"]
                break
        kept[key] += curve[-1] is not None and curve[-1] < midpoint
    print(f"{key}: {seeds_of[key]} seeds, {len(lost_at[key])} lost, {kept[key]} learned at the end")
lowest_lost = {key: min(rates) for key, rates in lost_at.items() if rates}
middle_lost = {key: statistics.median(rates) for key, rates in lost_at.items() if rates}
lost = {key: len(rates) for key, rates in lost_at.items()}
all_lost_in_warm_up = lost["published_12_0.01_1000"] == lost_in_warm_up["published_12_0.01_1000"]

short_warm_up = 300
key = "published_12_0.01_1000"
cell, found = curves[key]
fig, (ax, lower) = plt.subplots(2, 1, figsize=(5.6, 4.6), sharex=True, height_ratios=(3, 1))
rows: list[list[Any]] = []
steps = [cell["window"] * (i + 1) for i in range(len(found[0]))]
rates = [cell["lr"] * min(1, step / cell["warmup"]) for step in steps]
for seed, curve in enumerate(found):
    ax.plot(steps, curve, color="C2", linewidth=0.9)
    rows += [[seed, *point] for point in zip(steps, rates, curve, strict=True)]
ax.axhline(cell["floor"], color="C5", linestyle="--", linewidth=1)
ax.axhline(cell["unigram_entropy"], color="C5", linestyle=":", linewidth=1)
ax.annotate("entropy floor", (2950, cell["floor"] + 0.08), ha="right", color="C5")
ax.annotate("unigram entropy", (2950, cell["unigram_entropy"] + 0.08), ha="right", color="C5")
ax.set(ylabel="training loss, nats", ylim=(1, 4.7))
lower.plot(steps, rates, color="C4")
lower.set(xlabel="step", ylabel="learning rate", ylim=(0, None))
fig.savefig("warm_up.svg")
with open("warm_up.csv", "w", newline="") as file:
    csv.writer(file).writerows([["seed", "step", "rate", "loss"], *rows])
