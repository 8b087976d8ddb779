# RMSNorm keeps the mean direction that LayerNorm removes: does its gradient shrink less with depth?
import math

import torch
import torch.nn.functional as F

seeds = range(400)
d_model, depth, scale = 64, 20, 0.3


def log_gradient(norm: str, seed: int) -> float:
    torch.manual_seed(seed)
    x = start = F.layer_norm(torch.randn(1, d_model), (d_model,)).requires_grad_()
    for _ in range(depth):
        x = x @ (torch.randn(d_model, d_model) * scale)
        if norm == "RMSNorm":
            x = F.rms_norm(x, (d_model,), eps=1e-5)
        else:
            x = F.layer_norm(x, (d_model,), eps=1e-5)
    direction = F.normalize(torch.randn(1, d_model))
    return torch.autograd.grad(x, start, direction)[0].norm().log().item()


# psi_k: digamma((d - k) / 2) / 2 gives the mean log length of d - k normal entries, up to log 2
psi_0, psi_1, psi_2 = [torch.digamma(torch.tensor((d_model - k) / 2)).item() / 2 for k in range(3)]
top = psi_1 - psi_0  # the given direction loses its part along x, under either norm
log_theory = {
    "RMSNorm": top + depth * (psi_1 - psi_0),  # d - 1 entries go back, over d forward
    "LayerNorm": top + depth * (psi_2 - psi_1),  # d - 1 over d - 1, then the mean is projected out
}
theory = {norm: math.exp(value) for norm, value in log_theory.items()}

measured, standard_errors = {}, {}
for norm, value in log_theory.items():
    logs = torch.tensor([log_gradient(norm, i) for i in seeds])
    measured[norm] = logs.mean().exp().item()  # geometric mean
    standard_error = (logs.std() / math.sqrt(len(seeds))).item()
    standard_errors[norm] = abs(logs.mean().item() - value) / standard_error
    print(f"{norm:9}: gradient at the input {theory[norm]:.3f} of that at the output, in theory")
agrees_with_theory = max(standard_errors.values()) < 4
print("measured within four standard errors:", agrees_with_theory)
