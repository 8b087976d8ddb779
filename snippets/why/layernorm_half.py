# LayerNorm in half precision, by hand and by torch, for inputs from very small to very large.
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(20)
d_model, eps = 256, 1e-5
scales = np.geomspace(1e-6, 1e4, 21)  # standard deviation of the input
types = {"fp16": torch.float16, "bf16": torch.bfloat16}


def by_hand(x: torch.Tensor) -> torch.Tensor:
    centered = x - x.mean(-1, keepdim=True)
    var = centered.square().mean(-1, keepdim=True)  # the squares have the type of x
    return centered / torch.sqrt(var + eps)


def by_torch(x: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, (d_model,), eps=eps)


def tokens(scale: float, seed: int) -> torch.Tensor:
    torch.manual_seed(seed)
    return torch.randn(4, d_model) * scale


error = {}  # rms, relative to the exact output for the same stored input: (scales, seeds)
for name, dtype in types.items():
    for way in (by_hand, by_torch):
        inputs = [[tokens(scale, seed).to(dtype) for seed in seeds] for scale in scales]
        off = [[(way(x) - by_torch(x.double())).norm() for x in row] for row in inputs]
        size = [[by_torch(x.double()).norm() for x in row] for row in inputs]
        error[f"{name}_{way.__name__}"] = np.array(off) / np.array(size)
worst = {name: np.median(e, axis=1).max().item() for name, e in error.items()}
tiny = scales < 1e-4  # their squares are zero or have few bits in fp16
fp16_by_hand_worst_tiny = np.median(error["fp16_by_hand"], axis=1)[tiny].max().item()
fp16_max = torch.finfo(torch.float16).max
smallest_fp16 = 2.0**-24
overflows_above, underflows_below = fp16_max**0.5, smallest_fp16**0.5
lost_square = smallest_fp16 / 2  # rounded to zero in fp16, as is all below
eps_over_lost_square = eps / lost_square
loud = torch.stack([by_hand(tokens(1000.0, seed).half()) for seed in seeds])
fp16_by_hand_all_zero = bool((loud == 0).all())
bf16_by_hand_survives = worst["bf16_by_hand"] < 0.01
print(f"fp16: x^2 overflows above {overflows_above:.1f}")
print(f"fp16 by hand, std 1000: all outputs zero: {fp16_by_hand_all_zero}")
print(f"fp16 by hand, squares that underflow: error {fp16_by_hand_worst_tiny:.1%} at most")
print(f"bf16 by hand at any scale: error below 1%: {bf16_by_hand_survives}")
print(f"torch at any scale: fp16 {worst['fp16_by_torch']:.5f}, bf16 {worst['bf16_by_torch']:.4f}")

fig, ax = plt.subplots()
for k, (name, e) in enumerate(error.items()):
    low, middle, high = np.percentile(e, [5, 50, 95], axis=1)
    ax.fill_between(scales, low, high, color=f"C{k}", alpha=0.3, linewidth=0)
    ax.plot(scales, middle, "--" if "hand" in name else "-", color=f"C{k}")
    ax.text(0.03, middle[9] * (1.25 if "hand" in name else 0.7), name.replace("_", " "))
ax.set(xscale="log", yscale="log", ylim=(1e-4, 2))
ax.set(xlabel="standard deviation of the input", ylabel="error of the output / output")
plt.savefig("layernorm_half.svg")
table = np.column_stack([scales, *(np.median(e, axis=1) for e in error.values())])
header = ",".join(["input_std", *error])
np.savetxt("layernorm_half.csv", table, "%.2g", ",", header=header, comments="")
