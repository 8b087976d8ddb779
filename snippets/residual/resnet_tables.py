# What the tables of the ResNet paper say about depth: plain against residual, up to 1202 layers
# reads: snippets/papers/resnet_cifar10.csv, snippets/papers/resnet_imagenet.csv
import csv
from itertools import pairwise

import matplotlib.pyplot as plt


def read(name: str) -> list[dict[str, str]]:
    with open(name) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


error = {row["model"]: float(row["error"]) for row in read("resnet_imagenet.csv")}
plain_change = error["plain-34"] - error["plain-18"]  # percentage points
residual_change = error["residual-18"] - error["residual-34"]
gap_at_18 = error["plain-18"] - error["residual-18"]
print(f"from 18 to 34 layers: plain +{plain_change:.2f} points, residual -{residual_change:.2f}")

cifar = read("resnet_cifar10.csv")
layers = [int(row["layers"]) for row in cifar]
errors = [float(row["error"]) for row in cifar]
best = layers[errors.index(min(errors))]
deepest = layers[-1]
deepest_over_best = errors[-1] - min(errors)
falls_up_to_110 = all(a > b for a, b in pairwise(errors[:-1]))
print(f"best of the table: {best} layers; {deepest} layers: +{deepest_over_best:.2f} points")

fig, ax = plt.subplots()
ax.plot(layers, errors, marker="o")
for n, e in zip(layers, errors, strict=True):
    ax.annotate(f"{n}", (n, e), xytext=(0, 7), textcoords="offset points", ha="center")
ax.set(xscale="log", xlabel="layers", ylabel="test error on CIFAR-10 (%)", ylim=(6, 9.2))
plt.savefig("depth.svg")
with open("depth.csv", "w", newline="") as file:
    csv.writer(file).writerows([["layers", "error"], *zip(layers, errors, strict=True)])
