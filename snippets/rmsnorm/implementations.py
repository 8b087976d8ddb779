# Which implementations of RMSNorm return the same bits, in fp32, bf16 and fp16?
from collections.abc import Callable

import torch
import torch.nn.functional as F

seeds = range(20)
d_model, tokens, eps = 1024, 64, 1e-6
Norm = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def unit32(x: torch.Tensor) -> torch.Tensor:
    x32 = x.float()
    return x32 * torch.rsqrt(x32.square().mean(-1, keepdim=True) + eps)


def low_precision(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def llama(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return weight * unit32(x).to(x.dtype)  # rounds before the weight and after it


def t5(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    mean_square = x.float().square().mean(-1, keepdim=True)
    x = x * torch.rsqrt(mean_square + eps)  # fp32 again: the root is
    return weight * (x.to(weight.dtype) if weight.dtype != torch.float32 else x)


def gemma(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    stored = (weight.float() - 1).to(weight.dtype)  # what its checkpoint would hold
    return (unit32(x) * (1 + stored.float())).to(x.dtype)  # rounds once


def once(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return (unit32(x) * weight.float()).to(x.dtype)


def torch_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, (d_model,), weight, eps)


norms: dict[str, Norm] = {
    "nn.RMSNorm": torch_norm,
    "fp32, rounded once": once,
    "LLaMA": llama,
    "T5": t5,
    "Gemma, 1 + w": gemma,
    "no cast": low_precision,
}
dtypes = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
equal = {d: {a: dict.fromkeys(norms, 0.0) for a in norms} for d in dtypes}  # share of rows
entries = {d: dict.fromkeys(norms, 0.0) for d in dtypes}  # share equal to nn.RMSNorm's
steps = {d: dict.fromkeys(norms, 0.0) for d in dtypes}  # largest difference, in units of eps
for seed in seeds:
    torch.manual_seed(seed)
    x32 = torch.randn(tokens, d_model) * 2.0
    weight32 = 1 + 0.2 * torch.randn(d_model)
    for d, dtype in dtypes.items():
        x, weight = x32.to(dtype), weight32.to(dtype)
        out = {name: norm(x, weight) for name, norm in norms.items()}
        reference = out["nn.RMSNorm"].double()
        for a in norms:
            entries[d][a] += (out[a] == out["nn.RMSNorm"]).double().mean().item() / len(seeds)
            relative = (out[a].double() - reference).abs() / reference.abs().clamp(min=1e-3)
            steps[d][a] = max(steps[d][a], relative.max().item() / torch.finfo(dtype).eps)
            for b in norms:
                rows = (out[a] == out[b]).all(-1).double().mean().item()
                equal[d][a][b] += rows

for shares in (shares for by_dtype in equal.values() for shares in by_dtype.values()):
    shares.update({b: rows / len(seeds) for b, rows in shares.items()})
table = [
    {"entries equal to nn.RMSNorm": a, **{d: f"{entries[d][a]:.1%}" for d in dtypes}} for a in norms
]
for row in table:
    print(*row.values(), sep=" | ")
for d in dtypes:
    print(d, "share of rows equal in all entries:")
    for a in norms:
        print(f"  {a:19}", *(f"{equal[d][a][b]:.2f}" for b in norms))
same_bits_in_fp32 = all(share == 1 for row in equal["fp32"].values() for share in row.values())
llama_rows = max(equal[d]["nn.RMSNorm"]["LLaMA"] for d in ("bf16", "fp16"))
no_row_as_llama = llama_rows == 0
gemma_differs = 1 - entries["bf16"]["Gemma, 1 + w"]
fewer_without_cast = 0.5 < entries["bf16"]["no cast"] < entries["bf16"]["LLaMA"]
llama_is_t5 = all(equal[d]["LLaMA"]["T5"] == 1 for d in dtypes)
torch_rounds_once = all(equal[d]["nn.RMSNorm"]["fp32, rounded once"] == 1 for d in dtypes)
one_step_at_most = max(steps[d]["LLaMA"] for d in ("bf16", "fp16")) <= 1
rows_bf16 = [{"bf16": a, **{b: f"{equal['bf16'][a][b]:.0%}" for b in norms}} for a in norms]
