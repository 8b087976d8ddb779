# A pre-norm stack whose final norm is skipped or applied again: what becomes of the predictions
import csv
import math

import numpy as np
import torch
import torch.nn.functional as F

seeds = range(60)
d_model, vocabulary, tokens, depth = 64, 500, 64, 24


def rmsnorm(x: torch.Tensor, gamma: torch.Tensor | float = 1.0) -> torch.Tensor:
    return F.rms_norm(x, (d_model,), eps=1e-6) * gamma


found: dict[str, list[tuple[float, float]]] = {}
double_at_one = []
for seed in seeds:
    torch.manual_seed(seed)
    x = torch.randn(tokens, d_model)
    for _ in range(depth):  # Xavier, ReLU: each block adds d / 2 to the squared norm
        a, b = torch.randn(2, d_model, d_model) / math.sqrt(d_model)
        x = x + F.relu(rmsnorm(x) @ a) @ b
    head = torch.randn(d_model, vocabulary) * 2 / math.sqrt(d_model)
    plain = torch.ones(d_model)
    uneven = torch.randn(d_model).mul(0.5).exp()  # a gamma as training might leave it
    for name, gamma in {"one": plain, "uneven": uneven}.items():
        right = rmsnorm(x, gamma)
        wrong = {"skipped": x, "twice": rmsnorm(right, gamma)}
        log_p = F.log_softmax(right @ head, -1)
        for kind, y in wrong.items():
            log_q = F.log_softmax(y @ head, -1)
            cost = (log_p.exp() * (log_p - log_q)).sum(-1).mean().item()
            other = (log_p.argmax(-1) != log_q.argmax(-1)).float().mean().item()
            found.setdefault(f"{kind}_{name}", []).append((cost, other))
    double_at_one.append((rmsnorm(rmsnorm(x)) - rmsnorm(x)).abs().max().item())
kl = {name: float(np.median([k for k, _ in v])) for name, v in found.items()}
changed = {name: float(np.median([c for _, c in v])) for name, v in found.items()}
twice_changes_about_half = 0.4 < changed["twice_uneven"] < 0.65
twice_costs_above = kl["twice_uneven"] > 0.5
twice_is_idle_at_one = max(double_at_one) < 1e-5
skip_keeps_order_at_one = max(c for _, c in found["skipped_one"]) < 0.005


def label(name: str) -> str:
    return name.replace("twice", "applied twice").replace("_", ", gamma ")


with open("skip_or_twice.csv", "w", newline="") as file:
    table = csv.writer(file, lineterminator="\n")
    table.writerow(["final norm", "KL divergence (nats)", "predictions changed"])
    for name in found:
        table.writerow(
            [label(name), f"{kl[name]:.1f}".replace("-0.0", "0.0"), f"{changed[name]:.0%}"]
        )
        low, high = np.percentile(found[name], [5, 95], axis=0)
        print(
            f"{label(name):26} KL {abs(kl[name]):.2f} ({abs(low[0]):.2f} to {high[0]:.2f}),",
            end=" ",
        )
        print(f"other prediction {changed[name]:.2f} ({low[1]:.2f} to {high[1]:.2f})")
print("applied twice, gamma uneven: KL above 0.5:", twice_costs_above)
