# Train one cell: the network as described, causal mean pooling in the place of attention
# limits: 180 s, 2 GB
import itertools
import json
import math
import sys
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

cell: dict[str, Any] = {
    "norm": "layernorm",  # "none", "layernorm" or "rmsnorm"
    "placement": "pre",  # pre: x + f(norm(x)); post: norm(x + f(x)); sandwich: x + norm(f(norm(x)))
    "residual": True,
    "final_norm": True,  # before the head, but for post; a LayerNorm where norm is "none"
    "depth": 12,
    "lr": 1e-3,
    "warmup": 0,  # steps of linear warm-up
    "steps": 200,
    "precision": "fp32",  # fp32, or autocast to bf16 or fp16
    "gain": 1.0,  # multiplies the initial weight matrices of the blocks
    "seed": 0,  # initialization and training data; the task and the validation set stay
}
for argument in sys.argv[1:]:  # e.g. depth=12 lr=1e-3 seed=0
    key, _, text = argument.partition("=")
    if key in cell:
        cell[key] = text if isinstance(cell[key], str) else json.loads(text.lower())
d_model, hidden, vocabulary, seq, batch, rules, noise = 64, 128, 64, 16, 32, 4, 0.1
torch.set_num_threads(1)

# The task: the next token is a token drawn at random from those seen so far, recoded by one of four
# fixed permutations; the current token chooses which. One time in ten it is uniform instead.
generator = torch.Generator().manual_seed(2026)
recode = torch.stack([torch.randperm(vocabulary, generator=generator) for _ in range(rules)])


def draw(count: int, generator: torch.Generator) -> Tensor:
    x = torch.randint(vocabulary, (seq + 1, count), generator=generator)  # (seq + 1, count)
    where, uniform = torch.rand(2, seq, count, generator=generator)
    for t in range(seq):
        source = x.gather(0, (where[t] * (t + 1)).long()[None])[0]
        x[t + 1] = torch.where(uniform[t] < noise, x[t + 1], recode[x[t] % rules, source])
    return x


validation = draw(1024, generator)
training = draw(cell["steps"] * batch, torch.Generator().manual_seed(cell["seed"]))
seen = torch.bincount(training[1:].flatten(), minlength=vocabulary) / training[1:].numel()
unigram_entropy = -(seen * seen.log()).sum().item()  # of the targets; at most log 64
floor = 0.0  # loss of the true conditional distribution on the validation set
for t in range(seq):
    match = recode[validation[t] % rules, validation[: t + 1]] == validation[t + 1]
    floor -= ((1 - noise) * match.float().mean(0) + noise / vocabulary).log().mean().item() / seq


def make_norm(kind: str) -> nn.Module:
    kinds = {"none": nn.Identity, "layernorm": nn.LayerNorm, "rmsnorm": nn.RMSNorm}
    return kinds[kind](d_model)


pool = torch.ones(seq, seq).tril()  # row t averages the positions up to t
pool /= pool.sum(1, keepdim=True)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(d_model, d_model)
        self.up, self.down = nn.Linear(d_model, hidden), nn.Linear(hidden, d_model)
        sandwich = cell["placement"] == "sandwich"
        self.norms = nn.ModuleList(make_norm(cell["norm"]) for _ in range(4 if sandwich else 2))
        for linear in (self.mix, self.up, self.down):
            linear.weight.data *= cell["gain"]

    def branch(self, i: int, x: Tensor) -> Tensor:
        if i == 0:  # position mixing, x: (seq, batch, d_model)
            return self.mix((pool @ x.flatten(1)).view_as(x))
        return self.down(F.gelu(self.up(x)))

    def forward(self, x: Tensor) -> Tensor:
        for i in range(2):
            skip = x if cell["residual"] else 0
            if cell["placement"] == "post":
                x = self.norms[i](skip + self.branch(i, x))
            elif cell["placement"] == "pre":
                x = skip + self.branch(i, self.norms[i](x))
            else:
                x = skip + self.norms[2 + i](self.branch(i, self.norms[i](x)))
        return x


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.blocks = nn.ModuleList(Block() for _ in range(cell["depth"]))
        final = "layernorm" if cell["norm"] == "none" else cell["norm"]
        has_final = cell["final_norm"] and cell["placement"] != "post"
        self.final = make_norm(final if has_final else "none")
        self.head = nn.Linear(d_model, vocabulary, bias=False)

    def forward(self, tokens: Tensor, dropped: int = -1) -> tuple[Tensor, list[Tensor]]:
        stream = [self.embedding(tokens[:-1])]  # residual stream before and after each block
        for i, block in enumerate(self.blocks):
            stream.append(stream[-1] if i == dropped else block(stream[-1]))
        logits = self.head(self.final(stream[-1]))
        return F.cross_entropy(logits.flatten(0, 1).float(), tokens[1:].flatten()), stream


torch.manual_seed(cell["seed"])
net = Network()
low = {"fp32": None, "bf16": torch.bfloat16, "fp16": torch.float16}[cell["precision"]]
optimizer = torch.optim.Adam(net.parameters(), lr=cell["lr"], fused=True)


def run(tokens: Tensor, dropped: int = -1) -> tuple[Tensor, list[Tensor]]:
    with torch.autocast("cpu", low or torch.bfloat16, enabled=low is not None):
        return net(tokens, dropped)


def short(value: Any, digits: int = 5) -> float | None:
    return float(f"{float(value):.{digits}g}") if math.isfinite(value) else None


def rms(x: Tensor) -> Tensor:
    return x.detach().float().square().mean().sqrt()


def by_layer() -> dict[str, list[float | None]]:
    """RMS of the stream, of what each block writes relative to it, gradient norm of each block."""
    loss, stream = run(validation[:, :64])
    optimizer.zero_grad()
    loss.backward()
    gradients = [[p.grad.norm() for p in b.parameters() if p.grad is not None] for b in net.blocks]
    optimizer.zero_grad()
    pairs = itertools.pairwise(stream)
    return {
        "stream": [short(rms(x), 3) for x in stream],
        "write": [short(rms(after - before) / rms(before), 3) for before, after in pairs],
        "gradient": [short(torch.stack(g).norm(), 3) for g in gradients],
    }


def validate(dropped: int = -1) -> float | None:
    with torch.no_grad():
        return short(run(validation, dropped)[0])


steps, window = cell["steps"], max(1, cell["steps"] // 60)
looks = sorted({s for s in (0, 10, 100, 300, 1000) if s < steps} | {steps})
layers: dict[str, Any] = {}
curve: list[float | None] = []  # training loss, mean over each window of steps
top: list[float | None] = []  # largest RMS of the last block's output in each window
recent: list[tuple[float, float]] = []
first_non_finite = None
for step in range(steps):
    if step in looks:
        layers[str(step)] = by_layer()
    optimizer.param_groups[0]["lr"] = cell["lr"] * min(1, (step + 1) / max(1, cell["warmup"]))
    loss, stream = run(training[:, step * batch : (step + 1) * batch])
    recent.append((loss.item(), rms(stream[-1]).item()))
    if not math.isfinite(recent[-1][0]):
        first_non_finite = step
        break
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if len(recent) == window:
        curve.append(short(sum(r[0] for r in recent) / window))
        top.append(short(max(r[1] for r in recent), 3))
        recent.clear()
final_loss = validate() if first_non_finite is None else None
failed = final_loss is None
stalled = final_loss is not None and final_loss > unigram_entropy - 0.05
dropped_loss: list[float | None] = []
if not failed:
    layers[str(steps)] = by_layer()
    if cell["residual"] and not stalled:  # the loss without block 0, 1, ...
        dropped_loss = [validate(i) for i in range(cell["depth"])]
result = {
    "final_loss": final_loss,
    "first_non_finite": first_non_finite,
    "stalled": stalled,
    "floor": short(floor),
    "unigram_entropy": short(unigram_entropy),
    "window": window,
    "curve": curve,
    "top": top,
    "last_steps": [[short(a), short(b, 3)] for a, b in recent[-8:]] if failed else [],
    "layers": layers,
    "dropped_loss": dropped_loss,
}
with open("cell.json", "w") as file:
    json.dump({"cell": cell, "result": result}, file, separators=(",", ":"))
print(f"validation loss {final_loss}, floor {floor:.3f}, unigram entropy {unigram_entropy:.3f}")
