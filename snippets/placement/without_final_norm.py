# Pre-LN with and without the norm before the head: input of the head, and loss before any training
import math
from statistics import median

import torch
import torch.nn.functional as F

seeds = range(30)
d_model, vocabulary, tokens = 64, 1000, 32
depths = [0, 16, 64]

inputs: dict[int, list[float]] = {n: [] for n in depths}  # norm of the head's input / sqrt(d)
losses: dict[str, dict[int, list[float]]] = {
    kind: {n: [] for n in depths} for kind in ("with", "without")
}
for seed in seeds:
    torch.manual_seed(seed)
    x = torch.randn(tokens, d_model)
    head = torch.randn(d_model, vocabulary) / math.sqrt(d_model)  # unit logits for a normed input
    target = torch.randint(vocabulary, (tokens,))
    for block in range(depths[-1] + 1):
        normed = F.layer_norm(x, (d_model,))
        if block in depths:
            inputs[block].append(x.pow(2).mean().sqrt().item())
            losses["with"][block].append(F.cross_entropy(normed @ head, target).item())
            losses["without"][block].append(F.cross_entropy(x @ head, target).item())
        a, b = torch.randn(2, d_model, d_model) / math.sqrt(d_model)  # Xavier, ReLU
        x = x + F.relu(normed @ a) @ b

norm = {str(n): median(v) for n, v in inputs.items()}
theory = {str(n): math.sqrt(1 + n / 2) for n in depths}
loss = {kind: {str(n): median(v) for n, v in by.items()} for kind, by in losses.items()}
for n in norm:
    print(f"{n:>2} blocks: head input / sqrt(d) {norm[n]:.1f}, theory {theory[n]:.1f}", end="")
    print(f"; loss {loss['without'][n]:.0f}, with final norm {loss['with'][n]:.0f}")
