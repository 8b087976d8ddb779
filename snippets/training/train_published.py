# Train one cell: the network as published, several seeds at once, on 64 inputs and their counts
# limits: 180 s, 2 GB
import itertools
import json
import math
import statistics
import sys
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

cell: dict[str, Any] = {
    "norm": "layernorm",  # "none", "layernorm" or "rmsnorm"
    "placement": "pre",  # pre: x + f(norm(x)); post: norm(x + f(x)); sandwich: x + norm(f(norm(x)))
    "residual": True,
    "final_norm": True,  # a LayerNorm before the head, unless the placement is post: as published
    "depth": 12,
    "lr": 1e-3,
    "warmup": 0,  # steps of linear warm-up
    "steps": 200,
    "precision": "fp32",  # fp32, or autocast to bf16 or fp16
    "gain": 1.0,  # multiplies the initial weight matrices of the blocks
    "seed": 0,  # of the leading member: initialization and training data; the task stays
    "members": 8,  # seeds trained side by side
}
for argument in sys.argv[1:]:  # e.g. depth=12 lr=1e-3 members=4
    key, _, text = argument.partition("=")
    if key in cell:
        cell[key] = text if isinstance(cell[key], str) else json.loads(text.lower())
d_model, hidden, vocabulary, seq, batch = 64, 128, 64, 16, 32
members, steps, placement = cell["members"], cell["steps"], cell["placement"]
seeds = range(cell["seed"], cell["seed"] + members)
torch.set_num_threads(1)

# The task: a fixed Markov chain; each token has four successors, given by four permutations.
# No layer of this network looks at another position, so the loss of a batch depends on how often
# each token follows each, and on nothing else: 64 inputs and a 64 x 64 matrix of counts.
generator = torch.Generator().manual_seed(2026)
probability = torch.tensor([0.5, 0.25, 0.15, 0.1])
successor = torch.stack([torch.randperm(vocabulary, generator=generator) for _ in range(4)])
chain = torch.zeros(vocabulary, vocabulary)
for p, to in zip(probability, successor, strict=True):
    chain[range(vocabulary), to] += p
# the chain is doubly stochastic: all tokens are equally frequent
floor = -chain.xlogy(chain).sum().item() / vocabulary  # entropy of the next token
unigram_entropy = math.log(vocabulary)  # the same without the current token


def counts_of(steps: int, seed: int) -> Tensor:
    """Training data as the pairs (current, next) of each step, flattened: (steps, seq * batch)."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(vocabulary, (steps, batch), generator=generator)
    pairs = []
    for _ in range(seq):
        which = torch.searchsorted(probability.cumsum(0), torch.rand(x.shape, generator=generator))
        following = successor[which.clamp(max=3), x]
        pairs.append(x * vocabulary + following)
        x = following
    return torch.cat(pairs, 1)


member_offset = torch.arange(members)[:, None] * vocabulary**2
training = torch.stack([counts_of(steps, seed) for seed in seeds], 1) + member_offset
# validation against the chain itself: the loss expected over all data
exact = (chain / vocabulary).expand(members, -1, -1)


class Linear(nn.Module):
    """nn.Linear for a stack of networks; x: (members, tokens, fan_in)."""

    def __init__(self, fan_in: int, fan_out: int, gain: float = 1.0) -> None:
        super().__init__()
        bound = fan_in**-0.5  # as in nn.Linear
        self.weight = nn.Parameter(gain * torch.empty(1, fan_in, fan_out).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(1, 1, fan_out).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        return torch.baddbmm(self.bias, x, self.weight)


class Norm(nn.Module):
    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        if kind != "none":
            self.weight = nn.Parameter(torch.ones(1, 1, d_model))
        if kind == "layernorm":
            self.bias = nn.Parameter(torch.zeros(1, 1, d_model))

    def forward(self, x: Tensor) -> Tensor:
        if self.kind == "layernorm":
            return torch.addcmul(self.bias, F.layer_norm(x, (d_model,)), self.weight)
        return x if self.kind == "none" else F.rms_norm(x, (d_model,)) * self.weight


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        gain = cell["gain"]
        self.mix = Linear(d_model, d_model, gain)  # features of one token: nothing is mixed
        self.up, self.down = Linear(d_model, hidden, gain), Linear(hidden, d_model, gain)
        count = 4 if placement == "sandwich" else 2
        self.norms = nn.ModuleList(Norm(cell["norm"]) for _ in range(count))

    def branch(self, i: int, x: Tensor) -> Tensor:
        return self.mix(x) if i == 0 else self.down(F.gelu(self.up(x)))

    def forward(self, x: Tensor) -> Tensor:
        for i in range(2):
            skip = x if cell["residual"] else torch.zeros(())
            if placement == "post":
                x = self.norms[i](skip + self.branch(i, x))
            elif placement == "pre":
                x = skip + self.branch(i, self.norms[i](x))
            else:
                x = skip + self.norms[2 + i](self.branch(i, self.norms[i](x)))
        return x


class Network(nn.Module):
    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.embedding = nn.Parameter(torch.randn(1, vocabulary, d_model))
        self.blocks = nn.ModuleList(Block() for _ in range(cell["depth"]))
        self.final = Norm("layernorm" if cell["final_norm"] and placement != "post" else "none")
        self.head = nn.Parameter(Linear(d_model, vocabulary).weight.data)

    def forward(self, counts: Tensor, dropped: int = -1) -> tuple[Tensor, list[Tensor]]:
        # residual stream before and after each block; row a is input token a
        stream: list[Tensor] = [self.embedding]
        for i, block in enumerate(self.blocks):
            stream.append(stream[-1] if i == dropped else block(stream[-1]))
        log_p = F.log_softmax((self.final(stream[-1]) @ self.head).float(), -1)
        return -(counts * log_p).sum((1, 2)), stream  # one loss for each member


net = Network(seeds[0])  # then stacked: each parameter gets one row for each member
singles = [Network(seed) for seed in seeds]
for p, *rows in zip(net.parameters(), *(s.parameters() for s in singles), strict=True):
    p.data = torch.cat([row.data for row in rows])
low = {"fp32": None, "bf16": torch.bfloat16, "fp16": torch.float16}[cell["precision"]]
optimizer = torch.optim.Adam(net.parameters(), lr=cell["lr"], fused=True)


def run(counts: Tensor, dropped: int = -1) -> tuple[Tensor, list[Tensor]]:
    with torch.autocast("cpu", low or torch.bfloat16, enabled=low is not None):
        return net(counts, dropped)


def short(value: Any, digits: int = 5) -> float | None:
    return float(f"{float(value):.{digits}g}") if math.isfinite(value) else None


def rms(x: Tensor) -> Tensor:  # of each member
    return x.detach().float().square().mean((1, 2)).sqrt()


def by_layer() -> dict[str, list[float | None]]:
    """Median over members: RMS of the stream, each block's write relative to it, its gradient."""
    loss, stream = run(exact)
    optimizer.zero_grad()
    loss.sum().backward()
    squares = [
        sum(p.grad.square().sum((1, 2)) for p in block.parameters() if p.grad is not None)
        for block in net.blocks
    ]
    optimizer.zero_grad()
    writes = [rms(b - a) / rms(a) for a, b in itertools.pairwise(stream)]
    return {
        "stream": [short(rms(x).nanmedian(), 3) for x in stream],
        "write": [short(write.nanmedian(), 3) for write in writes],
        "gradient": [short(torch.as_tensor(s).sqrt().nanmedian(), 3) for s in squares],
    }


window = max(1, steps // 40)
looks = sorted({s for s in (0, 10, 100, 300, 1000) if s < steps} | {steps})
layers: dict[str, Any] = {}
curves: list[list[float]] = [[] for _ in seeds]  # training loss, mean over each window
top: list[float | None] = []  # largest RMS of the last block's output in each window, any member
total, peak = torch.zeros(members), torch.zeros(members)
first_non_finite: list[int | None] = [None] * members
for step in range(steps):
    if step in looks:
        layers[str(step)] = by_layer()
    optimizer.param_groups[0]["lr"] = cell["lr"] * min(1, (step + 1) / max(1, cell["warmup"]))
    counts = torch.bincount(training[step].flatten(), minlength=members * vocabulary**2)
    loss, stream = run(counts.view(members, vocabulary, vocabulary) / (seq * batch))
    total += loss.detach()
    peak = torch.fmax(peak, rms(stream[-1]))
    if not total.isfinite().all():
        for m in (~total.isfinite()).nonzero()[:, 0].tolist():
            first_non_finite[m] = step if first_non_finite[m] is None else first_non_finite[m]
        if None not in first_non_finite:
            break
    optimizer.zero_grad()
    loss.sum().backward()
    optimizer.step()
    if (step + 1) % window == 0:
        for points, value in zip(curves, (total / window).tolist(), strict=True):
            points.append(value)
        top.append(short(peak.max(), 3))
        total, peak = torch.zeros(members), torch.zeros(members)
with torch.no_grad():
    losses = [short(loss) for loss in run(exact)[0]]
finite = [loss for loss in losses if loss is not None]
failures = [s for s in first_non_finite if s is not None]
limit = unigram_entropy - 0.05
dropped_loss: list[float | None] = []
if finite and min(finite) <= limit:
    layers[str(steps)] = by_layer()
    for i in range(cell["depth"] if cell["residual"] else 0):  # without block 0, 1, ...
        with torch.no_grad():
            dropped_loss.append(short(run(exact, i)[0].nanmedian(), 4))
result = {
    "final_loss": short(statistics.median(finite)) if finite else None,
    "first_non_finite": min(failures) if failures else None,
    "stalled": bool(finite) and statistics.median(finite) > limit,
    "best_loss": min(finite, default=None),
    "worst_loss": max(finite, default=None),
    "members_non_finite": len(failures),
    "members_stalled": sum(loss > limit for loss in finite),
    "final_losses": losses,  # of each member
    "non_finite_steps": first_non_finite,
    "floor": short(floor),
    "unigram_entropy": short(unigram_entropy),
    "window": window,
    "curve": [short(torch.tensor(losses).nanmedian()) for losses in zip(*curves, strict=True)],
    "curves": [[short(value) for value in points] for points in curves],
    "top": top,
    "layers": layers,
    "dropped_loss": dropped_loss,
}
with open("cell.json", "w") as file:
    json.dump({"cell": cell, "result": result}, file, separators=(",", ":"))
print(f"validation loss of each member {losses}")
print(f"floor {floor:.3f}, unigram entropy {unigram_entropy:.3f}")
