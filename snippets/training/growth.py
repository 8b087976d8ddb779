# The residual stream through training, and what each block is worth afterwards
# reads: snippets/training/published_cells.json snippets/training/described_cells.json
import csv
import json
import statistics
from typing import Any

import matplotlib.pyplot as plt

usual = {"residual": True, "final_norm": True, "precision": "fp32", "warmup": 0, "steps": 1000}
found: dict[str, list[dict[str, Any]]] = {}  # setting: its cells, one for each seed or one for all
bounds: dict[str, tuple[float, float]] = {}
for network in ("published", "described"):
    with open(f"{network}_cells.json") as file:
        for cell in json.load(file).values():
            bounds.setdefault(network, (cell["floor"], cell["unigram_entropy"]))
            kind = "bare" if cell["norm"] == "none" else cell["placement"]
            usual_cell = all(cell[key] == value for key, value in usual.items())
            usual_cell = usual_cell and cell["first_non_finite"] is None
            if (
                usual_cell
                and cell["norm"] != "rmsnorm"
                and cell["gain"] == 1
                and cell["dropped_loss"]
            ):
                found.setdefault(f"{network}_{kind}_{cell['depth']}_{cell['lr']:g}", []).append(
                    cell
                )
seeds_of = {key: sum(c.get("members", 1) for c in cells) for key, cells in found.items()}


def middle(cells: list[dict[str, Any]], step: int, what: str) -> list[float]:
    """Of each layer, the median over the seeds."""
    layers = zip(*(cell["layers"][str(step)][what] for cell in cells), strict=True)
    return [statistics.median(x for x in values if x is not None) for values in layers]


looks = (0, 10, 100, 300, 1000)
stream = {
    key: {step: middle(cells, step, "stream") for step in looks} for key, cells in found.items()
}
write = {
    key: {step: middle(cells, step, "write") for step in looks} for key, cells in found.items()
}
growth = {
    key: {step: layers[-1] / layers[0] for step, layers in steps.items()}
    for key, steps in stream.items()
}
more_growth = {key: steps[1000] / steps[0] for key, steps in growth.items()}
cost: dict[str, list[float]] = {}  # of dropping a block: how far the loss rises
for key, cells in found.items():
    dropped = zip(*(cell["dropped_loss"] for cell in cells), strict=True)
    whole = [cell["final_loss"] for cell in cells]
    cost[key] = [statistics.median(d - w for d, w in zip(ds, whole, strict=True)) for ds in dropped]
third = {key: len(values) // 3 for key, values in cost.items()}
lower_third = {key: sum(values[: third[key]]) for key, values in cost.items()}
upper_third = {key: sum(values[-third[key] :]) for key, values in cost.items()}
write_first = {
    key: {step: values[0] for step, values in steps.items()} for key, steps in write.items()
}
write_last = {
    key: {step: values[-1] for step, values in steps.items()} for key, steps in write.items()
}
cost_first = {key: values[0] for key, values in cost.items()}
cost_last = {key: values[-1] for key, values in cost.items()}
pre = [key for key in found if "_pre_" in key and seeds_of[key] >= 5]
fast = [key for key in pre if float(key.split("_")[3]) >= 0.001]
pre_grows_in_training = all(more_growth[key] > 1 for key in fast)
pre_later_cost_less = all(upper_third[key] < lower_third[key] for key in pre)
pre_write_falls_after_training = all(write_last[key][1000] < write_first[key][1000] for key in pre)
usual_depth, depths, rates, fewest_seeds = 12, [6, 12, 20, 30], [0.001, 0.01, 0.1], 5
steps_run, slow_rate = looks[-1], 0.0001
others = [key for key in found if "_post_" in key or "_bare_" in key]
others = [key for key in others if seeds_of[key] >= 5 and key.endswith("_0.001")]
others_reversed = all(upper_third[key] > lower_third[key] for key in others)
idle = 0.002
upper_is_idle_at_high_rate = upper_third["published_pre_12_0.01"] < idle
for key in sorted(found):
    print(f"{key}, {seeds_of[key]} seeds: growth {growth[key][0]:.2f} to {growth[key][1000]:.2f}")

shown = [key for key in ("published_pre_12_0.001", "described_pre_12_0.001") if key in found]
fig, axes = plt.subplots(1, len(shown), figsize=(5.6, 3.2), sharey=True, squeeze=False)
rows: list[list[Any]] = []
for ax, key in zip(axes[0], shown, strict=True):
    for color, step in zip(("C5", "C4", "C2", "C0", "C1"), looks, strict=True):
        for cell in found[key]:
            ax.plot(cell["layers"][str(step)]["stream"], color=color, linewidth=0.6, alpha=0.5)
        ax.plot(stream[key][step], color=color)
        rows += [[key, step, layer, value] for layer, value in enumerate(stream[key][step])]
    for step, place in ((0, -1), (100, -4), (1000, -1)):
        color = {0: "C5", 100: "C2", 1000: "C1"}[step]
        where = len(stream[key][step]) + place
        ax.annotate(f"{step}", (where, stream[key][step][place]), color=color, va="bottom")
    ax.set(title=key.split("_")[0], xlabel="layer")
axes[0][0].set_ylabel("RMS of the stream")
fig.savefig("stream.svg")
with open("stream.csv", "w", newline="") as file:
    csv.writer(file).writerows([["setting", "step", "layer", "rms"], *rows])

fig, (ax, right) = plt.subplots(1, 2, figsize=(5.6, 3.6), sharey=True, width_ratios=(3, 2))
rows = []
names = {
    "published_pre_12_0.001": "published,\nPre-LN",
    "described_pre_12_0.001": "described,\nPre-LN",
}
names |= {"published_post_12_0.001": "published,\nPost-LN"}
names |= {"described_post_12_0.001": "described,\nPost-LN"}
names |= {"published_bare_20_0.001": "published", "described_bare_20_0.001": "described"}
for number, (key, name) in enumerate(names.items()):
    if key in cost and seeds_of[key] >= 5:
        where, color = (right, f"C{number - 4}") if "bare" in key else (ax, f"C{number}")
        layers = range(1, len(cost[key]) + 1)
        where.plot(layers, [max(value, 1e-4) for value in cost[key]], "o-", color=color)
        shift = {"published_post_12_0.001": "top", "described_bare_20_0.001": "bottom"}
        end = (float(layers[-1]), max(cost[key][-1], 1e-4))
        if where is ax:
            align = shift.get(key, "bottom" if "post" in key else "center")
            where.annotate(f"  {name}", end, color=color, va=align)
        else:
            spot = (11, 0.012) if "published" in key else (3, 0.06)
            where.annotate(name, spot, color=color, va=shift.get(key, "top"))
        rows += [[key, layer, value] for layer, value in zip(layers, cost[key], strict=True)]
ax.set(yscale="log", ylabel="rise of the loss, nats", xlim=(0, 18), title="12 layers")
right.set(title="no norm, 20 layers")
for each in (ax, right):
    each.set_xlabel("block that is dropped")
fig.savefig("dropped.svg")
with open("dropped.csv", "w", newline="") as file:
    csv.writer(file).writerows([["setting", "block", "rise"], *rows])
