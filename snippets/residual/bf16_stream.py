# A Pre-LN stream kept in bf16 against one kept in float32, with the same layers
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

seeds = range(10)
d_model, depth, tokens = 128, 64, 16
massive = 256.0  # one coordinate of the stream, as trained models have them

errors, squares, stuck = [], [], []
for seed in seeds:
    torch.manual_seed(seed)
    exact = torch.randn(tokens, d_model)
    exact[:, 0] = massive
    stream = exact.to(torch.bfloat16)
    exact, norm = stream.float(), nn.LayerNorm(d_model - 1)
    error, square, same = [], [], []
    for _ in range(depth):
        up, down = nn.Linear(d_model - 1, d_model), nn.Linear(d_model, d_model)
        with torch.no_grad():  # the layers read float32, and not the massive entry
            write = down(nn.functional.gelu(up(norm(exact[:, 1:]))))
        exact = exact + write
        before, stream = stream, stream + write.to(torch.bfloat16)  # only the stream is rounded
        same.append((stream == before)[:, 0].float().mean().item())
        rest = exact[:, 1:]
        error.append(((stream.float()[:, 1:] - rest).norm() / rest.norm()).item())
        square.append(rest.pow(2).mean().item())
    errors.append(error)
    squares.append(square)
    stuck.append(same)

curves, mean_square = np.array(errors), np.array(squares).mean(axis=0)
layers = np.arange(1, depth + 1)
low, middle, high = np.percentile(curves, [5, 50, 95], axis=0)
error_first, error_last = float(middle[0]), float(middle[-1])
# independent roundings of one relative size: their squares add
theory = error_first * np.sqrt(np.cumsum(mean_square) / mean_square)
theory_last = float(theory[-1])
massive_stuck = float(np.mean(stuck))  # share of the writes to the massive entry that are lost
print(f"error of a bf16 stream: {error_first:.4f} after a layer, {error_last:.4f} after {depth}")
print(f"writes to an entry of {massive:.0f} that change nothing: {massive_stuck:.3f}")

fig, ax = plt.subplots()
ax.fill_between(layers, low, high, alpha=0.3, color="C0", linewidth=0)
ax.plot(layers, middle, color="C0")
ax.plot(layers, theory, "--", color="C1")
ax.text(40, 0.75 * theory[40], "measured, and theory (dashes)", va="top")
ax.set(xlabel="layer", ylabel="error / norm of the stream", ylim=(0, None))
plt.savefig("error.svg")
table = np.column_stack([layers, middle, low, high, theory])
np.savetxt("error.csv", table, "%.4g", ",", header="layer,p50,p5,p95,theory", comments="")
