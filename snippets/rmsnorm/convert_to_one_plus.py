# A plain bf16 weight converted to Gemma's w = weight - 1 and back: what is lost?
import torch

bits = torch.arange(2**16, dtype=torch.int32).to(torch.uint16)
weights = bits.view(torch.bfloat16)  # each number that bf16 has
weights = weights[weights.float().isfinite() & (weights.float() > 0) & (weights.float() <= 2)]

w = (weights.float() - 1).bfloat16()
kept = 1 + w.float() == weights.float()
near_one = (weights.float() >= 0.5) & (weights.float() <= 2)
small = weights.float() < 0.25
exact_near_one = bool(kept[near_one].all())
lossy_when_small = not bool(kept[small & (weights.float() > 1e-3)].all())
share_kept_when_small = kept[small & (weights.float() > 1e-3)].double().mean().item()

fine = weights[weights.float() < 0.01]  # as Gemma stores its w
plain = (1 + fine.float()).bfloat16()
distinct_before, distinct_after = len(fine.unique()), len(plain.unique())
back_is_lossy = distinct_after < 0.01 * distinct_before
print(f"weights of a half to two are all kept: {exact_near_one}")
print(f"weights of a thousandth to a quarter that are kept: {share_kept_when_small:.1%}")
print(f"values of w below a hundredth: {distinct_before}; of bf16 1 + w: {distinct_after}")
