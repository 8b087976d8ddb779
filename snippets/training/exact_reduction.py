# The plain training loop against a stack of seeds trained on 64 inputs and their counts
import torch
import torch.nn.functional as F
from torch import Tensor, nn

seeds = range(4)
d_model, hidden, vocabulary, depth, seq, batch = 64, 128, 64, 6, 16, 32
steps, lr = 40, 1e-3
torch.set_default_dtype(torch.float64)  # so that rounding is far below any real difference
members = len(seeds)
tokens_per_step = seq * batch


class Block(nn.Module):  # pre-norm
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.mix = nn.LayerNorm(d_model), nn.Linear(d_model, d_model)
        self.norm2, self.up = nn.LayerNorm(d_model), nn.Linear(d_model, hidden)
        self.down = nn.Linear(hidden, d_model)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.mix(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def network(seed: int) -> nn.Sequential:
    torch.manual_seed(seed)
    blocks = [Block() for _ in range(depth)]
    head = nn.Linear(d_model, vocabulary, bias=False)
    return nn.Sequential(nn.Embedding(vocabulary, d_model), *blocks, nn.LayerNorm(d_model), head)


def data(seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(vocabulary, (steps, batch, seq + 1), generator=generator)


# the plain loop: one network after the other, one forward pass for each token of the batch
plain_losses, plain = torch.zeros(members, steps), [network(seed) for seed in seeds]
for m, seed in enumerate(seeds):
    optimizer = torch.optim.Adam(plain[m].parameters(), lr)
    for step, tokens in enumerate(data(seed)):
        logits = plain[m](tokens[:, :-1])  # (batch, seq, vocabulary)
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        plain_losses[m, step] = loss.item()

# the reduction: all members side by side, each parameter (members, ...), one row for each token
rows = zip(*(network(seed).parameters() for seed in seeds), strict=True)
stacked = [torch.stack([one.data for one in row]).requires_grad_() for row in rows]
batches = torch.stack([data(seed) for seed in seeds])  # (members, steps, batch, seq + 1)
pairs = (batches[..., :-1] * vocabulary + batches[..., 1:]).transpose(0, 1).flatten(2)
optimizer = torch.optim.Adam(stacked, lr)
reduced_losses = torch.zeros(members, steps)


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return torch.baddbmm(bias[:, None], x, weight.transpose(1, 2))


def norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.layer_norm(x, (d_model,)) * weight[:, None] + bias[:, None]


for step in range(steps):
    p = iter(stacked)
    x = next(p)  # row a is the embedding of token a: (members, 64, d_model)
    for _ in range(depth):  # parameters in the order in which Block creates them
        g1, b1, mix, mix_bias, g2, b2, up, up_bias, down, down_bias = (next(p) for _ in range(10))
        x = x + linear(norm(x, g1, b1), mix, mix_bias)
        x = x + linear(F.gelu(linear(norm(x, g2, b2), up, up_bias)), down, down_bias)
    logits = norm(x, next(p), next(p)) @ next(p).transpose(1, 2)
    counts = torch.stack([row.bincount(minlength=vocabulary**2) for row in pairs[step]])
    counts = counts.view(members, vocabulary, vocabulary) / tokens_per_step
    loss = -(counts * F.log_softmax(logits, 2)).sum((1, 2))  # of each member
    optimizer.zero_grad()
    loss.sum().backward()
    optimizer.step()
    reduced_losses[:, step] = loss.detach()

rows_saved = tokens_per_step / vocabulary  # of each forward pass
largest_loss_difference = (plain_losses - reduced_losses).abs().max().item()
largest_parameter_difference = max(
    (one.data - both[m].data).abs().max().item()
    for m in range(members)
    for one, both in zip(plain[m].parameters(), stacked, strict=True)
)
loss_fell = bool((plain_losses[:, -1] < plain_losses[:, 0]).all())
equal_to_rounding = largest_loss_difference < 1e-10 and largest_parameter_difference < 1e-8
print(f"{members} networks of {depth} blocks, {steps} steps, in float64")
print(f"losses and parameters are equal to rounding: {equal_to_rounding}")
print(f"rows in a forward pass: {tokens_per_step} against {vocabulary}")
