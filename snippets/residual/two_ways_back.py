# Draws a residual block and the two ways its gradient takes back
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(5.6, 2.5))
ax.set(xlim=(0, 10), ylim=(-2.1, 2.6))
ax.axis("off")


def arrow(start, end, color="C5", **more):
    style = dict(arrowstyle="-|>", color=color, lw=1.6, shrinkA=0, shrinkB=0, **more)
    ax.annotate("", xy=end, xytext=start, arrowprops=style)


def node(x, y, text, width=1.1):
    box = dict(boxstyle=f"round,pad=0.45", facecolor="none", edgecolor="C5")
    ax.text(x, y, text, ha="center", va="center", bbox=box)


# forward: the stream runs straight through, the branch reads it and writes back
arrow((0.6, 0), (7.55, 0))
ax.plot([2.2, 2.2], [0, 1.5], color="C5", lw=1.6)
arrow((2.2, 1.5), (4.25, 1.5))
node(4.9, 1.5, "F")
ax.plot([5.55, 7.9], [1.5, 1.5], color="C5", lw=1.6)
arrow((7.9, 1.5), (7.9, 0.33))
ax.text(7.9, 0, "+", ha="center", va="center", fontsize=14)
ax.add_patch(plt.Circle((7.9, 0), 0.3, fill=False, edgecolor="C5", lw=1.6))
arrow((8.2, 0), (9.4, 0))
ax.text(0.35, 0, "x", ha="center", va="center", style="italic")
ax.text(9.65, 0, "y", ha="center", va="center", style="italic")

# backward: the same gradient enters both ways, and what comes out is added
arrow((7.6, -0.75), (0.6, -0.75), color="C0")
ax.text(4.9, -1.05, "g   (the identity term)", ha="center", va="top", color="C0")
ax.plot([7.6, 7.6], [0.55, 1.05], color="C1", lw=0)
arrow((7.6, 2.2), (2.2, 2.2), color="C1")
ax.text(4.9, 2.35, "Jᵀ g   (the term through F)", ha="center", va="bottom", color="C1")
plt.savefig("block.svg")
