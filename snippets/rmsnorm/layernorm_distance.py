# How far the outputs of RMSNorm and LayerNorm differ, and what leaves each of them unchanged.
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(100)
d_model, eps = 512, 1e-12
ratios = np.geomspace(0.01, 100, 17)  # |mu| / sigma of the token itself


def layer(x: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, (d_model,), eps=eps)


def rms(x: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, (d_model,), eps=eps)


def centered(seed: int) -> torch.Tensor:
    torch.manual_seed(seed)
    z = torch.randn(d_model, dtype=torch.float64)
    return (z - z.mean()) / z.std(correction=0)


def apart(a: torch.Tensor, b: torch.Tensor) -> float:
    return ((a - b).norm() / b.norm()).item()


tokens = [centered(seed) for seed in seeds]
measured = np.array([[apart(rms(z + t), layer(z + t)) for z in tokens] for t in ratios])
theory = np.sqrt(2 * (1 - 1 / np.sqrt(1 + ratios**2)))
follows_theory = bool(np.allclose(measured, theory[:, None], rtol=1e-6, atol=0))
equal_at_zero_mean = max(apart(rms(z), layer(z)) for z in tokens) < 1e-12
scaled = [max(apart(norm(3 * z + 3), norm(z + 1)) for z in tokens) for norm in (rms, layer)]
both_ignore_scale = max(scaled) < 1e-10
layer_ignores_shift = max(apart(layer(z + 1), layer(z)) for z in tokens) < 1e-10
moved_by_shift = apart(rms(tokens[0] + 1), rms(tokens[0]))  # the same for any such token
half, tenth = 0.5, 0.1
gap_at_half, gap_at_tenth = (apart(rms(tokens[0] + t), layer(tokens[0] + t)) for t in (half, tenth))
print(f"theory holds: {follows_theory}; equal at zero mean: {equal_at_zero_mean}")
print(f"both ignore the scale: {both_ignore_scale}; LayerNorm a shift: {layer_ignores_shift}")
print(f"a shift by one sigma moves RMSNorm's output by {moved_by_shift:.3f} of its norm")

normal = []  # tokens of independent entries with mean zero: their own mean is not zero
for seed in seeds:
    torch.manual_seed(seed)
    x = torch.randn(64, d_model, dtype=torch.float64)
    normal += [apart(rms(row), layer(row)) for row in x]
noise_rms = float(np.sqrt(np.mean(np.square(normal))))
noise_theory = d_model**-0.5
print(f"independent entries with mean zero: rms gap {noise_rms:.3f}, 1/sqrt(d) {noise_theory:.3f}")

fig, ax = plt.subplots()
ax.plot(ratios, theory, "--", color="C0")
ax.plot(ratios, np.median(measured, axis=1), "o", color="C0")
ax.axhline(2**0.5, color="C5", linewidth=0.8)
ax.text(0.011, 1.55, "√2: at right angles")
ax.set(
    xscale="log", yscale="log", ylim=(0.007, 2.6), xlabel="|mean| / standard deviation of the token"
)
ax.set(ylabel="|RMSNorm − LayerNorm| / |LayerNorm|")
plt.savefig("layernorm_distance.svg")
header = "ratio,theory,measured"
table = np.column_stack([ratios, theory, np.median(measured, axis=1)])
np.savetxt("layernorm_distance.csv", table, "%.4g", ",", header=header, comments="")
