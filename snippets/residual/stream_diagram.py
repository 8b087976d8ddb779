# Draws the residual stream: layers read from it and add to it, and one write deletes another
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

fig, ax = plt.subplots(figsize=(5.6, 2.5))
ax.set(xlim=(-0.5, 13.4), ylim=(-1.3, 2.9))
ax.axis("off")


def path(ax: Axes, *points: tuple[float, float], color: str = "C5") -> None:
    """A line through the points, with an arrow head at the last."""
    *_, start, end = points
    ax.plot(*zip(*points[:-1], strict=True), color=color)
    style = {"arrowstyle": "-|>", "color": color, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=end, xytext=start, arrowprops=style)


ax.text(0, 0, "$x_0$", ha="center", va="center", size="large")
ax.text(13, 0, "$x_L$", ha="center", va="center", size="large")
path(ax, (0.4, 0), (12.5, 0), color="C0")
layers = [("attention", "$+ f_1$", "C5"), ("MLP", "$+ f_2$", "C5"), ("head", "$- f_1$", "C1")]
for x, (name, write, color) in zip((1.2, 5.0, 8.8), layers, strict=True):
    path(ax, (x, 0), (x, 1.4), color=color)
    ax.add_patch(Rectangle((x - 0.4, 1.4), 2.9, 1, fill=False, edgecolor=color, linewidth=1.8))
    ax.text(x + 1.05, 1.9, name, ha="center", va="center", color=color)
    path(ax, (x + 2.1, 1.4), (x + 2.1, 0.05), color=color)
    ax.text(x + 0.15, 0.7, "read", va="center", color=color)
    ax.text(x + 2.25, 0.7, write, va="center", color=color)
ax.text(6.4, -0.35, "the stream: only additions", ha="center", va="top", color="C0")
ax.text(10.9, -0.35, "$f_1$ is gone", ha="center", va="top", color="C1")
plt.savefig("stream.svg")
