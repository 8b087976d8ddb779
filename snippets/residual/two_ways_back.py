# Draws a residual block, and the two ways its gradient takes back
import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle

fig, ax = plt.subplots(figsize=(5.6, 2.4))
ax.set(xlim=(0, 10), ylim=(-1.5, 3.1))
ax.axis("off")


def path(*points: tuple[float, float], color: str = "C5") -> None:
    """A line through the points, with an arrow head at the last."""
    *_, start, end = points
    ax.plot(*zip(*points[:-1], strict=True), color=color)
    style = {"arrowstyle": "-|>", "color": color, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=end, xytext=start, arrowprops=style)


# forward: the stream runs straight through; the branch reads it and adds what it writes
path((0.6, 0), (7.6, 0))
path((2, 0), (2, 1.5), (4.2, 1.5))
path((5.6, 1.5), (7.9, 1.5), (7.9, 0.4))
path((8.2, 0), (9.4, 0))
ax.add_patch(Rectangle((4.2, 1.05), 1.4, 0.9, fill=False, edgecolor="C5", linewidth=1.8))
ax.plot(7.9, 0, marker="o", markersize=19, markerfacecolor="none", markeredgecolor="C5")
for x, y, text in ((0.3, 0, "$x$"), (4.9, 1.5, "$F$"), (7.9, 0, "+"), (9.7, 0, "$y$")):
    ax.text(x, y, text, ha="center", va="center", size="large")

# backward: the same gradient g enters both ways, and what comes out is added
path((7.5, -0.75), (0.6, -0.75), color="C0")
ax.text(4.9, -0.95, "the identity term: $g$", ha="center", va="top", color="C0")
path((7.5, 2.3), (2, 2.3), color="C1")
ax.text(4.9, 2.45, "the term through $F$: $gJ$", ha="center", va="bottom", color="C1")
plt.savefig("block.svg")
