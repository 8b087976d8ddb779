# All cells that were trained: what each was, how many runs, and the time it took
# reads: snippets/training/published_cells.json snippets/training/described_cells.json
import csv
import json
import statistics
from typing import Any

import matplotlib.pyplot as plt

per_run: dict[str, dict[int, list[float]]] = {}  # seconds for each step of each seed, by depth
count: dict[str, int] = {}
runs: dict[str, int] = {}
hours: dict[str, float] = {}
bounds: dict[str, list[float]] = {}
for network in ("published", "described"):
    with open(f"{network}_cells.json") as file:
        cells: list[dict[str, Any]] = list(json.load(file).values())
    count[network] = len(cells)
    runs[network] = sum(cell.get("members", 1) for cell in cells)
    hours[network] = sum(cell["seconds"] for cell in cells) / 3600
    bounds[network] = [cells[0]["floor"], cells[0]["unigram_entropy"]]
    per_run[network] = {}
    for cell in cells:
        if cell["first_non_finite"] is None:  # the others ended early
            taken = cell["seconds"] / cell["steps"] / cell.get("members", 1)
            per_run[network].setdefault(cell["depth"], []).append(taken)
seeds_per_published_cell, short_run, successors = 8, 1000, 4
milliseconds = {
    network: {depth: 1000 * statistics.median(times) for depth, times in sorted(by_depth.items())}
    for network, by_depth in per_run.items()
}

# a far deeper network, by the slope from the shallowest to the deepest that was run
times_deeper, usual_depth, steps, seeds_of_a_cell = 10, 12, 3000, 8
deep = times_deeper * usual_depth
slope: dict[str, float] = {}
hours_deep: dict[str, float] = {}
for network, by_depth in milliseconds.items():
    depths = sorted(by_depth)
    slope[network] = (by_depth[depths[-1]] - by_depth[depths[0]]) / (depths[-1] - depths[0])
    each = by_depth[depths[-1]] + slope[network] * (deep - depths[-1])
    hours_deep[network] = each * steps * seeds_of_a_cell / 1000 / 3600
times_published = milliseconds["described"][usual_depth] / milliseconds["published"][usual_depth]
for network in count:
    print(f"{network}: {count[network]} cells, {runs[network]} runs")

fig, ax = plt.subplots()
rows = []
for color, (network, times) in zip(("C0", "C1"), per_run.items(), strict=True):
    for depth, found in sorted(times.items()):
        ax.plot([depth] * len(found), [1000 * t for t in found], "o", color=color, alpha=0.5)
        rows += [[network, depth, f"{1000 * t:.3g}"] for t in found]
    where = sorted(milliseconds[network])
    ax.plot(where, [milliseconds[network][depth] for depth in where], color=color)
    ax.annotate(f" {network}", (where[-1], milliseconds[network][where[-1]]), color=color)
ax.set(xlabel="layers", ylabel="milliseconds for a step of a seed", xlim=(0, 40), ylim=(0, None))
fig.savefig("seconds.svg")
with open("seconds.csv", "w", newline="") as file:
    csv.writer(file).writerows([["network", "depth", "milliseconds"], *rows])
