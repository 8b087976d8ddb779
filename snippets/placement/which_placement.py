# Post-LN and Pre-LN in one line each, and a test from outside that tells which one a block is
import torch
import torch.nn.functional as F
from torch import nn

seeds = range(20)
d_model = 64
scale, shift = 3, 1


class PostLN(nn.Module):
    def __init__(self, branch: nn.Module) -> None:
        super().__init__()
        self.norm, self.branch = nn.LayerNorm(d_model), branch

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x + self.branch(x))


class PreLN(PostLN):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.branch(self.norm(x))


def ffn() -> nn.Module:
    wide = 4 * d_model
    return nn.Sequential(nn.Linear(d_model, wide), nn.GELU(), nn.Linear(wide, d_model))


def layer(norm_first: bool) -> nn.Module:
    return nn.TransformerEncoderLayer(d_model, 4, dropout=0.0, norm_first=norm_first)


def comes_out(block: nn.Module, x: torch.Tensor) -> str:
    """Zero the parameters that belong to no norm, and name what is left of the block."""
    for module in block.modules():
        if not isinstance(module, nn.LayerNorm):
            for parameter in module.parameters(recurse=False):
                nn.init.zeros_(parameter)
    y, normed = block(x), F.layer_norm(x, (d_model,))
    names = {"x": x, "LN(x)": normed}
    return " = ".join(name for name, z in names.items() if torch.allclose(y, z, atol=1e-3))


make = {
    "PostLN": lambda: PostLN(ffn()),
    "PreLN": lambda: PreLN(ffn()),
    "norm_first=False": lambda: layer(norm_first=False),
    "norm_first=True": lambda: layer(norm_first=True),
}
outcomes: dict[str, set[str]] = {name: set() for name in make}
hidden = set()
for seed in seeds:
    torch.manual_seed(seed)
    x = scale * torch.randn(2, 8, d_model) + shift  # (batch, seq, d_model), far from normalized
    for name, new in make.items():
        outcomes[name].add(comes_out(new(), x))
        hidden.add(comes_out(new(), F.layer_norm(x, (d_model,))))
for name, found in outcomes.items():
    print(f"{name}: {', '.join(found)}")
post_returns_norm = outcomes["PostLN"] == outcomes["norm_first=False"] == {"LN(x)"}
pre_returns_input = outcomes["PreLN"] == outcomes["norm_first=True"] == {"x"}
normed_input_hides_it = hidden == {"x = LN(x)"}
print("fed a normalized input, each of them:", *hidden)
