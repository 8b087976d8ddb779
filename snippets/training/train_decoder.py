# Train one cell: a small Transformer decoder, causal attention, on the characters of a real text
# limits: 180 s, 2 GB
# reads: snippets/training/shakespeare.txt
import hashlib
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
    "qk_norm": False,  # RMSNorm of queries and keys, over the features of each head
    "depth": 12,
    "lr": 1e-3,
    "warmup": 0,  # steps of linear warm-up
    "steps": 100,
    "precision": "fp32",  # fp32, or autocast to bf16 or fp16
    "gain": 1.0,  # multiplies the initial weight matrices of the blocks
    "seed": 0,  # initialization and order of the training data; the validation set stays
}
for argument in sys.argv[1:]:  # e.g. depth=12 lr=1e-3 seed=0
    key, _, text = argument.partition("=")
    if key in cell:
        cell[key] = text if isinstance(cell[key], str) else json.loads(text.lower())
d_model, heads, hidden, seq, batch = 64, 4, 256, 64, 8
torch.set_num_threads(1)

# The beginning of "tiny Shakespeare", as in the repository karpathy/char-rnn; the plays are in the
# public domain. The last tenth is kept for validation.
with open("shakespeare.txt", "rb") as source:
    content = source.read()
expected = "7bce277f2f9d6c2c5ebb6307101f7b5a6fe4ada24dd87971bd874d4bed8d503b"
if hashlib.sha256(content).hexdigest() != expected:
    raise ValueError("shakespeare.txt is not the text that the results were made with")
characters = sorted(set(content))
vocabulary = len(characters)
data = torch.tensor([characters.index(c) for c in content])
train_data, held_out = data.split([len(data) * 9 // 10, len(data) - len(data) * 9 // 10])


def cut(data: Tensor, starts: Tensor) -> Tensor:
    return data[starts[:, None] + torch.arange(seq + 1)]  # (sequences, seq + 1)


validation = cut(held_out, torch.linspace(0, len(held_out) - seq - 1, 128).long())
order = torch.Generator().manual_seed(cell["seed"])
starts = torch.randint(len(train_data) - seq, (cell["steps"], batch), generator=order)
# for comparison, the loss of counting characters and pairs of characters in the training data
pairs = torch.ones(vocabulary, vocabulary)  # add-one smoothing
pairs.index_put_((train_data[:-1], train_data[1:]), torch.ones(len(train_data) - 1), True)
follows = pairs / pairs.sum(1, keepdim=True)
bigram_entropy = -follows[validation[:, :-1], validation[:, 1:]].log().mean().item()
unigram_entropy = -(pairs.sum(0) / pairs.sum())[validation[:, 1:]].log().mean().item()


def make_norm(kind: str, width: int = d_model) -> nn.Module:
    kinds = {"none": nn.Identity, "layernorm": nn.LayerNorm, "rmsnorm": nn.RMSNorm}
    return kinds[kind](width)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.up, self.down = nn.Linear(d_model, hidden), nn.Linear(hidden, d_model)
        count = 4 if cell["placement"] == "sandwich" else 2
        self.norms = nn.ModuleList(make_norm(cell["norm"]) for _ in range(count))
        kind = "rmsnorm" if cell["qk_norm"] else "none"
        self.q_norm, self.k_norm = (
            make_norm(kind, d_model // heads),
            make_norm(kind, d_model // heads),
        )
        for linear in (self.qkv, self.out, self.up, self.down):
            linear.weight.data *= cell["gain"]

    def branch(self, i: int, x: Tensor) -> Tensor:
        if i == 0:  # attention, x: (batch, seq, d_model)
            q, k, v = self.qkv(x).unflatten(2, (3, heads, -1)).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(self.q_norm(q), self.k_norm(k), v, is_causal=True)
            return self.out(y.transpose(1, 2).flatten(2))
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
        self.position = nn.Embedding(seq, d_model)
        self.blocks = nn.ModuleList(Block() for _ in range(cell["depth"]))
        final = "layernorm" if cell["norm"] == "none" else cell["norm"]
        has_final = cell["final_norm"] and cell["placement"] != "post"
        self.final = make_norm(final if has_final else "none")
        self.head = nn.Linear(d_model, vocabulary, bias=False)

    def forward(self, tokens: Tensor, dropped: int = -1) -> tuple[Tensor, list[Tensor]]:
        # residual stream before and after each block
        stream = [self.embedding(tokens[:, :-1]) + self.position.weight]
        for i, block in enumerate(self.blocks):
            stream.append(stream[-1] if i == dropped else block(stream[-1]))
        logits = self.head(self.final(stream[-1]))
        return F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten()), stream


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
    loss, stream = run(validation[:32])
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
    loss, stream = run(cut(train_data, starts[step]))
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
    "bigram_entropy": short(bigram_entropy),
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
print(f"validation loss {final_loss}")
print(f"counting: characters {unigram_entropy:.3f}, pairs {bigram_entropy:.3f}")
