# Four placements in one line each, and three tests from outside that tell them apart
import torch
import torch.nn.functional as F
from torch import nn

seeds = range(20)
d_model = 64
scale, shift = 3, 1


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        wide = 4 * d_model
        self.f = nn.Sequential(nn.Linear(d_model, wide), nn.ReLU(), nn.Linear(wide, d_model))
        self.norm, self.norm_out = nn.LayerNorm(d_model), nn.LayerNorm(d_model)


class PostLN(Block):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x + self.f(x))


class PreLN(Block):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.f(self.norm(x))


class Sandwich(Block):  # CogView, and a block of Peri-LN
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.norm_out(self.f(self.norm(x)))


class Reordered(Block):  # Swin v2, OLMo 2
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.norm_out(self.f(x))


def name(y: torch.Tensor, candidates: dict[str, torch.Tensor]) -> str:
    return " = ".join(k for k, z in candidates.items() if torch.allclose(y, z, atol=1e-3))


def tests(block: Block, x: torch.Tensor) -> tuple[str, str, bool]:
    normed = F.layer_norm(x, (d_model,))
    # a norm in front of F hides the scale and the mean of the stream from what is written
    write = block(x) - x
    reads_norm = torch.allclose(block(normed) - normed, write, atol=1e-3)
    for p in block.f.parameters():  # everything outside the norms
        nn.init.zeros_(p)
    zeroed = name(block(x), {"x": x, "LN(x)": normed})
    c = nn.init.normal_(list(block.f.parameters())[-1], std=scale)  # now F writes the constant c
    candidates = {"x + c": x + c, "x + LN(c)": x + F.layer_norm(c, (d_model,))}
    candidates["LN(x + c)"] = F.layer_norm(x + c, (d_model,))
    return zeroed, name(block(x), candidates), reads_norm


found: dict[str, set[tuple[str, str, bool]]] = {}
for seed in seeds:
    torch.manual_seed(seed)
    x = scale * torch.randn(2, 8, d_model) + shift  # far from normalized
    for kind in (PostLN, PreLN, Sandwich, Reordered):
        found.setdefault(kind.__name__, set()).add(tests(kind(), x))
post_is_post = found["PostLN"] == {("LN(x)", "LN(x + c)", False)}
pre_is_pre = found["PreLN"] == {("x", "x + c", True)}
sandwich_is_sandwich = found["Sandwich"] == {("x", "x + LN(c)", True)}
reordered_is_reordered = found["Reordered"] == {("x", "x + LN(c)", False)}
zeroing_alone_cannot_tell = {r[0] for k in found if k != "PostLN" for r in found[k]} == {"x"}
rows = [
    {"placement": k, "F zeroed": z, "F writes c": c, "same write for LN(x)": "yes" if r else "no"}
    for k, results in found.items()
    for z, c, r in results
]
for row in rows:
    print(row)
