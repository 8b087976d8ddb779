"""Measures the trainers: bench_training.py [described] [published] [--depths 12,20] [--repeat 3]

Member-steps per second (one step of one network of one seed) of the trainers, one process of one thread a core, against
the loop that one would write first: the same network of plain modules, with torch's default Adam, one seed after the
other, with torch's default number of threads and with the number that suits it best. All in one run, in turns; medians.

described   goal: at least 2 times the plain loop at its best, with 12 and 20 layers
published   goal: at least 10 times

Also the share of the core's own rate of matrix multiplication, measured at the shapes of the network, that the
arithmetic of a trainer's steps reaches; the rest of a step is element-wise work and overhead.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TRAINERS = Path(__file__).resolve().parent.parent / "snippets" / "training"
FEW, MANY = 20, 120  # steps of a short and a long run: the difference is steps, without what comes before and after
MEMBERS = 8  # of a stack of the published network
PLAIN = """
import sys, time, torch
from torch import nn
import torch.nn.functional as F
kind, depth, threads, steps = sys.argv[1], *map(int, sys.argv[2:])
if threads:
    torch.set_num_threads(threads)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(64), nn.LayerNorm(64)
        self.mix, self.ffn = nn.Linear(64, 64), nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64))
    def forward(self, x):  # (batch, seq, d_model)
        y = self.norm1(x)
        if kind == "described":
            y = y.cumsum(1) / torch.arange(1, y.shape[1] + 1)[:, None]
        x = x + self.mix(y)
        return x + self.ffn(self.norm2(x))
blocks = [Block() for _ in range(depth)]
net = nn.Sequential(nn.Embedding(64, 64), *blocks, nn.LayerNorm(64), nn.Linear(64, 64, bias=False))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
data = torch.randint(64, (steps + 10, 32, 17))
for i, tokens in enumerate(data):
    if i == 10:
        start = time.perf_counter()
    loss = F.cross_entropy(net(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(steps / (time.perf_counter() - start))
"""
MATMUL = """
import time, torch
torch.set_num_threads(1)
x, w = torch.randn(512, 64), torch.randn(64, 128)
for i in range(6000):
    if i == 1000:
        start = time.perf_counter()
    x @ w
print(5000 * 2 * x.numel() * w.shape[1] / (time.perf_counter() - start))
"""


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def printed(script: str, *arguments: object) -> float:
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def seconds(kind: str, *arguments: str) -> float:
    """What one process a core takes to train a cell each, all at once."""
    script = str(TRAINERS / f"train_{kind}.py")
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        running = []
        for core in range(cores()):
            place = Path(folder, str(core))
            place.mkdir()
            command = [sys.executable, script, *arguments, f"seed={core * MEMBERS}"]
            running.append(subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL))
        if any(process.wait() for process in running):
            raise SystemExit(f"{script} failed")
        return time.perf_counter() - start


def measure(kind: str, depth: int, repeat: int) -> bool:
    members = MEMBERS if kind == "published" else 1
    trainer: list[float] = []
    rate: list[float] = []
    counts = sorted({0, *range(1, cores())})  # threads; 0: as many as torch takes, one a core
    plain: dict[int, list[float]] = {threads: [] for threads in counts}
    for _ in range(repeat):
        for threads, found in plain.items():
            found.append(printed(PLAIN, kind, depth, threads, MANY))
        took = [seconds(kind, f"depth={depth}", f"steps={steps}") for steps in (FEW, MANY)]
        trainer.append(cores() * members * (MANY - FEW) / (took[1] - took[0]))
        rate.append(printed(MATMUL))
    default, best = (statistics.median(plain[0]), max(statistics.median(found) for found in plain.values()))
    ours = statistics.median(trainer)
    rows = 64 if kind == "published" else 512  # of one member; the published network sees 64 different tokens
    mixing = 16 * 64 if kind == "described" else 0  # averages over 16 positions
    work = 6 * rows * (depth * (64 * 64 + 2 * 64 * 128 + mixing) + 64 * 64)  # forward and, twice that, backward
    share = ours * work / cores() / statistics.median(rate)
    goal = 10 if kind == "published" else 2
    print(
        f"{kind}, {depth} layers: {ours:.0f} member-steps/s on {cores()} cores; plain loop {default:.0f} by default, "
        f"{best:.0f} at best: {ours / default:.1f} and {ours / best:.1f} times (goal {goal}); "
        f"{share:.0%} of the rate of {statistics.median(rate) / 1e9:.0f} GFLOP/s a core",
        flush=True,
    )
    return ours / best >= goal


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", default=["described", "published"])
    parser.add_argument("--depths", default="12,20")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    depths = [int(text) for text in options.depths.split(",")]
    met = [measure(kind, depth, options.repeat) for kind in options.kinds for depth in depths]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
