# Peri-LN against sandwich: the same block, but Peri-LN also norms the embedding
import torch
from torch import nn

seeds = range(20)
d_model, depth, vocabulary = 64, 4, 100
scale, shift = 3, 1


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        wide = 4 * d_model
        self.f = nn.Sequential(nn.Linear(d_model, wide), nn.GELU(), nn.Linear(wide, d_model))
        self.norm, self.norm_out = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.norm_out(self.f(self.norm(x)))


class Stack(nn.Module):
    def __init__(self, norm_embedding: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.norm_embedding = nn.LayerNorm(d_model) if norm_embedding else nn.Identity()
        self.blocks = nn.Sequential(*(Block() for _ in range(depth)))
        self.final_norm = nn.LayerNorm(d_model)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.final_norm(self.blocks(self.norm_embedding(self.embedding(tokens))))


def moved_by_scaling(stack: Stack, tokens: torch.Tensor) -> float:
    """Change of the output, relative, when the embedding is scaled and shifted."""
    with torch.no_grad():
        before = stack(tokens)
        stack.embedding.weight.mul_(scale).add_(shift)
        return ((stack(tokens) - before).norm() / before.norm()).item()


moved: dict[str, list[float]] = {"Peri-LN": [], "sandwich": []}
for seed in seeds:
    torch.manual_seed(seed)
    tokens = torch.randint(vocabulary, (2, 8))
    moved["Peri-LN"].append(moved_by_scaling(Stack(norm_embedding=True), tokens))
    moved["sandwich"].append(moved_by_scaling(Stack(norm_embedding=False), tokens))
peri_does_not_see_the_scale = max(moved["Peri-LN"]) < 1e-3
sandwich_sees_it = min(moved["sandwich"]) > 0.1
print("Peri-LN sees the scale of the embedding:", not peri_does_not_see_the_scale)
print("sandwich sees it:", sandwich_sees_it)
