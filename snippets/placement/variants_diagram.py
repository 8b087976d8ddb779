# Draws where the norm stands in six placements, in a stack of Peri-LN, and in QK-Norm
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

# a branch is what stands on it, from left to right; `shared` stands before the branches part,
# `stream` on the stream behind the sum
placements: dict[str, dict[str, Any]] = {
    "Post-LN": {"branches": [["$F$"]], "stream": ["LN"]},
    "Pre-LN": {"branches": [["LN", "$F$"]]},
    "sandwich, Peri-LN": {"branches": [["LN", "$F$", "LN"]]},
    "reordered": {"branches": [["$F$", "LN"]]},
    "parallel, one norm": {"shared": ["LN"], "branches": [["att"], ["FFN"]]},
    "parallel, two norms": {"branches": [["LN", "att"], ["LN", "FFN"]]},
}


def path(ax: Axes, *points: tuple[float, float], color: str = "C5") -> None:
    """A line through the points, with an arrow head at the last."""
    *_, start, end = points
    ax.plot(*zip(*points[:-1], strict=True), color=color)
    style = {"arrowstyle": "-|>", "color": color, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=end, xytext=start, arrowprops=style)


def box(ax: Axes, x: float, y: float, text: str) -> None:
    color = "C1" if text in ("LN", "norm") else "C5"
    frame = Rectangle((x - 0.65, y - 0.45), 1.3, 0.9, fill=False, edgecolor=color, linewidth=1.8)
    ax.add_patch(frame)
    ax.text(x, y, text, ha="center", va="center", color=color)


def plus(ax: Axes, x: float, y: float = 0, sign: str = "+") -> None:
    ax.plot(x, y, marker="o", markersize=12, markerfacecolor="none", markeredgecolor="C5")
    ax.text(x, y, sign, ha="center", va="center")


def row(ax: Axes, x: float, y: float, boxes: list[str], color: str = "C5") -> float:
    """Boxes on a line that starts at x; returns where the line has got to."""
    for text in boxes:
        path(ax, (x, y), (x + 0.5, y), color=color)
        box(ax, x + 1.15, y, text)
        x += 1.8
    return x


def block(
    ax: Axes,
    branches: list[list[str]],
    shared: list[str] | None = None,
    stream: list[str] | None = None,
) -> None:
    end, split = 7.4, 0.9
    ax.text(0, 0, "$x$", ha="center", va="center", size="large")
    at_sum = 5.2 if stream else 6.6
    if shared:
        ax.plot([split, split], [0, 1.6], color="C5")
        split = row(ax, split, 1.6, shared)
    for height, boxes in zip((1.6, 2.9), branches, strict=False):
        if shared is None or height > 2:
            ax.plot([split, split], [0 if shared is None else 1.6, height], color="C5")
        x = row(ax, split, height, boxes)
        ax.plot([x, at_sum], [height, height], color="C5")
        path(ax, (at_sum, height), (at_sum, height), (at_sum, 0.3))
    color = "C5" if stream else "C0"  # blue: nothing but sums on the stream
    path(ax, (0.3, 0), (0.4, 0), (at_sum - 0.3, 0), color=color)
    plus(ax, at_sum)
    x = row(ax, at_sum + 0.3, 0, stream or [])
    path(ax, (x - 0.1 if stream else x, 0), (x, 0), (end + 0.4, 0), color=color)
    ax.text(end + 0.7, 0, "$y$", ha="center", va="center", size="large")


fig, axes = plt.subplots(3, 2, figsize=(5.8, 6))
for ax, (title, what) in zip(axes.flat, placements.items(), strict=True):
    ax.set(xlim=(-0.4, 8.5), ylim=(-0.8, 3.6), title=title)
    ax.axis("off")
    block(ax, **what)
plt.savefig("blocks.svg")

fig, ax = plt.subplots(figsize=(5.8, 1.1))  # a whole Peri-LN stack
ax.set(xlim=(-0.4, 12), ylim=(-0.7, 0.7))
ax.axis("off")
ax.text(0.3, 0, "tokens", ha="center", va="center")
x = row(ax, 1.1, 0, ["emb", "LN", "block", "block", "LN", "head"])
plt.savefig("peri_stack.svg")

fig, ax = plt.subplots(figsize=(5.8, 3))  # QK-Norm
ax.set(xlim=(-0.4, 12), ylim=(-0.8, 3.8))
ax.axis("off")
ax.text(0, 1.5, "$x$", ha="center", va="center", size="large")
for height, boxes in ((3, ["$W_Q$", "norm"]), (1.5, ["$W_K$", "norm"]), (0, ["$W_V$"])):
    ax.plot([0.3, 0.6, 0.6], [1.5, 1.5, height], color="C5")
    x = row(ax, 0.6, height, boxes)
    if height:
        path(ax, (x, height), (4.9, height), (4.9, 2.25 + (0.3 if height > 2 else -0.3)))
    else:
        ax.plot([x, 9.1], [0, 0], color="C5")
plus(ax, 4.9, 2.25, r"$\cdot$")
x = row(ax, 5.2, 2.25, ["soft\nmax"])
path(ax, (x, 2.25), (9.4, 2.25), (9.4, 0.3))
plus(ax, 9.4, 0, r"$\cdot$")
x = row(ax, 9.7, 0, ["$W_O$"])
plt.savefig("qk_norm.svg")
