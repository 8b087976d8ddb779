# What torch's norms do by default, read off torch itself.
import torch
import torch.nn.functional as F
from torch import nn

seeds = range(20)
d_model = 4096


def parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


layer_norm, batch_norm = nn.LayerNorm(d_model), nn.BatchNorm1d(d_model)
layer_norm_parameters, batch_norm_parameters = parameters(layer_norm), parameters(batch_norm)
layer_norm_parameters_without_bias = parameters(nn.LayerNorm(d_model, bias=False))
rms_norm_parameters = parameters(nn.RMSNorm(d_model))
batch_norm_running_values = sum(b.numel() for b in batch_norm.buffers() if b.dim())
print(f"parameters at {d_model}: LayerNorm {layer_norm_parameters}, RMSNorm {rms_norm_parameters}")

layer_norm_eps, batch_norm_eps = layer_norm.eps, batch_norm.eps
group_norm_eps, instance_norm_eps = nn.GroupNorm(1, 8).eps, nn.InstanceNorm1d(8).eps
rms_norm_eps_is_none = nn.RMSNorm(8).eps is None


def eps_in_use(dtype: torch.dtype) -> float:
    """RMSNorm of a constant c is c / sqrt(c^2 + eps): solve for eps; c = 2^-13 is exact here."""
    c = torch.full((8,), 2.0**-13, dtype=dtype)
    return c[0].item() ** 2 * (1 / F.rms_norm(c, (8,))[0].item() ** 2 - 1)


rms_norm_eps_fp64, rms_norm_eps_fp32 = eps_in_use(torch.float64), eps_in_use(torch.float32)
rms_norm_eps_bf16, rms_norm_eps_fp16 = eps_in_use(torch.bfloat16), eps_in_use(torch.float16)
rms_norm_eps_bf16_is_that_of_fp32 = abs(rms_norm_eps_bf16 / rms_norm_eps_fp32 - 1) < 0.05
machine_epsilon_fp32 = torch.finfo(torch.float32).eps
machine_epsilon_bf16 = torch.finfo(torch.bfloat16).eps
print(f"eps: LayerNorm {layer_norm_eps}, BatchNorm1d {batch_norm_eps}, RMSNorm None, which means")
print(f"  {rms_norm_eps_fp32:.2g} for fp32 input and {rms_norm_eps_bf16:.2g} for bf16")

# bf16 in, bf16 out: are statistics and weight applied in fp32, with one rounding at the end?
once = late = layer_once = 0.0  # share of identical outputs
for seed in seeds:
    torch.manual_seed(seed)
    x = (3 * torch.randn(16, 256) + 2).bfloat16()  # (tokens, features)
    w, b = (1 + 0.3 * torch.randn(256)).bfloat16(), torch.randn(256).bfloat16()
    y, unit = F.rms_norm(x, (256,), w, 1e-6), F.rms_norm(x.float(), (256,), None, 1e-6)
    once += y.eq((unit * w.float()).bfloat16()).double().mean().item() / len(seeds)
    late += y.eq(unit.bfloat16() * w).double().mean().item() / len(seeds)
    z = F.layer_norm(x.float(), (256,), w.float(), b.float()).bfloat16()
    layer_once += F.layer_norm(x, (256,), w, b).eq(z).double().mean().item() / len(seeds)
rms_norm_rounds_once = once > 0.999 and late < 0.9
layer_norm_rounds_once = layer_once > 0.999
print(
    "fp32 inside, one rounding: RMSNorm", rms_norm_rounds_once, "LayerNorm", layer_norm_rounds_once
)

default_is_post_norm = not nn.TransformerEncoderLayer(8, 2).norm_first
transformer = nn.Transformer(8, 2, 1, 1, 8, batch_first=True)
default_stack_ends_with_a_norm = isinstance(transformer.encoder.norm, nn.LayerNorm)
x = torch.randn(2, 5, 8)  # (batch, seq, d_model)
shape_is_kept = nn.LayerNorm(8)(x).shape == x.shape
statistics_shape = list(torch.native_layer_norm(x, (8,), None, None, 1e-5)[1].shape)
print(f"TransformerEncoderLayer is post-norm by default: {default_is_post_norm}")
print(f"means of a (2, 5, 8) input have shape {statistics_shape}")
