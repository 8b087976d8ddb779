# Draws attention with QK-Norm: where the two norms stand, and that the values pass without
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

fig, ax = plt.subplots(figsize=(5.6, 2.9))
ax.set(xlim=(-0.4, 13.2), ylim=(-2.5, 2.5))
ax.axis("off")


def path(ax: Axes, *points: tuple[float, float], color: str = "C5") -> None:
    """A line through the points, with an arrow head at the last."""
    *_, start, end = points
    ax.plot(*zip(*points[:-1], strict=True), color=color)
    style = {"arrowstyle": "-|>", "color": color, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=end, xytext=start, arrowprops=style)


def box(ax: Axes, x: float, y: float, text: str, color: str = "C5", width: float = 1.5) -> None:
    frame = (x - width / 2, y - 0.5)
    ax.add_patch(Rectangle(frame, width, 1, fill=False, edgecolor=color, linewidth=1.8))
    ax.text(x, y, text, ha="center", va="center", color=color)


ax.text(0, 0, "$x$", ha="center", va="center", size="large")
ax.text(12.9, -0.7, "out", ha="center", va="center")
for y, name in ((1.7, "Q"), (0.3, "K"), (-1.7, "V")):
    path(ax, (0.3, 0), (0.8, 0), (0.8, y), (1.3, y))
    box(ax, 2.1, y, f"$W_{name}$")
for y, name in ((1.7, "q"), (0.3, "k")):
    path(ax, (2.9, y), (3.6, y))
    box(ax, 4.6, y, f"norm ${name}$", "C1", 1.9)
    path(ax, (5.6, y), (6.3, y), (6.3, 1), (6.9, 1))
box(ax, 7.8, 1, "$q \\cdot k$", width=1.7)
path(ax, (8.7, 1), (9.2, 1))
box(ax, 10.2, 1, "softmax", width=1.9)
path(ax, (11.2, 1), (11.7, 1), (11.7, -0.7), (12.3, -0.7))
path(ax, (2.9, -1.7), (11.7, -1.7), (11.7, -0.7), (12.3, -0.7))
ax.text(7, -1.95, "no norm on the values", ha="center", va="top")
ax.text(4.6, -0.4, "bounds the logits", ha="center", va="top", color="C1")
plt.savefig("attention.svg")
