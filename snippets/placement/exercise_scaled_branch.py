# Exercise: weights or gamma times ten in the reordered placement; how far does the stream grow?
import torch
import torch.nn.functional as F

seeds = range(60)
d_model, depth = 64, 16
factor = 10


def end(weights: float, gamma: float, seed: int) -> float:
    torch.manual_seed(seed)
    x = F.layer_norm(torch.randn(d_model), (d_model,))
    for _ in range(depth):
        a, b = weights * torch.randn(2, d_model, d_model) / d_model**0.5
        x = x + gamma * F.layer_norm(F.relu(x @ a) @ b, (d_model,))
    return x.pow(2).mean().item()


def mean(weights: float, gamma: float) -> float:
    return sum(end(weights, gamma, seed) for seed in seeds) / len(seeds)


plain, weights_scaled, gamma_scaled = mean(1, 1), mean(factor, 1), mean(1, factor)
plain_theory, gamma_theory = 1 + depth, 1 + factor**2 * depth
weights_do_nothing = abs(weights_scaled / plain - 1) < 1e-3
print(f"squared norm / d at the end: {plain:.0f}, theory {plain_theory}")
print(f"weights times {factor}: {weights_scaled:.0f}")
print(f"gamma times {factor}: {gamma_scaled:.0f}, theory {gamma_theory}")
