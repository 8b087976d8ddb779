# Does a model have a final norm, and is it used? Ask the head what it was fed, not the names
import torch
from torch import nn

seeds = range(20)
d_model, vocabulary = 32, 100


class Net(nn.Module):
    """Pre-norm blocks, with the final norm used, missing, forgotten, or applied again."""

    def __init__(self, use: str) -> None:
        super().__init__()
        self.use, self.embed = use, nn.Embedding(vocabulary, d_model)
        self.norms = nn.ModuleList(nn.RMSNorm(d_model) for _ in range(4))
        self.branches = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        self.norm = None if use == "missing" else nn.RMSNorm(d_model)
        self.head = nn.Linear(d_model, vocabulary, bias=False)

    def forward(self, token: torch.Tensor) -> torch.Tensor:
        x = self.embed(token)
        for norm, branch in zip(self.norms, self.branches, strict=True):
            x = x + torch.relu(branch(norm(x)))
        for _ in range({"used": 1, "twice": 2}.get(self.use, 0)):
            x = self.norm(x) if self.norm else x
        return self.head(x)


def final_norms(model: nn.Module, head: nn.Module, *inputs: torch.Tensor) -> list[str]:
    """The norms that stand between the stream and the head, nearest to the head at the front."""
    made: dict[int, tuple[str, torch.Tensor, torch.Tensor]] = {}  # by the address of the output
    found, fed, hooks = [], [], []
    for name, module in model.named_modules():
        if "Norm" in type(module).__name__:
            hooks.append(
                module.register_forward_hook(
                    lambda m, args, out, name=name: made.update({id(out): (name, args[0], out)})
                )
            )
    hooks.append(head.register_forward_pre_hook(lambda m, args: fed.append(args[0])))
    model(*inputs)
    for hook in hooks:
        hook.remove()
    x = fed[0]
    while id(x) in made:
        name, x, _ = made[id(x)]
        found.append(name)
    return found


found: dict[str, list[list[str]]] = {}
article: dict[str, bool] = {}
for use in ("used", "missing", "forgotten", "twice"):
    for seed in seeds:
        torch.manual_seed(seed)
        net = Net(use)
        found.setdefault(use, []).append(final_norms(net, net.head, torch.arange(8)))
    article[use] = hasattr(net, "norm") and isinstance(net.norm, nn.Module)
    print(f"{use:9} by the head: {found[use][0]}, by the attribute: {article[use]}")
wanted = {"used": ["norm"], "missing": [], "forgotten": [], "twice": ["norm", "norm"]}
finder_is_right = all(f == wanted[use] for use, fs in found.items() for f in fs)
attribute_is_fooled = article["forgotten"]
