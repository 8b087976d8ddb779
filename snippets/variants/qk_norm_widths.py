# QK-Norm over each head or over the full width: what a loud head does, and what sharding does
import math

import torch
import torch.nn.functional as F

seeds = range(100)
heads, d_k, tokens, loud = 16, 64, 32, 4.0
shards = [2, 4, 8]
d_model = heads * d_k


def per_head(x: torch.Tensor) -> torch.Tensor:  # (tokens, d_model)
    return F.rms_norm(x.view(tokens, -1, d_k), (d_k,)).reshape(tokens, -1)


def full_width(x: torch.Tensor, n: int = 1) -> torch.Tensor:
    """Over the width that one of n devices holds."""
    return F.rms_norm(x.view(tokens, n, -1), (x.shape[-1] // n,)).reshape(tokens, -1)


def logits(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:  # (heads, tokens, tokens)
    q, k = (t.view(tokens, heads, d_k).transpose(0, 1) for t in (q, k))
    return q @ k.mT / math.sqrt(d_k)


def off(a: torch.Tensor, b: torch.Tensor) -> float:
    return ((a - b).norm() / b.norm()).item()


even: dict[int, list[float]] = {n: [] for n in shards}  # logits, local against global RMS
uneven: dict[int, list[float]] = {n: [] for n in shards}
exact, louder, sum_errors = [], [], []
for seed in seeds:
    torch.manual_seed(seed)
    q, k = torch.randn(2, tokens, d_model)
    scale = torch.ones(heads, 1)
    scale[0] = loud  # one head of larger q and k
    scale = scale.expand(heads, d_k).reshape(-1)
    q_loud, k_loud = q * scale, k * scale
    for n in shards:
        full = logits(full_width(q), full_width(k))
        even[n].append(off(logits(full_width(q, n), full_width(k, n)), full))
        full = logits(full_width(q_loud), full_width(k_loud))
        local = logits(full_width(q_loud, n), full_width(k_loud, n))
        uneven[n].append(off(local, full))
        whole = per_head(q_loud).view(tokens, n, -1)
        split = [F.rms_norm(s.reshape(tokens, -1, d_k), (d_k,)) for s in q_loud.chunk(n, dim=-1)]
        exact.append(bool(torch.equal(torch.stack(split, 1).reshape_as(whole), whole)))
        # the remedy: add the local sums of squares, one number a token and device
        total = q_loud.view(tokens, n, -1).pow(2).sum(-1).sum(-1, keepdim=True)
        eps = torch.finfo(q.dtype).eps
        repaired = q_loud * torch.rsqrt(total / d_model + eps)
        sum_errors.append(off(repaired, full_width(q_loud)))
    full = logits(full_width(q_loud), full_width(k_loud)).std(dim=(1, 2))
    louder.append((full[0] / full[1:].mean()).item())

even_off = {n: float(torch.tensor(even[n]).median()) for n in shards}
uneven_off = {n: float(torch.tensor(uneven[n]).median()) for n in shards}
per_head_is_exact = all(exact)
sum_is_enough = max(sum_errors) < 1e-5
loud_logits = float(torch.tensor(louder).median())  # of the loud head over the others
loud_squared = loud**2
bound_full_over_head = heads  # a head can hold the whole norm: sqrt(heads) larger, q and k
one_hot = torch.zeros(1, d_model)
one_hot[0, :d_k] = 1  # all in one head
q = F.rms_norm(one_hot, (d_model,))[:, :d_k]
reached = (q @ q.T / math.sqrt(d_k)).item()
reached_theory = heads * math.sqrt(d_k)
print(f"loud head's logits over the others': {loud_logits:.1f} (full width), about 1 per head")
print(f"largest logit, full width: {reached:.0f}; per head: {math.sqrt(d_k):.0f}")
by_shards = [
    {"devices": n, "equal heads": even_off[n], "a loud head": uneven_off[n]} for n in shards
]
for row in by_shards:
    print(f"{row['devices']} devices: {row['equal heads']:.3f}, loud {row['a loud head']:.3f}")
print(f"per head exact: {per_head_is_exact}; summed squares repair full width: {sum_is_enough}")
