# limits: 600 s
# One classifier per trouble, trained with and without norm: which troubles does the norm cure?
import csv
import math
from statistics import median

import torch
import torch.nn.functional as F

seeds = range(10)
d_in, d_model, depth, steps, batch, train_rate = 8, 32, 6, 200, 64, 0.003
gain, flipped, narrow, scale, shift = 3, 0.2, 3, 0.02, 1
rates = {"too large": 0.3, "too small": 0.00001}


def train(
    norm: bool, gain: float = 1, width: int = d_model, rate: float = train_rate, flip: float = 0
) -> dict[str, list[float]]:
    """One net a seed, side by side, on fresh data; then the share of errors on held-out data."""
    n = len(seeds)
    random = [torch.Generator().manual_seed(seed) for seed in seeds]

    def randn(*shape: int) -> torch.Tensor:  # (n, *shape), a generator for each net
        return torch.stack([torch.randn(shape, generator=g) for g in random])

    read = randn(d_in, width) / math.sqrt(d_in)
    a, b = (randn(depth, width, width) * gain / math.sqrt(width) for _ in range(2))
    bias, head = torch.zeros(n, depth, 1, width), randn(width, 1) / math.sqrt(width)
    weights = [w.requires_grad_() for w in (read, a, b, bias, head)]

    def normed(x: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, (width,)) if norm else x

    def logits(x: torch.Tensor) -> torch.Tensor:  # (n, batch, d_in) -> (n, batch)
        x = normed(x @ read)  # the norm of the embedding
        for i in range(depth):  # pre-norm, and a final norm
            x = x + F.relu(normed(x) @ a[:, i] + bias[:, i]) @ b[:, i]
        return (normed(x) @ head).squeeze(-1)

    def data(size: int) -> tuple[torch.Tensor, torch.Tensor]:
        x = randn(size, d_in + 1)
        y = (x[..., 0] * x[..., 1] > 0).float()  # exclusive or: no linear rule can do it
        uniform = torch.special.ndtr(x[..., -1])
        return x[..., :-1], (y - (uniform < flip).float()).abs()

    adam = torch.optim.Adam(weights, rate)
    for _ in range(steps):
        x, y = data(batch)
        adam.zero_grad()
        F.binary_cross_entropy_with_logits(logits(x), y).mul(n).backward()
        adam.step()
    x, y = data(1000)
    inputs = {"as_trained": x, "scaled": scale * x, "shifted": x + shift}
    with torch.no_grad():
        wrong = {name: (logits(z) > 0) != (y > 0.5) for name, z in inputs.items()}
    return {name: w.float().mean(1).tolist() for name, w in wrong.items()}


troubles: dict[str, dict[str, float]] = {
    "nothing": {},
    "weights_too_large": {"gain": gain},
    "wrong_labels": {"flip": flipped},
    "too_narrow": {"width": narrow},
    "rate_too_large": {"rate": rates["too large"]},
    "rate_too_small": {"rate": rates["too small"]},
}
ways = {"without": False, "with": True}
errors: dict[str, dict[str, list[float]]] = {}
for trouble, change in troubles.items():
    runs = {way: train(norm, **change) for way, norm in ways.items()}  # type: ignore[arg-type]
    errors[trouble] = {way: run["as_trained"] for way, run in runs.items()}
    if trouble == "nothing":
        for drift in ("scaled", "shifted"):
            errors[f"input_{drift}"] = {way: run[drift] for way, run in runs.items()}
error = {t: {way: median(v) for way, v in by.items()} for t, by in errors.items()}
best_with_norm = error["nothing"]["with"]
worst_seed = {t: {way: max(v) for way, v in by.items()} for t, by in errors.items()}
best_seed = {t: {way: min(v) for way, v in by.items()} for t, by in errors.items()}
pairs = zip(errors["input_scaled"]["with"], errors["nothing"]["with"], strict=True)
scale_changes_little = max(abs(p - q) for p, q in pairs) < 0.01
rate_factor = round(rates["too large"] / train_rate)
cured = {t: by["with"] < 0.1 for t, by in error.items()}  # the median error with norm
weights_cured, rate_cured = cured["weights_too_large"], cured["rate_too_large"]
weights_spoil, rate_spoils = (
    error[t]["without"] > 0.2 for t in ("weights_too_large", "rate_too_large")
)
others_not_cured = not any(cured[t] for t in ("too_narrow", "rate_too_small", "input_shifted"))
narrow_is_worse = error["too_narrow"]["with"] > error["too_narrow"]["without"]
noise_floor_holds = min(best_seed["wrong_labels"].values()) > flipped - 0.03
with open("normalization_rows.csv", "w", newline="") as file:
    table = csv.writer(file, lineterminator="\n")
    table.writerow(["trouble", "without norm", "with norm"])
    for trouble, by in error.items():
        table.writerow([trouble.replace("_", " "), *(f"{by[way]:.2f}" for way in ways)])
        spread = [f"{best_seed[trouble][w]:.2f}-{worst_seed[trouble][w]:.2f}" for w in ways]
        print(f"{trouble:17} without {by['without']:.2f} ({spread[0]}), ", end="")
        print(f"with {by['with']:.2f} ({spread[1]})")
print("with norm below 0.1, without above 0.2, for weights and rate too large:", end=" ")
print(weights_cured and rate_cured and weights_spoil and rate_spoils)
