# The article's block and the one it describes: change a token, and see which positions notice
import torch
import torch.nn.functional as F
from torch import Tensor, nn

seeds = range(20)
d_model, hidden, seq, depth, vocabulary = 64, 128, 16, 6, 64
changed = 5  # position of the token that is changed
pool = torch.ones(seq, seq).tril()
pool /= pool.sum(1, keepdim=True)  # row t averages the positions up to t


class ToyBlock(nn.Module):
    """The published code: mix is a Linear over the features, so no position meets another."""

    def __init__(self, pos: str, pooled: bool) -> None:
        super().__init__()
        self.pos, self.pooled = pos, pooled
        self.n1, self.n2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.mix = nn.Linear(d_model, d_model)
        up, down = nn.Linear(d_model, hidden), nn.Linear(hidden, d_model)
        self.ffn = nn.Sequential(up, nn.GELU(), down)

    def mean(self, x: Tensor) -> Tensor:  # what the text describes, and the code leaves out
        return pool @ x if self.pooled else x

    def forward(self, x: Tensor) -> Tensor:  # (batch, seq, d_model)
        if self.pos == "pre":
            x = x + self.mix(self.mean(self.n1(x)))
            return x + self.ffn(self.n2(x))
        x = self.n1(x + self.mix(self.mean(x)))
        return self.n2(x + self.ffn(x))


def notices(pos: str, pooled: bool) -> Tensor:
    """Change of the output at each position, when the token at one position is replaced."""
    embedding = nn.Embedding(vocabulary, d_model)
    net = nn.Sequential(embedding, *(ToyBlock(pos, pooled) for _ in range(depth)))
    tokens = torch.randint(vocabulary, (1, seq))
    other = tokens.clone()
    other[0, changed] = (tokens[0, changed] + 1) % vocabulary
    return (net(other) - net(tokens)).detach().abs().amax(-1)[0]


elsewhere = [position for position in range(seq) if position != changed]
published_elsewhere, described_later, described_earlier = [], [], []
for seed in seeds:
    torch.manual_seed(seed)
    for pos in ("pre", "post"):
        published_elsewhere.append(notices(pos, pooled=False)[elsewhere].max().item())
        change = notices(pos, pooled=True)
        described_later.append(change[changed + 1 :].min().item())
        described_earlier.append(change[:changed].max().item())
published_is_blind = max(published_elsewhere) == 0
described_carries = min(described_later) > 1e-3
described_is_causal = max(described_earlier) == 0

# so on a task over positions, the best it can do is the entropy given the current token
rules, noise, draws = 4, 0.1, 200_000
generator = torch.Generator().manual_seed(2026)
recode = torch.stack([torch.randperm(vocabulary, generator=generator) for _ in range(rules)])
x = torch.randint(vocabulary, (seq + 1, draws))  # the described task, see train_described.py
for t in range(seq):
    source = x.gather(0, torch.randint(t + 1, (1, draws)))[0]
    x[t + 1] = torch.where(torch.rand(draws) < noise, x[t + 1], recode[x[t] % rules, source])
pairs = torch.zeros(vocabulary, vocabulary)
pairs.index_put_((x[:-1].flatten(), x[1:].flatten()), torch.ones(seq * draws), True)
given_current = pairs / pairs.sum(1, keepdim=True)
current_only = -(pairs * given_current.log()).sum().item() / pairs.sum().item()
floor = 0.0  # of a network that sees all positions
for t in range(seq):
    match = (recode[x[t] % rules, x[: t + 1]] == x[t + 1]).float().mean(0)
    floor -= ((1 - noise) * match + noise / vocabulary).log().mean().item() / seq
unigram = F.cross_entropy(torch.zeros(1, vocabulary), torch.zeros(1, dtype=torch.long)).item()
print(f"published block: another position notices, {not published_is_blind}")
print(f"with mean pooling: later positions notice, {described_carries}")
print(f"described task: floor {floor:.2f}, given the current token only {current_only:.2f}")
