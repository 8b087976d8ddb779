# limits: 600 s
# timed: ratios of one run
# RMSNorm against LayerNorm over shapes, on one thread, forward and with backward.
import csv
import statistics
import sys
import time

import matplotlib.pyplot as plt
import torch
from torch import nn

torch.set_num_threads(1)
# of this thread alone: other programs run too; on Windows that clock ticks too rarely
clock = time.perf_counter if sys.platform == "win32" else time.thread_time
shapes = [(1, 4096), (128, 256), (128, 1024), (512, 1024), (2048, 1024), (512, 4096), (8192, 1024)]


class RMSNorm(nn.RMSNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


class LayerNorm(nn.LayerNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        centered = x - x.mean(-1, keepdim=True)
        variance = centered.square().mean(-1, keepdim=True)
        return centered * torch.rsqrt(variance + 1e-5) * self.weight + self.bias


def seconds(norm: nn.Module, x: torch.Tensor, backward: bool) -> float:
    calls = max(1, 100_000 // x.numel())
    start = clock()
    for _ in range(calls):
        y = norm(x)
        if backward:
            y.backward(x.detach())
    return (clock() - start) / calls


def measure(tokens: int, d_model: int, backward: bool) -> dict[str, float]:
    """Medians of the ratios within a round: what slows one norm slows the next one too."""
    x = torch.randn(tokens, d_model, requires_grad=backward)
    norms = [RMSNorm(d_model), nn.RMSNorm(d_model), LayerNorm(d_model), nn.LayerNorm(d_model)]
    with torch.set_grad_enabled(backward):
        rounds = min(30, max(11, 8_000_000 // x.numel()))
        table = [[seconds(norm, x, backward) for norm in norms] for _ in range(rounds)]
    return {
        "RMSNorm / LayerNorm, both by hand": statistics.median(row[0] / row[2] for row in table),
        "RMSNorm by hand / nn.LayerNorm": statistics.median(row[0] / row[3] for row in table),
        "nn.RMSNorm / nn.LayerNorm": statistics.median(row[1] / row[3] for row in table),
    }


forward = {f"{n} x {d}": measure(n, d, backward=False) for n, d in shapes}
training = {f"{n} x {d}": measure(n, d, backward=True) for n, d in shapes}
article_saves = [0.14, 0.15]  # of the time, whatever the shape
article = (1 - max(article_saves), 1 - min(article_saves))
fits_article = []
for label, run in (("forward", forward), ("forward + backward", training)):
    print(label)
    for pair in next(iter(run.values())):
        ratios = [run[shape][pair] for shape in run]
        fits_article.append(all(article[0] - 0.02 < r < article[1] + 0.02 for r in ratios))
        print(f"  {pair:34} {min(ratios):.2f} to {max(ratios):.2f}")
no_pair_fits = not any(fits_article)
hand, mixed, torchs = next(iter(forward.values()))
by_hand = statistics.median(row[hand] for run in (forward, training) for row in run.values())

fig, ax = plt.subplots()
ax.axhspan(*article, color="C3", alpha=0.5)
for k, pair in enumerate((hand, mixed, torchs)):
    ax.plot([forward[s][pair] for s in forward], "os^"[k], color=f"C{k}", label=pair)
    ax.plot([training[s][pair] for s in forward], "os^"[k], color=f"C{k}", fillstyle="none")
ax.axhline(1, color="C4", ls="--")
ax.set_xticks(range(len(shapes)), [s.replace(" x ", "\n× ") for s in forward])
ax.set(xlabel="tokens × width", ylabel="time of RMSNorm / time of LayerNorm", yscale="log")
ax.set_yticks([0.25, 0.5, 1, 2, 4, 8], ["0.25", "0.5", "1", "2", "4", "8"])
ax.minorticks_off()
ax.set_ylim(0.25, 32)  # with room for the legend
ax.legend(loc="upper left")
plt.savefig("speed_by_shape.svg")
with open("speed_by_shape.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(
        ["shape", *(f"{pair}, {way}" for way in ("fwd", "fwd+bwd") for pair in forward["1 x 4096"])]
    )
    for shape in forward:
        values = [*forward[shape].values(), *training[shape].values()]
        table.writerow([shape, *(f"{value:.2f}" for value in values)])
