# DeepNorm: alpha stands on the skip. The same letter on the branch gives the opposite block
import torch
import torch.nn.functional as F
from torch import nn

seeds = range(20)
d_model, alpha = 64, 4.0
scale, shift = 3, 1


class DeepNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        wide = 4 * d_model
        self.g = nn.Sequential(nn.Linear(d_model, wide), nn.ReLU(), nn.Linear(wide, d_model))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(alpha * x + self.g(x))


class OnTheBranch(DeepNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x + alpha * self.g(x))


def ln(v: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(v, (d_model,))


def tests(block: DeepNorm, x: torch.Tensor) -> tuple[bool, bool, bool]:
    for p in block.g.parameters():  # everything outside the norm
        nn.init.zeros_(p)
    zeroed = torch.allclose(block(x), ln(x), atol=1e-3)
    c = nn.init.normal_(list(block.g.parameters())[-1], std=scale)  # now G writes the constant c
    y = block(x)
    skip = torch.allclose(y, ln(alpha * x + c), atol=1e-3)
    inverse = torch.allclose(y, ln(x / alpha + c), atol=1e-3)  # LN forgets a common factor
    return zeroed, skip, inverse


found: dict[str, set[tuple[bool, bool, bool]]] = {"DeepNorm": set(), "OnTheBranch": set()}
for seed in seeds:
    torch.manual_seed(seed)
    x = scale * torch.randn(2, 8, d_model) + shift
    found["DeepNorm"].add(tests(DeepNorm(), x))
    found["OnTheBranch"].add(tests(OnTheBranch(), x))
deepnorm_is_deepnorm = found["DeepNorm"] == {(True, True, False)}
branch_divides_the_skip = found["OnTheBranch"] == {(True, False, True)}
for name, results in found.items():
    print(name, "gives LN(x), LN(alpha x + c), LN(x / alpha + c):", *results)
