# Parallel attention and feed-forward network, with one norm or two, against a sequential block
import torch
from torch import nn

seeds = range(20)
d_model, heads = 64, 4


class Sequential(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        wide = 4 * d_model
        self.att = nn.MultiheadAttention(d_model, heads, batch_first=True)
        self.ffn = nn.Sequential(nn.Linear(d_model, wide), nn.GELU(), nn.Linear(wide, d_model))
        self.norm_att, self.norm_ffn = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def attend(self, h: torch.Tensor) -> torch.Tensor:
        return self.att(h, h, h, need_weights=False)[0]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.norm_att(x))
        return x + self.ffn(self.norm_ffn(x))


class OneNorm(Sequential):  # GPT-J
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.norm_att(x)
        return x + self.attend(h) + self.ffn(h)


class TwoNorms(Sequential):  # GPT-NeoX-20B
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.attend(self.norm_att(x)) + self.ffn(self.norm_ffn(x))


def silence(module: nn.Module) -> dict[str, torch.Tensor]:
    saved = {k: v.clone() for k, v in module.state_dict().items()}
    for p in module.parameters():
        nn.init.zeros_(p)
    return saved


def tests(block: Sequential, x: torch.Tensor) -> tuple[bool, bool, bool]:
    with torch.no_grad():
        both = block(x) - x
        saved = silence(block.att)
        ffn_only = block(x) - x
        nn.init.constant_(block.norm_att.weight, 2)  # does it reach the feed-forward network?
        shared = not torch.allclose(block(x) - x, ffn_only, atol=1e-4)
        nn.init.ones_(block.norm_att.weight)
        block.att.load_state_dict(saved)
        silence(block.ffn)
        att_only = block(x) - x
        adds_up = torch.allclose(both, att_only + ffn_only, atol=1e-4)
        silence(block.att)
        return torch.equal(block(x), x), adds_up, shared  # all zeroed: x is left


found: dict[str, set[tuple[bool, bool, bool]]] = {}
for seed in seeds:
    torch.manual_seed(seed)
    x = 3 * torch.randn(2, 8, d_model) + 1
    for kind in (Sequential, OneNorm, TwoNorms):
        found.setdefault(kind.__name__, set()).add(tests(kind().eval(), x))
sequential_does_not_add_up = found["Sequential"] == {(True, False, False)}
one_norm_is_shared = found["OneNorm"] == {(True, True, True)}
two_norms_are_not = found["TwoNorms"] == {(True, True, False)}
for name, results in found.items():
    print(name, "returns x, adds up, shares its norm:", *results)
