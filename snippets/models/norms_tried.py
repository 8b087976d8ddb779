# The detector on small hand-made models: what it finds, and where it says that it cannot tell
# reads: snippets/models/find_norms.py
import csv
import runpy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

find_norms = runpy.run_path("find_norms.py")["find_norms"]
d_model = 16


class Block(nn.Module):
    """Two branches around the stream x; `how` says where their norms stand."""

    def __init__(self, how: Callable[[Tensor, Any, Any], Tensor], names: str) -> None:
        super().__init__()
        self.how = how
        for name in names:
            self.register_module(name, nn.RMSNorm(d_model))
        self.branch = nn.Sequential(nn.Linear(d_model, 32), nn.GELU(), nn.Linear(32, d_model))

    def forward(self, x: Tensor) -> Tensor:
        return self.how(x, lambda x: self.branch(x), self)


def in_place(x: Tensor, f: Any, block: Any) -> Tensor:
    x += f(block.N(x))
    return x


def skip_too(x: Tensor, f: Any, block: Any) -> Tensor:
    x = block.N(x)
    return x + f(x)


def by_hand(x: Tensor, f: Any, block: Any) -> Tensor:
    return x + f(x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


wiring: dict[str, Callable[[Tensor, Any, Any], Tensor]] = {
    "x + F(N(x))": lambda x, f, block: x + f(block.N(x)),
    "N(x + F(x))": lambda x, f, block: block.N(x + f(x)),
    "x + M(F(N(x)))": lambda x, f, block: x + block.M(f(block.N(x))),
    "x + N(F(x))": lambda x, f, block: x + block.N(f(x)),
    "N(x) + F(N(x))": skip_too,
    "x + F(M(N(x)))": lambda x, f, block: x + f(block.M(block.N(x))),
    "2 x + F(N(x)) / 2": lambda x, f, block: 2 * x + 0.5 * f(block.N(x)),
    "x += F(N(x))": in_place,
    "N never called": lambda x, f, block: x + f(x),
    "x / rms(x) written out": by_hand,
}
tried: list[dict[str, str]] = []
for name, how in wiring.items():
    names = [norm for norm in "NM" if norm in name]
    model = nn.Sequential(*(Block(how, "".join(names)) for _ in range(2)))
    found = find_norms(model, torch.randn(1, 5, d_model))
    places = [place for norm in found["norms"] for place in norm["places"]]
    places += [problem.partition(": ")[2] for problem in found["problems"]]
    columns = {
        "the norms stand": places,
        "placement": [kind for kind, *_ in found["branches"]],
        "with all but norms zero": found["blocks"].values(),
    }
    told = {head: "; ".join(dict.fromkeys(cells)) or "–" for head, cells in columns.items()}
    tried.append({"block": name} | told)
with open("tried.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.DictWriter(file, tried[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(tried)
for line in tried:
    print(" | ".join(line.values()))
