# LayerNorm against RMSNorm, seed by seed: their difference beside the spread of the seeds
# reads: snippets/training/published_cells.json snippets/training/described_cells.json
import csv
import json
import statistics

import matplotlib.pyplot as plt

claimed = 0.03  # the article: "within 0.03"
usual = {"placement": "pre", "residual": True, "final_norm": True, "precision": "fp32"}
losses: dict[str, dict[str, dict[int, float]]] = {}  # setting: norm: seed: final loss
bounds: dict[str, tuple[float, float]] = {}
for network in ("published", "described"):
    with open(f"{network}_cells.json") as file:
        for cell in json.load(file).values():
            bounds.setdefault(network, (cell["floor"], cell["unigram_entropy"]))
            if all(
                cell[key] == value for key, value in {**usual, "warmup": 0, "gain": 1.0}.items()
            ):
                key = f"{network}_{cell['depth']}_{cell['lr']:g}_{cell['steps']}"
                of_norm = losses.setdefault(key, {}).setdefault(cell["norm"], {})
                of_norm |= dict(
                    enumerate(cell.get("final_losses", [cell["final_loss"]]), cell["seed"])
                )
pair = ("layernorm", "rmsnorm")
compared = {
    key: tuple([found[norm][seed] for seed in sorted(found[norm])] for norm in pair)
    for key, found in sorted(losses.items())
    if all(norm in found and len(found[norm]) >= 5 for norm in pair)
    and set(found["layernorm"]) == set(found["rmsnorm"])
}
seeds_of = {key: len(both[0]) for key, both in compared.items()}
difference: dict[str, list[float]] = {}  # RMSNorm minus LayerNorm: same seed, same data
for key, (layer, rms) in compared.items():
    difference[key] = [round(r - n, 4) for n, r in zip(layer, rms, strict=True)]
middle = {key: statistics.median(found) for key, found in difference.items()}
largest = {key: max(map(abs, found)) for key, found in difference.items()}
spread = {key: max(layer) - min(layer) for key, (layer, _) in compared.items()}
largest_of_all, smallest_spread = max(largest.values()), min(spread.values())
all_within_claimed = largest_of_all < claimed
always_below_spread = all(largest[key] < spread[key] for key in compared)
steps_run, fewest_seeds, usual_depth, rate_run = 1000, 5, 12, 0.001
rms_ahead = {key: sum(value < 0 for value in found) for key, found in difference.items()}
seeds_within_claimed = max(spread.values()) < claimed
settings_compared = len(compared)
seeds_compared = sum(seeds_of.values())
rms_is_lower = sum(value < 0 for found in difference.values() for value in found)
for key in compared:
    print(f"{key}: largest difference {largest[key]:.4f}, spread of seeds {spread[key]:.4f}")

fig, (ax, lower) = plt.subplots(2, 1, figsize=(5.6, 5.2))
rows: list[list[object]] = []
for place, (key, (layer, rms)) in enumerate(compared.items()):
    low, high = bounds[key.split("_")[0]]
    for color, shift, values in (("C0", -0.12, layer), ("C1", 0.12, rms)):
        ax.plot([place + shift] * len(values), values, "o", color=color, alpha=0.6)
    ax.plot([place - 0.4, place + 0.4], [low, low], "--", color="C5", linewidth=1)
    ax.plot([place - 0.4, place + 0.4], [high, high], ":", color="C5", linewidth=1)
    lower.plot([place] * len(rms), difference[key], "o", color="C2", alpha=0.6)
    lower.plot([place + 0.2] * 2, [-spread[key] / 2, spread[key] / 2], color="C0")
    rows += [[key, seed, *both] for seed, both in enumerate(zip(layer, rms, strict=True))]
names = ["\n".join(key.split("_")[:2]) for key in compared]
for each in (ax, lower):
    each.set_xticks(range(len(names)), [f"{name} layers" for name in names])
    each.set_xlim(-0.6, len(names) - 0.4)
ax.set(ylabel="final loss, nats", ylim=(1, 4.4))
ax.annotate("LayerNorm (left), RMSNorm (right)", (-0.5, 3.2))
lower.set(ylabel="RMSNorm minus LayerNorm")
lower.axhline(claimed, color="C5", linestyle="-.", linewidth=1)
lower.axhline(-claimed, color="C5", linestyle="-.", linewidth=1)
fig.savefig("difference.svg")
with open("difference.csv", "w", newline="") as file:
    header = ["setting", "seed", "LayerNorm", "RMSNorm"]
    csv.writer(file).writerows([header, *rows])
