# A layer can delete what an earlier one wrote, by writing the negative
import torch
import torch.nn.functional as F

seeds = range(2000)
d_model, tokens = 128, 16

left_linear, left_normed, left_known, other_kept = [], [], [], []
for seed in seeds:
    torch.manual_seed(seed)
    x0 = torch.randn(tokens, d_model)
    v = F.normalize(torch.randn(d_model), dim=0)  # a direction of the stream
    x0 = x0 - (x0 @ v)[:, None] * v  # free at the start
    amount = 3 * torch.randn(tokens)  # the information: one number a token
    x = x0 + amount[:, None] * v  # an early layer writes it

    # a head that attends to its own token, with W_OV = -v v'
    w_ov = -torch.outer(v, v)
    after = x + x @ w_ov
    left_linear.append(((after @ v).norm() / amount.norm()).item())
    other_kept.append(((after - x0).norm() / x0.norm()).item())

    # behind a norm it reads x / r: one gain for all tokens, and r depends on the token
    r = x.pow(2).mean(dim=-1).sqrt()
    after = x + r.mean() * F.rms_norm(x, (d_model,)) @ w_ov
    left_normed.append(((after @ v).norm() / amount.norm()).item())
    after = x + r[:, None] * (F.rms_norm(x, (d_model,)) @ w_ov)  # with r it would be exact
    left_known.append(((after @ v).norm() / amount.norm()).item())

deleted = max(left_linear) < 1e-5
others_untouched = max(other_kept) < 1e-5
exact_with_r = max(left_known) < 1e-5
left_behind_norm = float(torch.tensor(left_normed).median())
a_twentieth_to_a_tenth = 0.05 < left_behind_norm < 0.1
left_p95 = float(torch.tensor(left_normed).quantile(0.95))
print(f"deleted: {deleted}; all else as before: {others_untouched}")
print(f"behind an RMSNorm, with one gain for all tokens: {left_behind_norm:.3f} is left")
