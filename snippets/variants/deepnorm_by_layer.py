# Forward and backward through 200 and 1000 layers at initialization: cosine and gradient
# limits: 180 s, 2 GB
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(20)
d_model = 64
depths = [6, 200]  # layers of two sublayers each
kinds = ["Post-LN", "DeepNorm", "Pre-LN"]
very_deep = 1000


def norm(v: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(v, (d_model,))


def run(kind: str, layers: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """By sublayer: norm of the stream, its cosine with the input, gradient of the 2nd matrix."""
    torch.manual_seed(seed)
    n = 2 * layers
    alpha, beta = (n**0.25, (4 * n) ** -0.25) if kind == "DeepNorm" else (1, 1)
    w1, w2 = beta * torch.randn(2, n, d_model, d_model) / d_model**0.5
    w2.requires_grad_()
    start, g = norm(torch.randn(2, d_model))  # g: dL/d(output), of norm root d
    x, stream = start, []
    for a, b in zip(w1, w2, strict=True):
        pre = kind == "Pre-LN"
        x = x + F.relu(norm(x) @ a) @ b if pre else norm(alpha * x + F.relu(x @ a) @ b)
        stream.append(x.detach())
    (gradient,) = torch.autograd.grad(norm(x) if kind == "Pre-LN" else x, w2, g)
    s = torch.stack(stream)
    cosine = F.cosine_similarity(s, start, dim=-1)
    size = s.pow(2).mean(dim=-1).sqrt()
    return size.numpy(), cosine.numpy(), (gradient.norm(dim=(1, 2)) / d_model).numpy()


results = {k: {n: [run(k, n, s) for s in seeds] for n in depths} for k in kinds}
cosine_at_end = {
    k: {str(n): float(np.median([r[1][-1] for r in by[n]])) for n in depths}
    for k, by in results.items()
}
stream_at_end = {
    k: {str(n): float(np.median([r[0][-1] for r in by[n]])) for n in depths}
    for k, by in results.items()
}
last_gradient = {  # root mean square
    k: {str(n): float(np.mean([r[2][-1] ** 2 for r in by[n]])) ** 0.5 for n in depths}
    for k, by in results.items()
}
front_over_last = {
    k: {str(n): float(np.median([r[2][0] / r[2][-1] for r in by[n]])) for n in depths}
    for k, by in results.items()
}
deepnorm_is_flat = all(abs(v - 1) < 0.2 for v in front_over_last["DeepNorm"].values())
median_post_fades = front_over_last["Post-LN"][str(depths[-1])] < 0.5
# independent writes of squared size beta^4 / 2 on a skip of alpha^2
n = 2 * depths[-1]
cosine_theory = float((1 + (4 * n) ** -1.0 / 2 / n**0.5) ** (-n / 2))
gradient_theory = float((n**0.5 + 1 / (8 * n)) ** -0.5 * (4 * n) ** -0.25 / 2**0.5)

deep = {k: run(k, very_deep, 0) for k in kinds}
finite_at_very_deep = all(bool(np.isfinite(part).all()) for r in deep.values() for part in r)
deepnorm_cosine_at_very_deep = float(deep["DeepNorm"][1][-1])
post_cosine_at_very_deep = float(abs(deep["Post-LN"][1][-1]))
post_forgets = abs(cosine_at_end["Post-LN"][str(depths[-1])]) < 0.3
for k in kinds:
    print(f"{k}, {depths[-1]} layers: stream {stream_at_end[k]['200']:.1f}", end="")
    print(f", cosine with the input {cosine_at_end[k]['200']:.2f}", end="")
    print(f", last gradient / d {last_gradient[k]['200']:.3f}")
print(f"{very_deep} layers, all finite: {finite_at_very_deep}")

fig, axes = plt.subplots(2, 1, figsize=(5.6, 5.6), sharex=True)
layers = np.arange(1, n + 1) / 2
some = slice(None, None, 8)  # drawn; the file has all
columns, names = [layers], ["layer"]
for color, k in zip(("C1", "C2", "C0"), kinds, strict=True):
    for ax, part, label in zip(axes, (1, 2), ("cosine", "gradient"), strict=True):
        values = np.stack([r[part] for r in results[k][depths[-1]]])
        low, middle, high = np.percentile(values, [5, 50, 95], axis=0)
        ax.fill_between(layers[some], low[some], high[some], alpha=0.3, color=color, linewidth=0)
        ax.plot(layers[some], middle[some], color=color)
        columns += [middle, low, high]
        names += [f"{k} {label} {c}" for c in ("p50", "p5", "p95")]
axes[0].text(100, 0.9, "DeepNorm", color="C2")
axes[0].text(20, 0.45, "Pre-LN", color="C0")
axes[0].text(40, -0.35, "Post-LN", color="C1")
axes[1].text(100, 2.2, "Post-LN", color="C1")
axes[1].text(12, 0.33, "Pre-LN", color="C0")
axes[1].text(100, 0.012, "DeepNorm", color="C2")
axes[0].set(ylabel="cosine with the input")
axes[1].set(yscale="log", xlabel="layer", ylabel="weight gradient / d")
plt.savefig("by_layer.svg")
header = ",".join(names)
np.savetxt("by_layer.csv", np.column_stack(columns), "%.3g", ",", header=header, comments="")
