# The same attention in two notations: L2 norm with a learned scale, RMSNorm with weights
import math

import torch
import torch.nn.functional as F

seeds = range(50)
d_k, n_keys, gain_q, gain_k = 128, 64, 1.3, 0.9

errors, clipped, untouched = [], [], []
threshold = 100.0  # of QK-Clip
for seed in seeds:
    torch.manual_seed(seed)
    x, w_q, w_k = torch.randn(n_keys, d_k), *torch.randn(2, d_k, d_k)
    q, k = x @ w_q, x @ w_k
    rms = gain_q * F.rms_norm(q, (d_k,)) @ (gain_k * F.rms_norm(k, (d_k,))).T / math.sqrt(d_k)
    scale = math.sqrt(d_k) * gain_q * gain_k
    cosine = scale * F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).T
    errors.append((rms - cosine).abs().max().item() / scale)

    # QK-Clip: no norm; after a step, shrink the weights of a head whose logits are too large
    largest = (q @ k.T / math.sqrt(d_k)).abs().max()
    gamma = min(1.0, threshold / largest.item())
    q, k = x @ (w_q * gamma**0.5), x @ (w_k * gamma**0.5)
    clipped.append((q @ k.T / math.sqrt(d_k)).abs().max().item())
    untouched.append(largest.item())

same_function = max(errors) < 1e-5
equal_scale = math.sqrt(d_k)  # of the cosine, for gains of one
clip_meets_threshold = all(abs(c / threshold - 1) < 1e-4 for c in clipped)
before_clip = float(torch.tensor(untouched).median())
swin_limit = 100.0
print(f"RMSNorm's logits are {equal_scale:.1f} g_q g_k times the cosine: {same_function}")
print(f"QK-Clip: largest logit {before_clip:.0f} to {threshold:.0f}: {clip_meets_threshold}")
