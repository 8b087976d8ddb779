# fp16: where RMSNorm and LayerNorm written by hand stop working, and torch's own do not.
import torch
from torch import nn

seeds = range(50)
d_model, eps = 256, 1e-5
offset = 1000.0


def rms_by_hand(x: torch.Tensor) -> torch.Tensor:
    return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps)  # squares in fp16


def layer_by_hand(x: torch.Tensor) -> torch.Tensor:
    centered = x - x.mean(-1, keepdim=True)
    return centered / torch.sqrt(centered.square().mean(-1, keepdim=True) + eps)


def survives(norm, x: torch.Tensor) -> bool:  # type: ignore[no-untyped-def]
    """An overflowing square makes the output zero."""
    return bool(norm(x.half()).isfinite().all() and norm(x.half()).abs().max() > 0.5)


limit = {}  # the largest |x| that survives, for tokens of plus and minus x, mean zero
signs = torch.ones(d_model)
signs[::2] = -1
for name, norm in {"RMSNorm": rms_by_hand, "LayerNorm": layer_by_hand}.items():
    sizes = torch.arange(200, 300, 0.125)  # the spacing of fp16 here, or finer
    limit[name] = max(size.item() for size in sizes if survives(norm, signs * size))
same_limit = limit["RMSNorm"] == limit["LayerNorm"]
shifted = [torch.randn(d_model, generator=torch.Generator().manual_seed(s)) + offset for s in seeds]
rms_lost_by_offset = not any(survives(rms_by_hand, x) for x in shifted)
layer_kept_with_offset = all(survives(layer_by_hand, x) for x in shifted)
half = torch.float16
modules = (nn.RMSNorm(d_model, eps, dtype=half), nn.LayerNorm(d_model, eps, dtype=half))
loud = signs * 60000
torch_survives = all(survives(norm, x) for norm in modules for x in [loud, *shifted])
print(f"mean zero: largest |x| that survives by hand {limit}")
print(f"mean {offset:.0f}, std 1: RMSNorm by hand is lost in all seeds: {rms_lost_by_offset}")
print(f"  LayerNorm by hand survives in all seeds: {layer_kept_with_offset}")
print(f"nn.RMSNorm and nn.LayerNorm survive all of it: {torch_survives}")

spike = torch.zeros(d_model)
spike[0] = 100.0  # the token with the largest output entry
largest_entry = {
    "RMSNorm": nn.RMSNorm(d_model, eps)(spike).max().item(),
    "LayerNorm": nn.LayerNorm(d_model, eps)(spike).max().item(),
}
print(f"largest output entry at width {d_model}: {largest_entry}")
