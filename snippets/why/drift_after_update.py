# Change W_1: which part of the change do later layers still see, with and without a norm?
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(1000)
d_model, depth, scale = 64, 20, 0.15
update = 0.1  # size of the change, relative to the weights
kinds = ["none", "RMSNorm", "LayerNorm"]


def stack(x: torch.Tensor, weights: list[torch.Tensor], kind: str) -> torch.Tensor:
    path = []
    for w in weights:
        x = x @ w
        if kind == "RMSNorm":
            x = F.rms_norm(x, (d_model,), eps=1e-6)
        elif kind == "LayerNorm":
            x = F.layer_norm(x, (d_model,), eps=1e-6)
        path.append(x)
    return torch.cat(path)  # (depth, d_model): what each layer hands on


angle = {kind: np.zeros((len(seeds), depth)) for kind in kinds}  # degrees, before against after
length = {kind: np.zeros((len(seeds), depth)) for kind in kinds}  # norm after over norm before
doubling_seen = dict.fromkeys(kinds, 0.0)  # largest relative change after W_1 -> 2 W_1
with torch.no_grad():
    for row, seed in enumerate(seeds):
        torch.manual_seed(seed)
        x = F.layer_norm(torch.randn(1, d_model, dtype=torch.float64), (d_model,))
        first, *rest = (scale * torch.randn(depth, d_model, d_model, dtype=torch.float64)).unbind()
        changed = first + update * scale * torch.randn_like(first)
        for kind in kinds:
            before, after = stack(x, [first, *rest], kind), stack(x, [changed, *rest], kind)
            angle[kind][row] = F.cosine_similarity(before, after, dim=-1).acos().rad2deg()
            length[kind][row] = after.norm(dim=-1) / before.norm(dim=-1)
            twice = stack(x, [2 * first, *rest], kind)
            seen = ((twice - before).norm(dim=-1) / before.norm(dim=-1)).max().item()
            doubling_seen[kind] = max(doubling_seen[kind], seen)

first_angle = {kind: float(np.median(angle[kind][:, 0])) for kind in kinds}
last_angle = {kind: float(np.median(angle[kind][:, -1])) for kind in kinds}
length_spread = {kind: float(length[kind][:, -1].std()) for kind in kinds}
same_direction_as_no_norm = bool(np.abs(angle["RMSNorm"] - angle["none"]).max() < 0.01)
norm_unchanged = length_spread["LayerNorm"] < 1e-4
doubling_invisible = doubling_seen["LayerNorm"] < 1e-4
for kind in kinds:
    print(f"{kind:9}: median turn of the direction {last_angle[kind]:.0f} degrees", end=", ")
    print(f"largest effect of doubling W_1 {doubling_seen[kind]:.2f}")

fig, ax = plt.subplots()
layers = np.arange(1, depth + 1)
columns = [layers]
for k, (kind, marker) in enumerate(zip(kinds, ["-", "--", "x"], strict=True)):
    low, middle, high = np.percentile(angle[kind], [5, 50, 95], axis=0)
    if kind == "none":
        ax.fill_between(layers, low, high, alpha=0.3, linewidth=0)
    ax.plot(layers, middle, marker, color=f"C{k}")
    columns += [low, middle, high]
ax.annotate("no norm: line\nRMSNorm: dashes\nLayerNorm: crosses", (1.5, 10.5))
ax.set_xticks([1, 5, 10, 15, 20])
ax.set(xlabel="layer", ylabel="change of direction, degrees", ylim=(0, None))
plt.savefig("drift_after_update.svg")
header = "layer," + ",".join(f"{n} {p}" for n in kinds for p in ("5%", "median", "95%"))
table = np.column_stack(columns)
np.savetxt("drift_after_update.csv", table, "%.4g", ",", header=header, comments="")
