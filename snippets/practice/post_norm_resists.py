# Post-LN: the norm's output is the stream, so gamma and beta bring back a mean
import math

import torch
import torch.nn.functional as F

seeds = range(30)
d_model, hidden, depth, tokens = 64, 128, 6, 16


def stack(seed: int, way: str, spread: float) -> torch.Tensor:
    """Post-LN blocks: as they are, converted, or converted with a matrix on the skip."""
    draw = torch.Generator().manual_seed(seed)

    def randn(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=draw, dtype=torch.float64)

    def norm(x: torch.Tensor) -> torch.Tensor:
        gamma, beta = 1 + spread * randn(d_model), spread * randn(d_model)
        if way == "LayerNorm":
            return F.layer_norm(x, (d_model,), gamma, beta)
        return F.rms_norm(x, (d_model,), eps=1e-5) * gamma + beta

    def centered(x: torch.Tensor, if_so: bool = way != "LayerNorm") -> torch.Tensor:
        return x - x.mean(-1, keepdim=True) if if_so else x

    x = norm(centered(randn(tokens, d_model) + 1))  # the norm of the embedding, as in BERT
    for _ in range(depth):
        a = randn(d_model, hidden) / math.sqrt(d_model)
        b = centered(randn(hidden, d_model) / math.sqrt(hidden))  # what is written has mean zero
        x = norm(centered(x, way == "centered skip") + F.gelu(x @ a) @ b)
    return x


def error(way: str, spread: float) -> list[float]:
    """Relative error of the output, by seed."""
    off = []
    for seed in seeds:
        y, z = stack(seed, "LayerNorm", spread), stack(seed, way, spread)
        off.append(((y - z).norm() / y.norm()).item())
    return off


spread = 0.3  # of gamma around one and of beta around zero
trained, fresh = sorted(error("converted", spread)), error("converted", 0.0)
with_skip = error("centered skip", spread)
converted_off = trained[len(trained) // 2]
least_off, most_off = trained[0], trained[-1]
exact_at_initialization = max(fresh) < 1e-12
exact_with_centered_skip = max(with_skip) < 1e-12
off_by_more_than_5_percent = converted_off > 0.05
print("gamma 1, beta 0: the conversion is exact:", exact_at_initialization)
print(f"gamma and beta moved: off by {converted_off:.2f} ({least_off:.2f} to {most_off:.2f})")
print("moved, and the skip centered in each block: exact:", exact_with_centered_skip)
print("off by more than 0.05 of the output:", off_by_more_than_5_percent)
