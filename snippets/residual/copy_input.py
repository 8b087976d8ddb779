# Can a deep stack learn to copy its input, or to rotate it? Plain against residual, by depth
# limits: 180 s, 2 GB
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F

seeds = range(10)
d_model, batch, steps, rate = 16, 32, 100, 3e-3
depths = [2, 20, 56]  # linear layers; two a block
tasks = ["copy", "rotate"]


def train(residual: bool, task: str, depth: int) -> torch.Tensor:
    """Mean squared error between vectors of rms one, by seed."""
    generators = [torch.Generator().manual_seed(1000 * s + depth) for s in seeds]

    def draw(*shape: int) -> torch.Tensor:  # (seeds, *shape)
        return torch.stack([torch.randn(*shape, generator=g) for g in generators])

    # He initialization after a ReLU, 1 / d_model otherwise: the signal keeps its size
    scale = torch.tensor([1.0, 2.0]).repeat(depth // 2).div(d_model).sqrt()[:, None, None]
    weights = (draw(depth, d_model, d_model) * scale).requires_grad_()
    optimizer = torch.optim.Adam([weights], lr=rate)
    rotation = torch.linalg.qr(draw(d_model, d_model))[0]

    def loss(x: torch.Tensor) -> torch.Tensor:  # (seeds, batch, d_model) -> (seeds,)
        y = x
        for up, down in zip(*[iter(weights.unbind(1))] * 2, strict=True):
            f = torch.relu(F.rms_norm(y, (d_model,)) @ up) @ down  # normalized, as in ResNet
            y = y + f if residual else f
        target = F.rms_norm(x if task == "copy" else x @ rotation, (d_model,))
        return (F.rms_norm(y, (d_model,)) - target).pow(2).mean(dim=(1, 2))

    for _ in range(steps):
        optimizer.zero_grad()
        loss(draw(batch, d_model)).sum().backward()  # each seed has weights of its own
        optimizer.step()
    return loss(draw(batch, d_model)).detach()


kinds = [(task, kind) for task in tasks for kind in ("plain", "residual")]
error = {
    (task, kind): torch.stack([train(kind == "residual", task, n) for n in depths]).double().numpy()
    for task, kind in kinds
}  # (depths, seeds)
left = {f"{t}_{k}": np.median(v, axis=1).tolist() for (t, k), v in error.items()}
unrelated = 2.0  # of two independent vectors of rms one
residual_wins_at_20_and_56 = all(
    (error[t, "residual"] < error[t, "plain"])[1:].all() for t in tasks
)
residual_below_half = all(
    left[f"{t}_residual"][-1] < left[f"{t}_plain"][-1] / 2 for t in tasks
)  # of the plain stack's error, in the median at the deepest
plain_wins_rotation_at_2 = left["rotate_plain"][0] < left["rotate_residual"][0]
for i, n in enumerate(depths):
    print(f"{n:2} layers:", ", ".join(f"{name} {v[i]:.3f}" for name, v in left.items()))

table = [np.array(depths, dtype=float)]
for task in tasks:
    fig, ax = plt.subplots()
    for color, kind in (("C1", "plain"), ("C0", "residual")):
        low, middle, high = np.percentile(error[task, kind], [5, 50, 95], axis=1)
        ax.fill_between(depths, low, high, alpha=0.3, color=color, linewidth=0)
        ax.plot(depths, middle, color=color, marker="o")
        ax.text(depths[-1], middle[-1] + 0.13, kind, color=color, ha="right")
        table += [middle, low, high]
    ax.axhline(unrelated, color="C2", linestyle="-.")
    ax.text(2, 2.05, "an unrelated answer", color="C2")
    ax.set(xlabel="linear layers", ylabel="mean squared error", ylim=(0, 2.3))
    plt.savefig(f"{task}.svg")
    header = "layers,plain,plain_p5,plain_p95,residual,residual_p5,residual_p95"
    columns = np.column_stack([table[0], *table[-6:]])
    np.savetxt(f"{task}.csv", columns, "%.4g", ",", header=header, comments="")
