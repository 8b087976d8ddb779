# RMSNorm written out, held against nn.RMSNorm; its parameters, and what its output keeps constant.
import torch
from torch import nn

seeds = range(100)
d_model, eps = 1024, 1e-6


class RMSNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))  # g, one per feature; no bias
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean_square = x.square().mean(dim=-1, keepdim=True)  # (batch, seq, 1)
        return x * torch.rsqrt(mean_square + self.eps) * self.weight


difference, mean_squares = [], []
for seed in seeds:
    torch.manual_seed(seed)
    x = torch.randn(4, 32, d_model) * 3.0 + 2.0
    weight = torch.rand(d_model) + 0.5
    ours, reference = RMSNorm(d_model, eps), nn.RMSNorm(d_model, eps)
    ours.weight.data = reference.weight.data = weight
    difference.append((ours(x) - reference(x)).abs().max().item())
    token = torch.randn(8, d_model, dtype=torch.float64)
    unit = nn.RMSNorm(d_model, eps, dtype=torch.float64)(token)
    mean_squares.append(unit.square().mean().item())
agrees_with_torch = max(difference) < 4e-6
mean_square = sum(mean_squares) / len(seeds)
print(f"agrees with nn.RMSNorm: {agrees_with_torch}; mean square of the output {mean_square:.6f}")

corner = eps**0.5  # a constant token as large as the root of eps tells where eps stands
quiet = torch.full((d_model,), corner)
at_corner = nn.RMSNorm(d_model, eps)(quiet)[0].item()  # inside the root: 1 / sqrt(2)
outside_root = corner / (corner + eps)
print(f"x = sqrt(eps): output {at_corner:.3f}; with eps outside the root {outside_root:.3f}")


def parameters(norm: nn.Module) -> int:
    return sum(p.numel() for p in norm.parameters())


count = {
    f"{name}_{width}": parameters(norm(width))
    for width in (1024, 4096)
    for name, norm in (("LayerNorm", nn.LayerNorm), ("RMSNorm", nn.RMSNorm))
}
wide, layers, norms_per_layer = 4096, 32, 2
in_model = {n: layers * norms_per_layer * count[f"{n}_{wide}"] for n in ("LayerNorm", "RMSNorm")}
saved = in_model["LayerNorm"] - in_model["RMSNorm"]
block = nn.TransformerEncoderLayer(wide, 32, 4 * wide, bias=False, device="meta")
share_saved = saved / (layers * parameters(block))
print("parameters of one norm:")
for norm_and_width, number in count.items():
    print(f"  {norm_and_width:14} {number}")
print(f"in {layers} layers of width {wide}: {in_model}")
print(f"saved {saved}, {share_saved:.4%} of the parameters of the blocks")
