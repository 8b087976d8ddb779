# What each shortcut of the conversion costs, and how the cost depends on the mean of the stream
import csv
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(20)
d_model, hidden, depth, vocabulary, tokens = 64, 128, 6, 200, 32
spread = 0.3  # of gamma around one and of beta around zero
means = [0.0, 0.5, 1.0, 2.0]  # of the embeddings, in their standard deviations
ways = {  # center what is written; keep beta by folding it
    "gamma": (False, False),
    "gamma_beta": (False, True),
    "centered": (True, False),
    "exact": (True, True),
}


def run(seed: int, mean: float, way: str) -> torch.Tensor:
    """Log-probabilities of a pre-norm stack, with LayerNorm or converted; (tokens, vocabulary)."""
    draw = torch.Generator().manual_seed(seed)

    def randn(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=draw, dtype=torch.float64)

    center, keep_beta = ways.get(way, (False, True))
    x = randn(tokens, d_model) + mean
    if center:
        x = x - x.mean(-1, keepdim=True)

    def read(x: torch.Tensor, outputs: int) -> torch.Tensor:
        """A norm and the linear layer that reads it."""
        gamma, beta = 1 + spread * randn(d_model), spread * randn(d_model)
        weight, bias = randn(d_model, outputs) / math.sqrt(d_model), 0.1 * randn(outputs)
        if way == "LayerNorm":
            return F.layer_norm(x, (d_model,), gamma, beta) @ weight + bias
        folded = bias + beta @ weight if keep_beta else bias
        return F.rms_norm(x, (d_model,), eps=1e-5) @ (gamma[:, None] * weight) + folded

    for _ in range(depth):
        h = F.gelu(read(x, hidden))
        write, shift = randn(hidden, d_model) / math.sqrt(hidden), 0.1 * randn(d_model)
        if center:  # each column of outputs loses its mean
            write, shift = write - write.mean(1, keepdim=True), shift - shift.mean()
        x = x + h @ write + shift
    return (2 * read(x, vocabulary)).log_softmax(-1)


kls: dict[str, dict[float, list[float]]] = {way: {m: [] for m in means} for way in ways}
others: dict[str, dict[float, list[float]]] = {way: {m: [] for m in means} for way in ways}
for seed in seeds:
    for mean in means:
        p = run(seed, mean, "LayerNorm")
        for way in ways:
            q = run(seed, mean, way)
            kls[way][mean].append((p.exp() * (p - q)).sum(-1).mean().item())
            others[way][mean].append((p.argmax(-1) != q.argmax(-1)).double().mean().item())
kl = {way: {str(m): float(np.median(v)) for m, v in by.items()} for way, by in kls.items()}
other = {way: {str(m): float(np.median(v)) for m, v in by.items()} for way, by in others.items()}
shown = (0.0, 1.0)
said = ("keep gamma, drop beta", "keep gamma, fold beta", "center, drop beta", "center, fold beta")
costs = [
    {"conversion": words} | {str(m): f"{abs(kl[way][str(m)]):.2f}" for m in shown}
    for words, way in zip(said, ways, strict=True)
]
changes_a_third = other["gamma"]["0.0"] > 1 / 3  # of the predictions
exact_everywhere = max(max(v) for v in kls["exact"].values()) < 1e-12
exact_keeps_all_tokens = max(max(v) for v in others["exact"].values()) == 0
for way in ways:
    row = ", ".join(f"{kl[way][str(m)]:.3f} ({other[way][str(m)]:.0%})" for m in means)
    print(f"{way:18} KL (other token) at mean {means}: {row}")

fig, ax = plt.subplots()
places = [(0.15, 1.75), (1.15, 0.85), (1.2, 0.15)]
columns = [np.array(means)]
for k, way in enumerate(list(ways)[:-1]):
    low, mid, high = np.percentile([kls[way][m] for m in means], [5, 50, 95], axis=1)
    ax.fill_between(means, low, high, color=f"C{k}", alpha=0.3, linewidth=0)
    ax.plot(means, mid, color=f"C{k}")
    columns += [mid, low, high]
    x, y = places[k]
    ax.text(x, y, said[k], color=f"C{k}")
ax.set(xlabel="mean of the embeddings / standard deviation", ylabel="KL divergence (nats)")
ax.set(ylim=(0, None))
plt.savefig("kl.svg")
with open("kl.csv", "w", newline="") as file:
    table = csv.writer(file, lineterminator="\n")
    table.writerow(["mean"] + [f"{w} {q}" for w in list(ways)[:-1] for q in ("p50", "p5", "p95")])
    table.writerows([[f"{v:.4g}" for v in row] for row in np.column_stack(columns)])
