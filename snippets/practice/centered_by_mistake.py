# An RMSNorm model has no mean to spare: what centering its embeddings, or all its writes, changes
import math

import numpy as np
import torch
import torch.nn.functional as F

seeds = range(20)
d_model, hidden, depth, vocabulary, tokens = 64, 128, 6, 200, 32
means = [0.0, 0.5, 1.0]  # of the embeddings, in their standard deviations


def run(seed: int, mean: float, center: str) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)

    def randn(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=draw, dtype=torch.float64)

    def centered(w: torch.Tensor) -> torch.Tensor:
        return w - w.mean(-1, keepdim=True)

    def normed(x: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(x, (d_model,), eps=1e-6) * (1 + 0.3 * randn(d_model))

    x = randn(tokens, d_model) + mean
    x = centered(x) if center != "nothing" else x
    for _ in range(depth):
        h = F.gelu(normed(x) @ randn(d_model, hidden) / math.sqrt(d_model))
        write = randn(hidden, d_model) / math.sqrt(hidden)
        x = x + h @ (centered(write) if center == "all" else write)
    return (normed(x) @ randn(d_model, vocabulary) * 2 / math.sqrt(d_model)).log_softmax(-1)


kl: dict[str, dict[str, float]] = {"embeddings": {}, "all": {}}
other: dict[str, dict[str, float]] = {"embeddings": {}, "all": {}}
for center in kl:
    for mean in means:
        both = [(run(seed, mean, "nothing"), run(seed, mean, center)) for seed in seeds]
        off = [(p.exp() * (p - q)).sum(-1).mean().item() for p, q in both]
        new = [(p.argmax(-1) != q.argmax(-1)).double().mean().item() for p, q in both]
        kl[center][str(mean)] = float(np.median(off))
        other[center][str(mean)] = float(np.median(new))
        print(
            f"{center:10} mean {mean}: KL {kl[center][str(mean)]:.3f}, other {np.median(new):.1%}"
        )
chance_mean_below = kl["embeddings"]["0.0"] < 0.1
half_costs_above = kl["embeddings"]["0.5"] > 0.2
print("embeddings of mean zero: below 0.1:", chance_mean_below)
print("mean of 0.5 standard deviations: above 0.2:", half_costs_above)
