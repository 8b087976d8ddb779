# Draws a Post-LN block and a Pre-LN block: where the norm stands on the way from x to y
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

fig, axes = plt.subplots(1, 2, figsize=(5.6, 2.7))


def path(ax: Axes, *points: tuple[float, float], color: str = "C5") -> None:
    """A line through the points, with an arrow head at the last."""
    *_, start, end = points
    ax.plot(*zip(*points[:-1], strict=True), color=color)
    style = {"arrowstyle": "-|>", "color": color, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=end, xytext=start, arrowprops=style)


def box(ax: Axes, x: float, y: float, text: str, color: str = "C5") -> None:
    frame = Rectangle((x - 0.6, y - 0.45), 1.2, 0.9, fill=False, edgecolor=color, linewidth=1.8)
    ax.add_patch(frame)
    ax.text(x, y, text, ha="center", va="center", color=color)


for ax, title in zip(axes, ("Post-LN", "Pre-LN"), strict=True):
    ax.set(xlim=(-0.4, 7.4), ylim=(-1, 2.6), title=title)
    ax.axis("off")
    ax.text(0, 0, "$x$", ha="center", va="center", size="large")
    ax.text(7, 0, "$y$", ha="center", va="center", size="large")

post, pre = axes
# Post-LN: the branch reads x, the norm stands on the stream
path(post, (0.3, 0), (3.7, 0))
path(post, (0.9, 0), (0.9, 1.6), (1.8, 1.6))
box(post, 2.4, 1.6, "$F$")
path(post, (3, 1.6), (4, 1.6), (4, 0.2))
path(post, (4.3, 0), (4.8, 0))
box(post, 5.4, 0, "LN", "C1")
path(post, (6, 0), (6.7, 0))
# Pre-LN: the norm stands in the branch, the stream is only added to
path(pre, (0.3, 0), (5.2, 0), color="C0")
path(pre, (0.9, 0), (0.9, 1.6), (1.2, 1.6))
box(pre, 1.8, 1.6, "LN", "C1")
path(pre, (2.4, 1.6), (3, 1.6))
box(pre, 3.6, 1.6, "$F$")
path(pre, (4.2, 1.6), (5.5, 1.6), (5.5, 0.2))
path(pre, (5.8, 0), (6.7, 0), color="C0")
for ax, x in ((post, 4), (pre, 5.5)):
    ax.plot(x, 0, marker="o", markersize=15, markerfacecolor="none", markeredgecolor="C5")
    ax.text(x, 0, "+", ha="center", va="center")
pre.text(3, -0.25, "no norm on the stream", ha="center", va="top", color="C0")
post.text(5.4, -0.6, "on the stream", ha="center", va="top", color="C1")
plt.savefig("blocks.svg")
