# reads: snippets/papers/rmsnorm_transformer.csv, snippets/papers/rmsnorm_times.csv
# saved = (share of the time that LayerNorm adds) * (share of that addition which RMSNorm removes)
import csv

import matplotlib.pyplot as plt


def read(name: str) -> list[dict[str, str]]:
    with open(name) as file:
        return list(csv.DictReader(line for line in file if line[0] != "#"))


transformer = {row["norm"]: row["seconds"] for row in read("rmsnorm_transformer.csv")}
times = {"Transformer": transformer}
times |= {row.pop("task"): row for row in read("rmsnorm_times.csv")}

added, saved, removed, by_task = {}, {}, {}, []
for task, row in times.items():
    none, layer, rms = (float(row[norm]) for norm in ("none", "LayerNorm", "RMSNorm"))
    added[task], saved[task] = 1 - none / layer, 1 - rms / layer
    removed[task] = saved[task] / added[task]
    shares = {
        "added": f"{added[task]:.1%}",
        "removed": f"{removed[task]:.0%}",
        "saved": f"{saved[task]:.1%}",
    }
    label = task.replace("-", " ").replace("CIFAR ", "CIFAR-")
    by_task.append({"task": label, "none": none, "LayerNorm": layer, "RMSNorm": rms, **shares})
least_removed, most_removed = min(removed.values()), max(removed.values())
theano, pytorch = "RNNSearch-Theano", "RNNSearch-PyTorch"
pytorch_share_above_theano = added[pytorch] > added[theano]
pytorch_saving_below_theano = saved[pytorch] < saved[theano]
print(f"RMSNorm removes {least_removed:.0%} to {most_removed:.0%} of the time LayerNorm adds")

fig, ax = plt.subplots()
ax.plot([0, 62], [0, 62], "--", color="C5")
ax.text(50, 56, "all of it removed", ha="right")
for task in times:
    at = (100 * added[task], 100 * saved[task])
    side = -1 if task == "order-embedding" else 1
    ax.plot(*at, "o", color="C0")
    ax.annotate(
        task.replace("-", " ").replace("CIFAR ", "CIFAR-"),
        at,
        (7 * side, 0),
        textcoords="offset points",
        ha="left" if side > 0 else "right",
        va="center",
    )
ax.set(xlim=(0, 90), ylim=(0, 62), xlabel="share of the time that LayerNorm adds, %")
ax.set(ylabel="time saved by RMSNorm, %")
plt.savefig("norm_share.svg")
with open("norm_share.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["task", "added %", "saved %"])
    table.writerows([t, f"{100 * added[t]:.1f}", f"{100 * saved[t]:.1f}"] for t in times)
