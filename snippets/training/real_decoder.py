# A small Transformer decoder on real text: which placements learn, at two learning rates
# reads: snippets/training/decoder_cells.json
import csv
import json
import statistics
from typing import Any

import matplotlib.pyplot as plt

with open("decoder_cells.json") as file:
    cells: list[dict[str, Any]] = list(json.load(file).values())
pairs, characters = cells[0]["bigram_entropy"], cells[0]["unigram_entropy"]
midpoint = (pairs + characters) / 2  # a run has learned if it ends below
depth, steps = cells[0]["depth"], cells[0]["steps"]


def kind(cell: dict[str, Any]) -> str:
    name = "Pre-LN" if cell["placement"] == "pre" else "Post-LN"
    name = "no-norm" if cell["norm"] == "none" else name
    return name + ("-QK" if cell["qk_norm"] else "") + ("-warm" if cell["warmup"] else "")


found: dict[str, list[dict[str, Any]]] = {}
for cell in cells:
    found.setdefault(f"{kind(cell)}_{cell['lr']:g}", []).append(cell)
seeds_of = {key: len(group) for key, group in found.items()}
finals = {
    key: [c["final_loss"] for c in group if c["final_loss"] is not None]
    for key, group in found.items()
}
lowest = {key: min(losses) for key, losses in finals.items() if losses}
highest = {key: max(losses) for key, losses in finals.items() if losses}
middle = {key: statistics.median(losses) for key, losses in finals.items() if losses}
learned = {key: sum(loss <= midpoint for loss in losses) for key, losses in finals.items()}
not_finite = {key: seeds_of[key] - len(losses) for key, losses in finals.items()}
growth = {
    key: [c["layers"][str(steps)]["stream"][-1] / c["layers"]["0"]["stream"][-1] for c in group]
    for key, group in found.items()
    if all(c["final_loss"] is not None for c in group)
}
rates, warm_up, text_bytes = [0.001, 0.01, 0.003], 100, 299_868
fewest_seeds = min(seeds_of.values())
post_has_no_nan = all(not_finite[key] == 0 for key in found if key.startswith("Post-LN"))
broke_last = {
    key: max(cell["first_non_finite"] for cell in found[key])
    for key in found
    if not_finite[key] == seeds_of[key]
}
overview = [
    {
        "kind, rate": key.replace("_", ", "),
        "seeds": seeds_of[key],
        "learned": learned[key],
        "not finite": not_finite[key],
    }
    for key in sorted(found)
]
print(f"{depth} layers, {steps} steps; counting pairs {pairs:.2f}, characters {characters:.2f}")
for key in sorted(found):
    print(f"{key}: {learned[key]} of {seeds_of[key]} learned, {not_finite[key]} not finite")

colors = {"Pre-LN": "C0", "Post-LN": "C1", "no-norm": "C3", "Post-LN-warm": "C2", "Pre-LN-QK": "C4"}
fig, axes = plt.subplots(1, 2, figsize=(5.6, 3.6), sharey=True)
rows: list[list[Any]] = []
for ax, rate in zip(axes, (0.001, 0.01), strict=True):
    for name, color in colors.items():
        for cell in found.get(f"{name}_{rate:g}", []):
            curve = [float("nan") if x is None else x for x in cell["curve"]]
            at = [cell["window"] * (i + 1) for i in range(len(curve))]
            first = cell["seed"] == min(c["seed"] for c in found[f"{name}_{rate:g}"])
            label = name.replace("-warm", ", warm-up").replace("-QK", " with QK-Norm")
            ax.plot(at, curve, color=color, linewidth=0.8, label=label if first else None)
            if len(curve) < steps // cell["window"]:
                ax.plot(at[-1], curve[-1], "x", color=color)
            rows += [
                [name, rate, cell["seed"], *point] for point in zip(at, cell["curve"], strict=True)
            ]
    for bound, style in ((pairs, "--"), (characters, ":")):
        ax.axhline(bound, color="C5", linestyle=style, linewidth=1)
    ax.set(title=f"learning rate {rate:g}", xlabel="step", ylim=(2, 4.4))
axes[0].set_ylabel("training loss, nats")
axes[1].legend(loc="upper right")
fig.savefig("decoder.svg")
with open("decoder.csv", "w", newline="") as file:
    csv.writer(file).writerows([["kind", "lr", "seed", "step", "loss"], *rows])
