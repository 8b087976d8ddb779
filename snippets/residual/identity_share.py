# The identity part over the total gradient of one block, over seeds, for two upstream gradients
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

seeds = range(2000)
d_model = 64
article_ratio = 0.881

norms: dict[str, list[torch.Tensor]] = {"own": [], "given": []}
without = []
for seed in seeds:
    torch.manual_seed(seed)
    branch = nn.Sequential(nn.Linear(d_model, d_model), nn.GELU(), nn.Linear(d_model, d_model))
    x = torch.randn(1, d_model, requires_grad=True)
    out = branch(x)
    own = 2 * (x + out).detach()  # dL/dy of L = |y|^2: it contains F(x)
    given = torch.randn(1, d_model)  # a dL/dy that knows nothing of F
    for g, rows in zip((own, given), norms.values(), strict=True):
        (through,) = torch.autograd.grad(out, x, g, retain_graph=True)  # g J
        rows.append(torch.stack([(g + through).norm(), g.norm(), through.norm()]))
    without.append(torch.autograd.grad(out.pow(2).sum(), x)[0].norm())  # y = F(x), the same x


def spread(values: torch.Tensor) -> list[float]:
    return values.quantile(torch.tensor([0.05, 0.5, 0.95])).tolist()


total, identity, through = torch.stack(norms["own"]).T
cross = total.pow(2) - identity.pow(2) - through.pow(2)  # 2 g . gJ
total_given, identity_given, through_given = torch.stack(norms["given"]).T
ratio, ratio_given = identity / total, identity_given / total_given

total_median, identity_median = total.median().item(), identity.median().item()
through_median, without_median = through.median().item(), torch.stack(without).median().item()
ratio_p5, ratio_median, ratio_p95 = spread(ratio)
given_p5, given_median, given_p95 = spread(ratio_given)
above_article = (ratio > article_ratio).float().mean().item()
given_above_one = (ratio_given > 1).float().mean().item()
cosine_median = (cross / (2 * identity * through)).median().item()
share_identity = (identity / total).pow(2).mean().item()  # shares of the squared norm
share_through = (through / total).pow(2).mean().item()
share_cross = (cross / total.pow(2)).mean().item()
rho2 = (through_given / identity_given).pow(2).mean().item()
ratio_theory = (1 + rho2) ** -0.5
print(f"L = |y|^2: identity/total {ratio_median:.3f}, 5-95% {ratio_p5:.2f} to {ratio_p95:.2f}")
print(f"given g:   identity/total {given_median:.3f}, 5-95% {given_p5:.2f} to {given_p95:.2f}")
print(f"theory for given g: {ratio_theory:.3f}")
shares = f"|g|^2 {share_identity:.2f}, |gJ|^2 {share_through:.2f}, 2 g.gJ {share_cross:.2f}"
print(f"of |total|^2: {shares}")

percent = np.arange(1, 100)
curves = [np.percentile(r.numpy(), percent) for r in (ratio, ratio_given)]
fig, ax = plt.subplots()
ax.plot(curves[0], percent, color="C0")
ax.plot(curves[1], percent, color="C1")
ax.text(ratio_median - 0.004, 50, "$L = |y|^2$", color="C0", ha="right")
ax.text(given_p5 + 0.011, 5, "given $g$", color="C1")
ax.axvline(ratio_theory, color="C1", linestyle="--")
ax.text(ratio_theory - 0.002, 97, "theory", color="C1", ha="right", va="top")
ax.axvline(article_ratio, color="C2", linestyle=":")
ax.text(article_ratio + 0.002, 97, f"article: {article_ratio}", color="C2", va="top")
ax.axvline(1, color="C3", linestyle="-.")
ax.text(1.002, 3, "identity = total", color="C3")
ax.set_xlabel("norm of the identity part / norm of the total gradient")
ax.set_ylabel("seeds at or below (%)")
plt.savefig("share.svg")
columns = np.column_stack([percent, *curves])
np.savetxt("share.csv", columns, "%.3g", ",", header="percent,own,given", comments="")
