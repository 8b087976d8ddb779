# limits: 600 s, 4 GB
# timed: ratios of one run
# Fused by torch.compile, is RMSNorm faster than LayerNorm? Without a C++ compiler it says so.
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

d_model, rounds = 1024, 31
Norm = Callable[[torch.Tensor], torch.Tensor]
weight, bias = torch.ones(d_model), torch.zeros(d_model)


def rms_norm_by_hand(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * weight


def layer_norm_by_hand(x: torch.Tensor) -> torch.Tensor:
    centered = x - x.mean(-1, keepdim=True)
    variance = centered.square().mean(-1, keepdim=True)
    return centered * torch.rsqrt(variance + 1e-5) * weight + bias


def ratio(times: list[float], to: list[float]) -> float:
    """Median over rounds: what slows one call of a round slows the next one too."""
    return statistics.median(a / b for a, b in zip(times, to, strict=True))


torch.set_num_threads(1)
# of this thread alone: other programs run too; on Windows that clock ticks too rarely
clock = time.perf_counter if sys.platform == "win32" else time.thread_time
norms: dict[str, Norm] = {
    "copy to a new tensor": torch.clone,
    "nn.LayerNorm": nn.LayerNorm(d_model),
    "RMSNorm by hand": rms_norm_by_hand,
}
has_compiler = any(map(shutil.which, ("c++", "g++", "clang++", "cl")))
if has_compiler:
    options: dict[str, Any] = {"cpp_cache_precompile_headers": False}  # or it writes a large file
    for form in (layer_norm_by_hand, rms_norm_by_hand):
        name = "RMSNorm, compiled" if form is rms_norm_by_hand else "LayerNorm, compiled"
        norms[name] = torch.compile(form, dynamic=True, options=options)
else:
    print("no C++ compiler on the PATH: torch.compile cannot build CPU code")

relative: dict[str, dict[str, float]] = {}  # to nn.LayerNorm
compiled_agree, fused = [], []
with torch.no_grad():
    for batch in (1, 8, 64):
        x = torch.randn(batch, 128, d_model)
        for name, norm in norms.items():  # compiles, warms up
            if name == "RMSNorm, compiled":
                compiled_agree.append(torch.allclose(norm(x), rms_norm_by_hand(x), atol=1e-5))
            norm(x)
        seconds: dict[str, list[float]] = {name: [] for name in norms}
        calls = max(1, 8 // batch)
        for _ in range(rounds):
            for name, norm in norms.items():
                start = clock()
                for _ in range(calls):
                    norm(x)
                seconds[name].append(clock() - start)
        base = seconds["nn.LayerNorm"]
        relative[f"{batch} x 128 x {d_model}"] = {n: ratio(seconds[n], base) for n in norms}
        if has_compiler:
            rms, layer = seconds["RMSNorm, compiled"], seconds["LayerNorm, compiled"]
            fused.append(ratio(rms, layer))
            gained_by_fusing = ratio(seconds["RMSNorm by hand"], rms)  # at the last, largest shape

by_norm = [{"norm": name, **{s: round(relative[s][name], 2) for s in relative}} for name in norms]
print("time relative to nn.LayerNorm, by shape")
for row in by_norm:
    print(*row.values())
if has_compiler:
    fused_large = fused[-1]  # RMSNorm over LayerNorm, both compiled
    fusing_pays = gained_by_fusing > 1.5
    compiled_agrees = all(compiled_agree)
    print("RMSNorm over LayerNorm, both compiled:", *(f"{ratio:.2f}" for ratio in fused))
    print(f"fusing RMSNorm makes it {gained_by_fusing:.1f} times as fast at the largest shape")
