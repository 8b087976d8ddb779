# limits: 600 s
# timed: ratios of one run
# The article's benchmark at its shape, held against copies of the same tensor on the same machine.
import csv
import statistics
import sys
import time
from collections.abc import Callable

import matplotlib.pyplot as plt
import torch
from torch import nn

d_model, rounds = 1024, 25
x = torch.randn(64, 128, d_model)
shape = list(x.shape)  # (batch, seq, d_model)
y = torch.empty_like(x)
weight, bias = torch.ones(d_model), torch.zeros(d_model)


def rms_norm_by_hand(x: torch.Tensor) -> torch.Tensor:
    mean_square = x.pow(2).mean(dim=-1, keepdim=True)
    return x * torch.rsqrt(mean_square + 1e-6) * weight


def layer_norm_by_hand(x: torch.Tensor) -> torch.Tensor:
    centered = x - x.mean(-1, keepdim=True)
    variance = centered.square().mean(-1, keepdim=True)
    return centered * torch.rsqrt(variance + 1e-5) * weight + bias


calls: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "copy over a tensor": y.copy_,
    "copy to a new tensor": torch.clone,
    "nn.LayerNorm": nn.LayerNorm(d_model),
    "nn.RMSNorm": nn.RMSNorm(d_model),
    "RMSNorm by hand": rms_norm_by_hand,
    "LayerNorm by hand": layer_norm_by_hand,
}


def measure(threads: int) -> dict[str, list[float]]:
    """Seconds of each call, in turns (A, B, C, A, B, C, ...), so that noise meets all of them."""
    torch.set_num_threads(threads)
    # of this thread alone: other programs run too; on Windows that clock ticks too rarely
    one = threads == 1 and sys.platform != "win32"
    clock = time.thread_time if one else time.perf_counter
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(2 + rounds):  # two to warm up
        for name, call in calls.items():
            start = clock()
            call(x)
            seconds[name].append(clock() - start)
    return {name: each[2:] for name, each in seconds.items()}


with torch.no_grad():
    runs = {threads: measure(threads) for threads in (1, 2)}


def ratio(name: str, to: str, threads: int = 1) -> float:
    """Median over rounds: what slows one call of a round slows the next one too."""
    pairs = zip(runs[threads][name], runs[threads][to], strict=True)
    return statistics.median(a / b for a, b in pairs)


rms_to_layer = {n: ratio("RMSNorm by hand", "nn.LayerNorm", n) for n in runs}
by_hand = {n: ratio("RMSNorm by hand", "LayerNorm by hand", n) for n in runs}
rms_slower_than_layer = min(rms_to_layer.values()) > 1.2

article_layer_us, article_rms_us = 96, 78  # microseconds
gigabytes = x.numel() * x.element_size() / 1e9  # of the tensor
megabytes = 2e3 * gigabytes  # read and written
needed = 2 * gigabytes / (article_layer_us * 1e-6)  # GB/s
needed_by_hand = 7 * gigabytes / (article_rms_us * 1e-6)  # seven passes
fastest_copy = megabytes / 1e3 / min(min(runs[n]["copy over a tensor"]) for n in runs)
times_the_machine = needed / fastest_copy
out_of_reach = times_the_machine > 10
print(f"{megabytes:.1f} MB in {article_layer_us} us is {needed:.0f} GB/s")
print(f"fastest copy here: {fastest_copy:.0f} GB/s")
for n in runs:
    for name in calls:
        middle, low = statistics.median(runs[n][name]), min(runs[n][name])
        print(f"{n} threads: {name:20} {1e3 * middle:6.1f} ms, at best {1e3 * low:.1f} ms")
    print(
        f"  RMSNorm by hand: {rms_to_layer[n]:.2f} of nn.LayerNorm, {by_hand[n]:.2f} of it by hand"
    )

written = {"copy to a new tensor": 1, "nn.LayerNorm": 1, "nn.RMSNorm": 3}
written |= {"RMSNorm by hand": 3, "LayerNorm by hand": 5}  # tensors of full size
in_copies = {name: ratio(name, "copy to a new tensor") for name in written}
fig, ax = plt.subplots()
ax.axline((0, 0), slope=1, color="C7", ls="--")
for name, count in written.items():
    under = name in ("copy to a new tensor", "nn.RMSNorm")
    ax.plot(count, in_copies[name], "o", color="C0")
    ax.text(count + 0.1, in_copies[name] - 0.35 * under, name, va="center")
ax.set(xlabel="tensors written", ylabel="time (copies to a new tensor)", xlim=(0, 7), ylim=(0, 8))
plt.savefig("speed_article.svg")
with open("speed_article.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["call", "tensors written", "time (copies to a new tensor)"])
    table.writerows([name, count, f"{in_copies[name]:.2f}"] for name, count in written.items())
