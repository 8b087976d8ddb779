# Which cells learn: depth by learning rate for each placement; and all their curves, for the page
# reads: snippets/training/published_cells.json snippets/training/described_cells.json
import csv
import itertools
import json
import statistics
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle

networks = ("published", "described")
fixed = {"residual": True, "final_norm": True, "precision": "fp32", "gain": 1.0}


def kind(cell: dict[str, Any]) -> str:
    if cell["norm"] == "none":
        return "no-norm"
    norm = "RMSNorm" if cell["norm"] == "rmsnorm" else "LN"
    return {"pre": "Pre-", "post": "Post-", "sandwich": "Sandwich-"}[cell["placement"]] + norm


# an entry for each network, kind, depth, learning rate and schedule, with all its seeds
squares: dict[str, dict[str, Any]] = {}
bounds: dict[str, tuple[float, float]] = {}  # entropy floor and unigram entropy
for network in networks:
    with open(f"{network}_cells.json") as file:
        cells = json.load(file).values()
    for cell in cells:
        if any(cell[key] != value for key, value in fixed.items()):
            continue
        bounds.setdefault(network, (cell["floor"], cell["unigram_entropy"]))
        name = "_".join(
            [network, kind(cell), *(f"{cell[key]:g}" for key in ("depth", "lr", "warmup", "steps"))]
        )
        square = squares.setdefault(name, {"window": cell["window"], "losses": [], "curves": []})
        square["losses"] += cell.get("final_losses", [cell["final_loss"]])
        square["curves"] += cell.get("curves", [cell["curve"]])

# a run has learned if it ends below the midpoint of the two bounds
limit = {network: sum(pair) / 2 for network, pair in bounds.items()}
trained: dict[str, int] = {}
runs: dict[str, int] = {}
median: dict[str, float] = {}
lowest: dict[str, float] = {}
highest: dict[str, float] = {}
not_finite: dict[str, int] = {}
for name, square in squares.items():
    losses = [loss for loss in square["losses"] if loss is not None]
    runs[name] = len(square["losses"])
    trained[name] = sum(loss <= limit[name.split("_")[0]] for loss in losses)
    not_finite[name] = runs[name] - len(losses)
    if losses:
        median[name] = round(statistics.median(losses), 4)
        lowest[name], highest[name] = min(losses), max(losses)

rates_of_text, claimed_rate = [0.001, 0.003, 0.01, 0.005, 0.03, 0.1], 0.0003
steps_run = 1000
usual_cell = "published_{}_12_{}_0_1000"
pre, post = (median[usual_cell.format(name, 0.001)] for name in ("Pre-LN", "Post-LN"))
post_behind_pre = post - pre
longer_gains = pre - median["published_Pre-LN_12_0.001_0_3000"]
described = "described_{}_12_0.001_0_1000"
described_do_not_overlap = highest[described.format("Pre-LN")] < lowest[described.format("Post-LN")]
order = [described.format(kind) for kind in ("Sandwich-LN", "Pre-LN", "Post-LN", "no-norm")]
described_in_order = all(highest[one] < lowest[other] for one, other in itertools.pairwise(order))
sandwich_gains = median[order[1]] - median[order[0]]
slow_rate = 0.0001
pre_learns_at_each_rate = all(
    trained[name] == runs[name] for name in runs if name.startswith("published_Pre-LN_12_")
)
bare_described_is_worse = (
    lowest["described_no-norm_20_0.001_0_1000"] > highest["described_Pre-LN_20_0.001_0_1000"]
)
post_has_no_nan = all(bad == 0 for name, bad in not_finite.items() if "Post-LN" in name)
columns = ["network", "kind", "depth", "lr", "warmup", "steps", "seeds", "learned", "not finite"]
with open("heat_map.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow([*columns, "median loss", "lowest", "highest"])
    for name in sorted(squares):
        losses = [found[name] for found in (median, lowest, highest) if name in found]
        writer.writerow([*name.split("_"), runs[name], trained[name], not_finite[name], *losses])

# the data of the interactive map: four digits of each curve
with open("curves.js", "w") as file:
    data = {"bounds": bounds, "limit": limit, "squares": squares}
    text = json.dumps(data, separators=(",", ":"), sort_keys=True)
    rounded = json.loads(text, parse_float=lambda digits: float(f"{float(digits):.4g}"))
    file.write(f"window.trainingCurves={json.dumps(rounded, separators=(',', ':'))};\n")

depths, rates = (
    [6, 12, 20, 30, 60],
    ["0.0001", "0.0003", "0.001", "0.003", "0.005", "0.01", "0.03", "0.1"],
)
fig, axes = plt.subplots(3, 1, figsize=(5.6, 7.8), sharex=True)
for ax, shown in zip(axes, ("no-norm", "Pre-LN", "Post-LN"), strict=True):
    ax.set(
        title=shown.replace("no-norm", "no norm"),
        ylabel="layers",
        xlim=(-0.5, len(rates) - 0.5),
        ylim=(-0.5, len(depths) - 0.5),
    )
    ax.set_yticks(range(len(depths)), [str(depth) for depth in depths])
    ax.set_xticks(range(len(rates)), [f"{float(rate):.0e}".replace("e-0", "e-") for rate in rates])
    ax.grid(False)
    for row, depth in enumerate(depths):
        for column, rate in enumerate(rates):
            name = f"published_{shown}_{depth}_{rate}_0_1000"
            if name not in runs:
                continue
            color = "C0" if trained[name] == runs[name] else "C1"
            share = 0.25 if trained[name] in (0, runs[name]) else 0.1
            ax.add_patch(
                Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, color=color, alpha=share)
            )
            said = f"{median[name]:.2f}" if name in median else "not finite"
            text = f"{said}\n{trained[name]} of {runs[name]}"
            ax.text(column, row, text, ha="center", va="center", color=color)
axes[-1].set_xlabel("learning rate")
fig.savefig("heat_map.svg")
print("final losses of the published network, and how many seeds learned:")
for name in sorted(name for name in squares if name.startswith("published")):
    print(f"  {name}: {lowest.get(name)} to {highest.get(name)}, {trained[name]} of {runs[name]}")
