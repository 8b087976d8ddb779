# The stream is a sum: of all writes, exactly; of all paths, as long as the layers are linear
import torch
import torch.nn.functional as F
from torch import nn

seeds = range(100)
d_model, tokens, depth = 64, 16, 24

sums, paths, nonlinear, n_paths = [], [], [], 0
for seed in seeds:
    torch.manual_seed(seed)
    x0 = torch.randn(tokens, d_model, dtype=torch.float64)

    # any layers: x_L = x_0 + f_1 + ... + f_L
    x, writes = x0, []
    for _ in range(depth):
        up, down = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)
        mlp = nn.Sequential(up, nn.GELU(), down).double()
        with torch.no_grad():
            writes.append(mlp(F.layer_norm(x, (d_model,))))
        x = x + writes[-1]
    sums.append(((x0 + sum(writes) - x).norm() / x.norm()).item())

    # attention with its pattern held fixed is linear: h(x) = A x W
    heads = []
    for _ in range(2):
        scores = torch.randn(tokens, tokens, dtype=torch.float64)
        w = torch.randn(d_model, d_model, dtype=torch.float64) / d_model**0.5
        heads.append((scores.softmax(dim=-1), w))
    (a1, w1), (a2, w2) = heads
    x = x0 + a1 @ x0 @ w1
    x = x + a2 @ x @ w2
    expanded = [x0, a1 @ x0 @ w1, a2 @ x0 @ w2, a2 @ a1 @ x0 @ w1 @ w2]
    n_paths = len(expanded)
    paths.append(((sum(expanded) - x).norm() / x.norm()).item())

    # an MLP does not split: f(x_0 + f_1) is not f(x_0) + f(f_1)
    with torch.no_grad():
        joint = mlp(F.layer_norm(x0 + writes[0], (d_model,)))
        apart = mlp(F.layer_norm(x0, (d_model,))) + mlp(F.layer_norm(writes[0], (d_model,)))
    nonlinear.append(((joint - apart).norm() / joint.norm()).item())

sum_is_exact = max(sums) < 1e-13
paths_are_exact = max(paths) < 1e-13
mlp_gap = float(torch.tensor(nonlinear).median())
print(f"{depth} MLPs: the writes add up to the stream: {sum_is_exact}")
print(f"two heads: {n_paths} paths add up to the stream: {paths_are_exact}")
print(f"an MLP on a sum, against the sum of two MLPs: {mlp_gap:.2f} apart")
