# QK-Norm: queries and keys are normed in each head, values are not
import torch
import torch.nn.functional as F
from torch import nn

seeds = range(20)
d_model, heads = 64, 4
scale = 10


class Attention(nn.Module):
    def __init__(self, qk_norm: bool) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        d_head = d_model // heads
        self.q_norm = nn.RMSNorm(d_head, eps=1e-6) if qk_norm else nn.Identity()
        self.k_norm = nn.RMSNorm(d_head, eps=1e-6) if qk_norm else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (  # (batch, heads, seq, d_head)
            w(x).unflatten(-1, (heads, -1)).transpose(1, 2) for w in (self.q, self.k, self.v)
        )
        y = F.scaled_dot_product_attention(self.q_norm(q), self.k_norm(k), v)
        return self.o(y.transpose(1, 2).flatten(-2))


def blind_to(attention: Attention, x: torch.Tensor) -> tuple[bool, ...]:
    """Does the output stay when q, k or v are scaled? Last: is it zero when all of them are?"""
    with torch.no_grad():
        before, same = attention(x), []
        for w in (attention.q, attention.k, attention.v):
            w.weight.mul_(scale)
            same.append(torch.allclose(attention(x), before, atol=1e-3))
            w.weight.div_(scale)
        for w in (attention.q, attention.k, attention.v, attention.o):
            nn.init.zeros_(w.weight)
        return *same, not attention(x).any().item()


found: dict[bool, set[tuple[bool, ...]]] = {True: set(), False: set()}
for seed in seeds:
    torch.manual_seed(seed)
    x = torch.randn(2, 8, d_model)
    for qk_norm in found:
        found[qk_norm].add(blind_to(Attention(qk_norm), x))
blind_to_q_and_k_not_to_v = found[True] == {(True, True, False, True)}
plain_attention_sees_all = found[False] == {(False, False, False, True)}
for qk_norm, results in found.items():
    print(f"QK-Norm {qk_norm}: blind to the scale of q, k, v; zero when zeroed:", *results)
