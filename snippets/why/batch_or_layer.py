# BatchNorm against LayerNorm on (batch, seq, d_model), point by point: each answer is measured.
import csv

import torch
from torch import nn

seeds = range(50)
batch, tokens, d_model = 8, 16, 32


class BatchNorm(nn.BatchNorm1d):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x.mT).mT  # statistics per feature, over batch and seq


def dependence(norm: nn.Module, x: torch.Tensor) -> dict[str, bool]:
    """Do the outputs of one token change, in any bit, when something else does?"""
    neighbor, later = x.clone(), x.clone()
    neighbor[1:] *= 2
    later[:, -1] *= 2
    padded = torch.cat([x, torch.zeros(batch, 4, d_model)], dim=1)
    y = norm(x)
    return {
        "depends on the other sequences": not y[0].equal(norm(neighbor)[0]),
        "depends on the amount of padding": not y.equal(norm(padded)[:, :tokens]),
        "depends on later tokens": not y[:, :-1].equal(norm(later)[:, :-1]),
    }


def measure(kind: type[nn.Module], seed: int) -> dict[str, float]:
    torch.manual_seed(seed)
    norm, x = kind(d_model), 3 * torch.randn(batch, tokens, d_model) + 2
    in_training = dependence(norm, x)
    y = norm(x)
    loud, wide = x.clone(), x.clone()
    loud[0, 0] *= 5  # one token, rescaled
    wide[..., 0] *= 5  # one feature, rescaled in all tokens
    scale_free = {
        "ignores the scale of one token": y[0, 0].allclose(norm(loud)[0, 0], atol=1e-4),
        "ignores the scale of one feature": y.allclose(norm(wide), atol=1e-4),
    }
    try:
        alone = bool(kind(d_model)(x[:1, :1]).shape)
    except ValueError:
        alone = False
    norm.eval()
    z = torch.randn_like(x)
    middle = norm((x + z) / 2)
    return {
        "learnable parameters": sum(p.numel() for p in norm.parameters()),
        "running statistics": sum(b.numel() for b in norm.buffers() if b.dim()),
        "default eps": norm.eps,
        **{f"{question}, train mode": answer for question, answer in in_training.items()},
        **{f"{question}, eval mode": answer for question, answer in dependence(norm, x).items()},
        "train and eval mode agree": y.allclose(norm(x), atol=1e-4),
        "trains on a single token": alone,
        **scale_free,
        "affine in eval mode": middle.allclose((norm(x) + norm(z)) / 2, atol=1e-4),
    }


kinds: list[type[nn.Module]] = [BatchNorm, nn.LayerNorm]
runs = [[measure(kind, seed) for kind in kinds] for seed in seeds]
same_for_all_seeds = all(run == runs[0] for run in runs)
bn, ln = runs[0]
layernorm_depends_on_nothing_else = not any(a for q, a in ln.items() if q.startswith("depends"))
layernorm_trains_on_one_token = bool(ln["trains on a single token"])
batchnorm_depends_in_train_mode = all(a for q, a in bn.items() if q.endswith("train mode"))
batchnorm_depends_on_nothing_in_eval_mode = not any(
    a for q, a in bn.items() if q.startswith("depends") and q.endswith("eval mode")
)


def cell(answer: float) -> str:
    return ("no", "yes")[answer] if isinstance(answer, bool) else str(answer)


table = [[question, cell(bn[question]), cell(ln[question])] for question in bn]
for row in table:
    print("{:46}{:8}{}".format(*row))
with open("batch_or_layer.csv", "w", newline="") as file:
    csv.writer(file, lineterminator="\n").writerows(
        [["question", "BatchNorm1d", "LayerNorm"], *table]
    )
