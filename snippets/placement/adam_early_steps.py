# Size of Adam's update per parameter in its early steps, whatever the size of the gradient
import matplotlib.pyplot as plt
import numpy as np
import torch

seeds = range(20)
parameters, steps, lr = 4000, 50, 1e-3
beta1, beta2 = 0.9, 0.999  # the defaults of torch
gradient_sizes = [1e-3, 1.0, 1e3]


def updates(size: float, seed: int, same_direction: bool = False) -> list[float]:
    """Root mean square of the update over the parameters, in units of lr, step by step."""
    torch.manual_seed(seed)
    w = torch.zeros(parameters, requires_grad=True)
    optimizer = torch.optim.Adam([w], lr=lr, betas=(beta1, beta2), eps=1e-12)
    direction, sizes = torch.randn(parameters), []
    for _ in range(steps):
        before = w.detach().clone()
        w.grad = size * (direction if same_direction else torch.randn(parameters))
        optimizer.step()
        sizes.append((w.detach() - before).pow(2).mean().sqrt().item() / lr)
    return sizes


runs = {size: np.array([updates(size, s) for s in seeds]) for size in gradient_sizes}
agreed = np.array([updates(1.0, s, same_direction=True) for s in seeds])
noise = runs[1.0]
step_1 = float(noise[:, 0].mean())
late = float(noise[:, -10:].mean())
step_1_over_late = step_1 / late
spread_over_sizes = float(max(np.abs(runs[s] / noise - 1).max() for s in gradient_sizes))
gradient_size_does_not_matter = spread_over_sizes < 1e-3
agreed_stays_at_lr = bool(np.abs(agreed - 1).max() < 1e-2)
# pure noise: the average of t signs-like terms with weights (1 - b) b^i, normed
t = np.arange(1, steps + 1)
theory = np.sqrt((1 - beta1) / (1 + beta1) * (1 + beta1**t) / (1 - beta1**t))
late_theory = float(np.sqrt((1 - beta1) / (1 + beta1)))
print(f"step 1: {step_1:.3f} lr; steps {steps - 9} to {steps}: {late:.2f} lr, ", end="")
print(f"theory {late_theory:.3f} lr")
print("same for gradients of size", *gradient_sizes, gradient_size_does_not_matter)

low, high = np.percentile(noise, [5, 95], axis=0)
fig, ax = plt.subplots()
ax.fill_between(t, low, high, alpha=0.3, color="C0", linewidth=0)
ax.plot(t, noise.mean(axis=0), color="C0")
ax.plot(t, theory, "--", color="C5")
ax.plot(t, agreed.mean(axis=0), color="C1")
ax.text(20, 0.93, "gradients that agree")
ax.text(20, 0.29, "gradients that are noise")
ax.set(xlabel="step", ylabel="update per parameter / lr", ylim=(0, 1.1))
plt.savefig("update.svg")
columns = [t, noise.mean(axis=0), low, high, theory, agreed.mean(axis=0)]
header = "step,noise mean,noise p5,noise p95,noise theory,agreed mean"
np.savetxt("update.csv", np.column_stack(columns), "%.4g", ",", header=header, comments="")
