# limits: 600 s
# timed: ratios of one run
# The same comparison in fp32 and bf16, on one thread and on two.
import statistics
import time

import torch
from torch import nn

batch, seq, d_model, rounds = 2, 128, 1024, 200


class RMSNorm(nn.RMSNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:  # as in LLaMA: fp32 inside
        x32 = x.float()
        unit = x32 * torch.rsqrt(x32.square().mean(-1, keepdim=True) + 1e-6)
        return unit.to(x.dtype) * self.weight


class LayerNorm(nn.LayerNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x32 = x.float()
        centered = x32 - x32.mean(-1, keepdim=True)
        unit = centered * torch.rsqrt(centered.square().mean(-1, keepdim=True) + 1e-5)
        return unit.to(x.dtype) * self.weight + self.bias


kinds: dict[str, type[nn.Module]] = {"RMSNorm by hand": RMSNorm, "nn.RMSNorm": nn.RMSNorm}
kinds |= {"LayerNorm by hand": LayerNorm, "nn.LayerNorm": nn.LayerNorm}
best: dict[tuple[str, str, int, bool], float] = {}
for dtype in (torch.float32, torch.bfloat16):
    norms = {name: kind(d_model).to(dtype) for name, kind in kinds.items()}
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for backward in (False, True):
            x = torch.randn(batch, seq, d_model, dtype=dtype, requires_grad=backward)
            grad = torch.ones_like(x)
            seconds: dict[str, list[float]] = {name: [] for name in norms}
            for _ in range(2 + rounds):  # two to warm up
                for name, norm in norms.items():
                    start = time.perf_counter()
                    with torch.set_grad_enabled(backward):
                        y = norm(x)
                    if backward:
                        y.backward(grad)
                    seconds[name].append(time.perf_counter() - start)
            for name, each in seconds.items():
                key = str(dtype).removeprefix("torch."), threads, backward
                best[name, *key] = min(each[2:])  # what other programs left alone

rows = []
for dtype_name in ("float32", "bfloat16"):
    for backward in (False, True):
        for threads in (1, 2):
            times = {name: best[name, dtype_name, threads, backward] for name in kinds}
            rms, layer = (
                min(best[name, dtype_name, n, backward] for n in (1, 2))
                for name in ("nn.RMSNorm", "nn.LayerNorm")
            )
            rows.append(
                {
                    "dtype": dtype_name,
                    "pass": "forward + backward" if backward else "forward",
                    "threads": threads,
                    "both by hand": round(times["RMSNorm by hand"] / times["LayerNorm by hand"], 2),
                    "by hand / nn.LN": round(times["RMSNorm by hand"] / times["nn.LayerNorm"], 2),
                    "nn / nn": round(times["nn.RMSNorm"] / times["nn.LayerNorm"], 2),
                    "nn / nn at best": round(rms / layer, 2),
                }
            )
print(*rows[0], sep=" | ")
for row in rows:
    print(*row.values(), sep=" | ")
middle = {}  # of the four cases on one thread: two wait for each other, and for other programs
for pair in ("both by hand", "nn / nn", "nn / nn at best"):
    middle[pair] = statistics.median(float(row[pair]) for row in rows if row["threads"] == 1)
    print(f"{pair}: {middle[pair]:.2f} in the middle")
