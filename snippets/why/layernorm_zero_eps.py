# Exercise: what becomes of eps = 1e-12 in half precision?
import torch
import torch.nn.functional as F

d_model = 64
quiet = torch.tensor([0.0, 1e-4] * (d_model // 2)).half()  # a token with a small spread
constant = torch.ones(d_model).half()


def by_hand(x: torch.Tensor, eps: float) -> torch.Tensor:
    centered = x - x.mean()
    return centered / torch.sqrt(centered.square().mean() + eps)


def by_torch(x: torch.Tensor, eps: float) -> torch.Tensor:
    return F.layer_norm(x, (d_model,), eps=eps)


eps_is_lost_in_fp16 = torch.tensor(1e-12).half().item() == 0
eps_is_kept_in_bf16 = torch.tensor(1e-12).bfloat16().item() > 0
for eps in (1e-12, 1e-5):
    for norm in (by_hand, by_torch):
        values = [f"{norm(x, eps)[0].item():.3f}" for x in (quiet, constant)]
        print(f"eps {eps}, {norm.__name__}: quiet token {values[0]}, constant token {values[1]}")
quiet_by_hand_is_infinite = bool(by_hand(quiet, 1e-12).isinf().all())
constant_by_hand_is_nan = bool(by_hand(constant, 1e-12).isnan().all())
torch_is_finite = all(bool(by_torch(x, 1e-12).isfinite().all()) for x in (quiet, constant))
