# reads: snippets/papers/rmsnorm_transformer.csv, snippets/papers/rmsnorm_times.csv
# The training time that RMSNorm and pRMSNorm save against LayerNorm, recomputed from the paper.
import csv
import math

import matplotlib.pyplot as plt
import numpy as np

article_range = [0.07, 0.64]
article_transformer, article_cnn_and_retrieval = [0.07, 0.09], [0.40, 0.64]
article_recurrent, article_frameworks = [0.25, 0.34], [0.11, 0.34]
article_slowdown, article_faster, article_seconds = 0.67, 0.25, 230


def read(name: str) -> list[dict[str, str]]:
    with open(name) as file:
        return list(csv.DictReader(line for line in file if line[0] != "#"))


transformer = {row["norm"]: row["seconds"] for row in read("rmsnorm_transformer.csv")}
times = {"Transformer": transformer}
times |= {row.pop("task"): row for row in read("rmsnorm_times.csv")}


def saving(task: str, norm: str) -> tuple[float, float]:
    """Share of LayerNorm's time, and its uncertainty where the table has a plus or minus."""
    row = times[task]
    ours, layer = float(row[norm]), float(row["LayerNorm"])
    errors = [float(row.get(f"{n}_pm", 0)) / float(row[n]) for n in (norm, "LayerNorm")]
    return 1 - ours / layer, ours / layer * math.hypot(*errors)


saved = {task: saving(task, "RMSNorm")[0] for task in times}
saved_partial = {task: saving(task, "pRMSNorm")[0] for task in times}
smallest, largest = min(saved.values()), max(saved.values())
largest_partial = max(saved_partial.values())
transformer_is_smallest = min(saved, key=lambda task: saved[task]) == "Transformer"
largest_partial_is_order_embedding = largest_partial == saved_partial["order-embedding"]
rnnsearch = times["RNNSearch-TensorFlow"]
slowdown = float(rnnsearch["LayerNorm"]) / float(rnnsearch["none"]) - 1
for task in saved:
    print(f"{task:20} RMSNorm saves {saved[task]:.1%}, pRMSNorm {saved_partial[task]:.1%}")
print(f"RNNSearch in TensorFlow: LayerNorm takes {slowdown:.1%} more time than no norm")

fig, ax = plt.subplots()
place = np.arange(len(saved))
for k, norm in enumerate(("RMSNorm", "pRMSNorm")):
    share, error = 100 * np.array([saving(task, norm) for task in times]).T
    ax.errorbar(share, place - 0.25 * k, xerr=error, fmt="os"[k], color=f"C{k}")
    ax.text(share[-1] + 3, place[-1] - 0.25 * k, norm, va="center")
ax.set_yticks(place, [task.replace("-", " ").replace("CIFAR ", "CIFAR-") for task in saved])
ax.set(xlabel="training time saved against LayerNorm, %", xlim=(0, 85), ylim=(-0.7, 6.5))
plt.savefig("time_saved.svg")
with open("time_saved.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["task", "RMSNorm %", "pRMSNorm %"])
    table.writerows([t, f"{100 * saved[t]:.1f}", f"{100 * saved_partial[t]:.1f}"] for t in saved)
