# Dividing by d - 1 in the variance, which torch's x.var() does by default, shrinks the output.
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(50)
widths = [2, 3, 8, 32, 128, 256, 1024, 4096]

loss = np.empty((len(seeds), len(widths)))  # 1 - (length of the output / the right length)
for row, seed in enumerate(seeds):
    for column, d in enumerate(widths):
        torch.manual_seed(seed)
        x = torch.randn(1, d, dtype=torch.float64)
        wrong = (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + 1e-12)
        right = F.layer_norm(x, (d,), eps=1e-12)
        loss[row, column] = 1 - wrong.norm() / right.norm()
theory = 1 - np.sqrt(1 - 1 / np.array(widths))
follows_theory = bool(np.allclose(loss, theory, rtol=1e-3, atol=0))
loss_at = {str(d): value for d, value in zip(widths, loss.mean(0).tolist(), strict=True)}
bf16_rounding = torch.finfo(torch.bfloat16).eps / 2  # largest relative error of one rounding
hidden_by_bf16_from = widths[int(np.argmax(theory < bf16_rounding))]
print(f"lost: {loss_at['2']:.2%} at width 2, {loss_at['256']:.3%} at 256")
print(f"as 1 - sqrt((d - 1) / d) says: {follows_theory}")

fig, ax = plt.subplots()
ax.plot(widths, theory, color="C0")
ax.plot(widths, np.median(loss, axis=0), "o", color="C0")
ax.axhline(bf16_rounding, color="C1", linestyle="--")
ax.text(4096, bf16_rounding * 1.2, "one rounding to bf16", ha="right")
ax.text(10, 0.08, "1 - √((d - 1) / d)")
ax.set(xscale="log", yscale="log", xlabel="width d", ylabel="share of the output's length lost")
plt.savefig("layernorm_divisor.svg")
table = np.column_stack([widths, theory, np.median(loss, axis=0)])
np.savetxt("layernorm_divisor.csv", table, "%.5g", ",", header="width,theory,measured", comments="")
