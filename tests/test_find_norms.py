"""Proves on small hand-made models what the detector of norms finds, and that it says where it cannot tell."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import Tensor, nn

MODELS = Path(__file__).parents[1] / "snippets" / "models"
D = 16
Found = dict[str, Any]
Find = Callable[..., Found]


@pytest.fixture(scope="module")
def find() -> Iterator[Find]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(MODELS)
        yield runpy.run_path("find_norms.py")["find_norms"]


class Wired(nn.Module):
    """A block with two norms N and M, a branch F, and a given way to join them."""

    def __init__(self, wire: Callable[[Any, Tensor], Tensor], norm: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.wire = wire
        self.N, self.M = norm(), norm()
        self.F = nn.Sequential(nn.Linear(D, 24), nn.GELU(approximate="tanh"), nn.Linear(24, D))

    def forward(self, x: Tensor) -> Tensor:
        return self.wire(self, x)


class Stack(nn.Module):
    def __init__(self, blocks: list[nn.Module], final: nn.Module | None = None) -> None:
        super().__init__()
        self.embed, self.layers = nn.Embedding(11, D), nn.ModuleList(blocks)
        self.end, self.head = final or nn.Identity(), nn.Linear(D, 11)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.end(x))  # type: ignore[no-any-return]


def rms() -> nn.Module:
    return nn.RMSNorm(D, eps=1e-6)


def stack(wire: Callable[[Any, Tensor], Tensor], norm: Callable[[], nn.Module] = rms, final: bool = False) -> Stack:
    return Stack([Wired(wire, norm) for _ in range(2)], norm() if final else None)


IDS = torch.arange(7)[None]


def places(found: Found, name: str) -> list[str]:
    return next(norm["places"] for norm in found["norms"] if norm["name"] == name)


def kinds(found: Found) -> set[str]:
    return {kind for kind, *_ in found["branches"]}


def only(find: Find, norm: nn.Module) -> Any:
    """What is found of a norm that stands alone before a linear map."""
    found = find(nn.Sequential(norm, nn.Linear(D, D)), torch.randn(2, 5, D))
    assert len(found["norms"]) == 1, found["norms"]
    return found["norms"][0]


# --- what a norm does ----------------------------------------------------------------------------------------------


class Rms(nn.Module):
    """An RMSNorm with every choice open."""

    def __init__(self, plus: float = 0.0, cast: str = "end", eps: float = 1e-5, outside: bool = False) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(D) if plus else torch.ones(D))
        self.plus, self.cast, self.eps, self.outside = plus, cast, eps, outside

    def forward(self, x: Tensor) -> Tensor:
        wide = x if self.cast == "throughout" else x.float()
        mean = wide.pow(2).mean(-1, keepdim=True)
        u = wide / (mean.sqrt() + self.eps) if self.outside else wide * torch.rsqrt(mean + self.eps)
        if self.cast == "early":
            return (self.weight + self.plus) * u.to(x.dtype)
        return (u * (self.weight.to(wide.dtype) + self.plus)).to(x.dtype)


class Tanh(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.alpha, self.weight = nn.Parameter(torch.tensor(0.5)), nn.Parameter(torch.ones(D))
        self.bias = nn.Parameter(torch.zeros(D))

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * torch.tanh(self.alpha * x) + self.bias


class Quantized(nn.Module):
    """Its weight is stored as integers and a scale."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("packed", torch.randint(40, 127, (D,), dtype=torch.int8))

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, (D,), eps=1e-6) * (self.packed.float() / 64)  # type: ignore[operator]


class Fused(nn.Module):
    """A norm and the linear map behind it in one."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(D, D))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) @ self.weight


@pytest.mark.parametrize(
    ("norm", "expected"),
    [
        (nn.LayerNorm(D), {"family": "LayerNorm", "weight": "w", "bias": True, "eps": 1e-5, "parameters": 2 * D}),
        (nn.LayerNorm(D, bias=False, eps=1e-12), {"family": "LayerNorm", "weight": "w", "bias": False, "eps": 1e-12}),
        (nn.LayerNorm(D, elementwise_affine=False), {"family": "LayerNorm", "weight": "none", "parameters": 0}),
        (nn.RMSNorm(D), {"family": "RMSNorm", "weight": "w", "bias": False, "eps": 1.19e-7}),
        (nn.RMSNorm(D, eps=1e-6), {"eps": 1e-6, "eps place": "in the root", "cast": "fp32 to the end"}),
        (Rms(cast="early"), {"weight": "w", "cast": "fp32, cast, then the weight"}),
        (Rms(cast="throughout"), {"weight": "w", "cast": "bf16 throughout"}),
        (Rms(plus=1.0), {"family": "RMSNorm", "weight": "1 + w", "eps": 1e-5}),
        (Rms(outside=True, eps=1e-3), {"eps": 1e-3, "eps place": "outside the root"}),
        (Tanh(), {"family": "DyT", "weight": "w", "bias": True}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else "",
)
def test_a_norm_is_known_by_what_it_does(find: Find, norm: nn.Module, expected: dict[str, Any]) -> None:
    found = only(find, norm)
    assert {key: found[key] for key in expected} == expected


def test_a_quantized_weight_and_a_fused_map_are_named_as_what_cannot_be_told(find: Find) -> None:
    quantized, fused = only(find, Quantized()), only(find, Fused())
    assert (quantized["family"], quantized["eps"]) == ("RMSNorm", None)
    assert quantized["weight"].startswith("cannot tell: a factor that no floating parameter sets")
    assert fused["family"].startswith("cannot tell: scale invariant, but no w * norm(x) + b")


@pytest.mark.parametrize("other", [nn.GELU(), nn.Tanh(), nn.Softmax(-1), nn.Identity(), nn.Linear(D, D), nn.ReLU()])
def test_what_is_no_norm_is_not_taken_for_one(find: Find, other: nn.Module) -> None:
    assert find(nn.Sequential(other, nn.Linear(D, D)), torch.randn(2, 5, D))["norms"] == []


# --- where it stands -----------------------------------------------------------------------------------------------


def in_place(b: Any, x: Tensor) -> Tensor:
    x += b.F(b.N(x))
    return x


def skip_too(b: Any, x: Tensor) -> Tensor:
    x = b.N(x)
    return x + b.F(x)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("wire", "place", "kind", "block"),
    [
        (lambda b, x: x + b.F(b.N(x)), "pre", "pre", "x"),
        (in_place, "pre", "pre", "x"),
        (lambda b, x: b.N(x + b.F(x)), "post", "post", "RMSNorm(x)"),
        (lambda b, x: x + b.N(b.F(x)), "branch output", "reordered", "x"),
        (lambda b, x: x + b.M(b.F(b.N(x))), "pre", "sandwich", "x"),
        (lambda b, x: b.M(x + b.F(b.N(x))), "pre", "pre and post", "RMSNorm(x)"),
        (skip_too, "pre, and of the skip", "pre, skip too", "RMSNorm(x)"),
    ],
    ids=["pre", "in place", "post", "reordered", "sandwich", "pre and post", "the skip too"],
)
def test_the_place_is_told_in_two_ways(find: Find, wire: Any, place: str, kind: str, block: str) -> None:
    found = find(stack(wire), IDS)
    assert places(found, "layers.1.N") == [place]
    assert kinds(found) == {kind}
    assert set(found["blocks"].values()) == {block}


def test_a_stack_that_changes_the_models_own_input_in_place(find: Find) -> None:
    given = torch.randn(1, 5, D)
    before = given.clone()
    found = find(nn.Sequential(*(Wired(in_place, rms) for _ in range(2))), given)
    assert (places(found, "0.N"), kinds(found)) == (["pre"], {"pre"})
    assert torch.equal(given, before)


def test_the_final_norm_is_what_made_the_heads_input(find: Find) -> None:
    assert places(find(stack(lambda b, x: x + b.F(b.N(x)), final=True), IDS), "end") == ["final"]


def test_a_final_norm_behind_a_post_norm_reads_a_normed_input(find: Find) -> None:
    found = find(stack(lambda b, x: b.N(x + b.F(x)), final=True), IDS)
    assert places(found, "layers.1.N") == ["post"]
    assert places(found, "end") == ["final, of a normed input"]


def test_a_norm_of_a_normed_input_is_said_to_be_one(find: Find) -> None:
    found = find(stack(lambda b, x: x + b.F(b.M(b.N(x)))), IDS)
    assert (places(found, "layers.0.N"), places(found, "layers.0.M")) == (["pre"], ["pre, of a normed input"])


def test_tied_norms_have_each_of_their_places(find: Find) -> None:
    model = stack(lambda b, x: x + b.F(b.N(x)), final=True)
    model.end = model.layers[0].N  # type: ignore[assignment]
    found = find(model, IDS)
    assert places(found, "layers.0.N = end") == ["pre", "final"]


def test_a_norm_that_is_not_called_has_no_place_but_a_kind(find: Find) -> None:
    found = find(stack(lambda b, x: x + b.F(b.N(x)), lambda: Rms(plus=1.0)), IDS)
    idle = next(norm for norm in found["norms"] if norm["name"] == "layers.0.M")
    assert (idle["places"], idle["weight"]) == (["cannot tell: never called"], "1 + w")


def test_a_norm_written_out_is_reported(find: Find) -> None:
    found = find(stack(lambda b, x: x + b.F(x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True)))), IDS)
    assert found["problems"][0] == "layers.0: cannot tell: a norm by hand"


def test_a_function_counts_as_a_norm(find: Find) -> None:
    found = find(stack(lambda b, x: x + b.F(F.layer_norm(x, (D,)))), IDS)
    assert places(found, "layers.0: F.layer_norm") == ["pre"]


def test_constant_factors_of_skip_and_branch_are_read(find: Find) -> None:
    found = find(stack(lambda b, x: 2 * x + 0.25 * b.F(b.N(x))), IDS)
    assert found["branches"] == [["pre", 2.0, 0.25]] * 2
    assert set(found["blocks"].values()) == {"2 x"}


class Attention(nn.Module):
    """Two heads of queries, keys and values, each of which may be normed."""

    def __init__(self, per_head: bool, values: bool = False) -> None:
        super().__init__()
        self.maps = nn.ModuleList(nn.Linear(D, D) for _ in range(4))
        self.q, self.k = (nn.RMSNorm(D // 2 if per_head else D) for _ in "qk")
        self.v, self.per_head = nn.RMSNorm(D // 2) if values else nn.Identity(), per_head

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (f(x) for f in self.maps[:3])
        if not self.per_head:
            q, k = self.q(q), self.k(k)
        q, k, v = (t.unflatten(-1, (2, -1)).transpose(1, 2) for t in (q, k, v))
        if self.per_head:
            q, k = self.q(q), self.k(k)
        weights = (q @ k.transpose(-1, -2) / 3).softmax(-1)
        return self.maps[3]((weights @ self.v(v)).transpose(1, 2).flatten(2))  # type: ignore[no-any-return]


class Parallel(nn.Module):
    def __init__(self, norms: int, values: bool = False, chained: bool = False) -> None:
        super().__init__()
        self.N, self.chained = nn.ModuleList(rms() for _ in range(norms)), chained
        self.A, self.F = Attention(True, values), nn.Sequential(nn.Linear(D, 24), nn.ReLU(), nn.Linear(24, D))

    def forward(self, x: Tensor) -> Tensor:
        read = self.N[0](x)
        a, f = self.A(read), self.F(read if len(self.N) == 1 else self.N[1](x))
        return x + a + f if self.chained else x + (a + f)  # type: ignore[no-any-return]


@pytest.mark.parametrize("per_head", [True, False])
def test_norms_of_queries_and_keys(find: Find, per_head: bool) -> None:
    block = Wired(lambda b, x: x + b.F(b.N(x)), rms)
    block.F = Attention(per_head)  # type: ignore[assignment]
    found = find(Stack([block]), IDS)
    for name in ("layers.0.F.q", "layers.0.F.k"):
        assert places(found, name) == ["QK"]
    assert {n["width"] for n in found["norms"] if n["name"].endswith((".q", ".k"))} == {D // 2 if per_head else D}


@pytest.mark.parametrize("chained", [True, False])
@pytest.mark.parametrize(("norms", "kind"), [(1, "parallel, one norm"), (2, "parallel, two norms")])
def test_parallel_branches(find: Find, norms: int, kind: str, chained: bool) -> None:
    found = find(Stack([Parallel(norms, values=True, chained=chained) for _ in range(2)]), IDS)
    assert kinds(found) == {kind}
    assert places(found, "layers.0.A.v") == ["V"]


def test_an_embedding_norm(find: Find) -> None:
    model = stack(lambda b, x: x + b.F(b.N(x)))
    model.embed = nn.Sequential(model.embed, nn.LayerNorm(D))  # type: ignore[assignment]
    assert places(find(model, IDS), "embed.1") == ["embedding"]


def test_streams_mixed_by_a_product_are_no_residual_sum(find: Find) -> None:
    class Mixing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.N, self.F, self.mix = rms(), nn.Linear(D, D), nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Tensor:
            written = self.F(self.N(x.mean(-2)))
            return self.mix(x.transpose(-1, -2)).transpose(-1, -2) + written[..., None, :]  # type: ignore[no-any-return]

    found = find(nn.Sequential(Mixing(), Mixing()), torch.randn(1, 5, 3, D))
    assert found["streams"] == 3
    assert all(place.startswith("cannot tell") for norm in found["norms"] for place in norm["places"])


def test_the_stack_of_pytorch_ends_in_two_norms(find: Find) -> None:
    layer = nn.TransformerEncoderLayer(D, 2, 24, batch_first=True)
    found = find(nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(D)), torch.randn(1, 5, D))
    assert kinds(found) == {"post"}
    assert places(found, "norm") == ["final, of a normed input"]
    assert set(found["blocks"].values()) == {"LayerNorm(x)"}


def test_it_needs_gradients_and_sees_to_them(find: Find) -> None:
    with torch.no_grad():
        assert places(find(stack(lambda b, x: x + b.F(b.N(x))), IDS), "layers.1.N") == ["pre"]


def test_the_model_is_left_as_it_was(find: Find) -> None:
    model = stack(lambda b, x: x + b.F(b.N(x)))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    model.requires_grad_(False)
    find(model, IDS)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not any(p.requires_grad for p in model.parameters())
    assert model.training
