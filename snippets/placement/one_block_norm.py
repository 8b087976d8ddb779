# The article's listing: the norm of a token after one block; then the same over seeds, with theory
import math

import torch
import torch.nn as nn


class PostLNBlock(nn.Module):
    def __init__(self, d: int, hidden: int) -> None:
        super().__init__()
        self.sub = nn.Sequential(nn.Linear(d, hidden), nn.GELU(), nn.Linear(hidden, d))
        self.ln = nn.LayerNorm(d)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.ln(x + self.sub(x))


class PreLNBlock(nn.Module):
    def __init__(self, d: int, hidden: int) -> None:
        super().__init__()
        self.ln = nn.LayerNorm(d)
        self.sub = nn.Sequential(nn.Linear(d, hidden), nn.GELU(), nn.Linear(hidden, d))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.sub(self.ln(x))


torch.manual_seed(0)
x = torch.randn(2, 8, 64)
post = PostLNBlock(64, 128)(x)
pre = PreLNBlock(64, 128)(x)
print("Post-LN:", f"{post.norm(dim=-1).mean().item():.4f}")
print("Pre-LN:", f"{pre.norm(dim=-1).mean().item():.4f}")

# the listing ends here; the input's own norm, which it does not print
post_norm, pre_norm = post.norm(dim=-1).mean().item(), pre.norm(dim=-1).mean().item()
input_norm = x.norm(dim=-1).mean().item()
from_the_input = (input_norm - 8) / (pre_norm - 8)  # share of the excess that was there before
print(f"input: {input_norm:.4f}")

seeds = range(400)
d, hidden = 64, 128
before, after, posts = [], [], []
for seed in seeds:
    torch.manual_seed(seed)
    x = torch.randn(2, 8, d)
    posts.append(PostLNBlock(d, hidden)(x).norm(dim=-1))
    before.append(x.pow(2).sum(dim=-1).mean())
    after.append(PreLNBlock(d, hidden)(x).pow(2).sum(dim=-1).mean())
before_t, after_t, all_posts = torch.stack(before), torch.stack(after), torch.stack(posts)
post_off_by = (all_posts / math.sqrt(d) - 1).abs().max().item()
post_is_pinned = post_off_by < 1e-4
write = (after_t - before_t).mean().item() / d  # growth of the mean square in one block
pre_root = after_t.mean().sqrt().item()

# default weights have variance 1 / (3 fan_in), biases too
u = torch.linspace(-10, 10, 4001).double()
weight = torch.softmax(-u.pow(2) / 2, dim=0)  # quadrature for a standard normal
z = u * math.sqrt((1 + 1 / d) / 3)
q = (weight * nn.functional.gelu(z).pow(2)).sum().item()
write_theory = (q + 1 / hidden) / 3
pre_root_theory = math.sqrt(d * (1 + write_theory))
print(f"one block adds {write:.3f} d to the squared norm, theory {write_theory:.4f} d")
