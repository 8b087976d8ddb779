# How sharp can attention with QK-Norm be? One key aligned with q, all others opposite
import math

import torch

n_keys, head_dim, wanted = 4096, 128, 0.99


def sharpest(bound: float) -> float:
    """The largest weight of a row whose logits lie within plus or minus the bound."""
    logits = torch.full((n_keys,), -bound, dtype=torch.float64)
    logits[0] = bound
    return torch.softmax(logits, dim=0)[0].item()


def sharpest_orthogonal(bound: float) -> float:
    """The same with the other keys at right angles: many keys cannot all be opposite."""
    logits = torch.zeros(n_keys, dtype=torch.float64)
    logits[0] = bound
    return torch.softmax(logits, dim=0)[0].item()


unit = math.sqrt(head_dim)  # the bound for gains of one
weight_cosine = sharpest(1.0)  # cosine without a scale
weight_rms = sharpest_orthogonal(unit)
odds = math.log(wanted / (1 - wanted) * (n_keys - 1))
needed = odds / 2  # bound needed, others opposite
needed_orthogonal = odds
gains_needed = odds / unit  # g_q g_k
reaches_wanted = abs(sharpest_orthogonal(odds) - wanted) < 1e-9
print(f"cosine without a scale: at most {weight_cosine:.4f}")
print(f"d_k = {head_dim}, gains of one, others at right angles: {weight_rms:.2f}")
print(f"for {wanted} among {n_keys} keys: logit {odds:.1f}, so g_q g_k = {gains_needed:.2f}")
