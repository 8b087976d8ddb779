# %% [markdown]
# # Lab: signal and gradient through depth
#
# What do the weight scale, a normalization layer and a residual connection do to a token on its way
# through a deep stack, and to the gradient on its way back?

# %% [markdown]
# ## Parameters
#
# Change a value, run all cells again, and compare: in Jupyter, or as a script. Each figure also has
# the plain stack (no norm, no residual) of the same weights, so that you see what your choice
# changes. The reasons are on the pages about [the signal](../../docs/why/signal-through-depth.md),
# [the gradient](../../docs/why/gradient-through-depth.md) and
# [the identity path](../../docs/residual/identity-path.md).

# %%
import math

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import Tensor

weight_scale = 0.1  # standard deviation of one weight
depth = 20  # layers
d_model = 64
norm = "rms"  # "off", "layer" or "rms"
place = "pre"  # norm on what enters a layer; "post": on what leaves it
residual = True
dtype = torch.float32  # or torch.bfloat16, torch.float16
seeds = range(50)

# %% [markdown]
# ## The stack
#
# One token passes through random linear layers. With pre-norm and residual, a layer is
#
# $$x_{l+1} = x_l + \mathrm{norm}(x_l)\,W_l$$
#
# At the output a gradient of norm $1$ in a random direction starts its way back. So what you see
# depends on the stack alone, and on no loss.


# %%
def normed(x: Tensor, norm: str) -> Tensor:
    if norm == "layer":
        return F.layer_norm(x, (d_model,))
    if norm == "rms":
        return F.rms_norm(x, (d_model,))
    assert norm == "off", norm
    return x


def layer(x: Tensor, w: Tensor, norm: str, residual: bool) -> Tensor:
    y = (normed(x, norm) if place == "pre" else x) @ w
    y = x + y if residual else y
    return normed(y, norm) if place == "post" else y


def run(norm: str, residual: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Norms at each layer, both (seeds, depth + 1), and components, (seeds,)."""
    tokens, gradients, components = [], [], []
    for seed in seeds:
        torch.manual_seed(seed)
        x = F.normalize(torch.randn(1, d_model)) * math.sqrt(d_model)
        stream = [x.to(dtype).requires_grad_()]  # x_0 to x_L, each (1, d_model)
        for _ in range(depth):
            w = torch.randn(d_model, d_model) * weight_scale
            stream.append(layer(stream[-1], w.to(dtype), norm, residual))

        g = F.normalize(torch.randn(1, d_model)).to(dtype)  # dL/dx_L
        back = torch.autograd.grad(stream[-1], stream, g)  # dL/dx_0 to dL/dx_L

        tokens.append(torch.cat(stream).detach().double().norm(dim=-1))
        gradients.append(torch.cat(back).double().norm(dim=-1))
        components.append((back[0].double() * g.double()).sum())  # along g
    return torch.stack(tokens), torch.stack(gradients), torch.stack(components)


def spread(values: Tensor) -> Tensor:
    """Percentiles over seeds, without interpolation: inf does no harm."""
    q = torch.tensor([0.05, 0.5, 0.95]).double()
    return values.quantile(q, dim=0, interpolation="nearest")


def compare(yours: Tensor, plain: Tensor, what: str, end: int) -> None:
    _, ax = plt.subplots()
    print(f"{what}: median (5th to 95th percentile)")
    for name, values, color in (("yours", yours, "C0"), ("plain", plain, "C5")):
        low, middle, high = spread(values).tolist()
        ax.fill_between(range(depth + 1), low, high, alpha=0.3, color=color, lw=0)
        ax.plot(middle, color=color, marker="o" if name == "yours" else ".")
        if math.isfinite(middle[end]):
            ax.annotate(
                name,
                (end, middle[end]),
                (7, 0) if end else (-7, 0),
                textcoords="offset points",
                ha="left" if end else "right",
                va="center",
                color=color,
            )
        for at in (0, depth // 2, depth):
            band = f"({low[at]:.2g} to {high[at]:.2g})"
            print(f"{name}  layer {at:2}  {middle[at]:8.3g}  {band}")
    ax.margins(x=0.12)
    ax.locator_params(axis="x", integer=True)
    ax.set(yscale="log", xlabel="layer", ylabel=what)


token, gradient, component = run(norm, residual)
plain_token, plain_gradient, plain_component = run("off", False)

# %% [markdown]
# ## Forward: the norm of the token
#
# On a logarithmic axis, a constant factor for each layer is a straight line. The bands show the
# 5th to 95th percentile over seeds.

# %%
# alt: Norm of the token by layer. With the residual and RMSNorm it rises, less and less steeply; in
# alt: the plain stack it falls along a straight line. The axis is logarithmic.
compare(token, plain_token, "norm of the token", end=depth)
plt.savefig("token.svg")

early, late = spread(token)[1].log()[[0, depth // 2, depth]].diff()
print("yours rises:", bool(early + late > 0))
print("less in the later layers:", bool(late < early))
change = spread(plain_token)[1].diff()
print("plain falls at each layer:", bool((change < 0).all()))

# %% [markdown]
# ## Backward: the norm of the gradient
#
# Read this figure from right to left: the gradient starts at the output and ends at layer $0$, the
# input.

# %%
# alt: Norm of the gradient by layer. Toward the input it grows with the residual and RMSNorm, and
# alt: shrinks along a straight line in the plain stack. The axis is logarithmic.
compare(gradient, plain_gradient, "norm of the gradient", end=0)
plt.savefig("gradient.svg")

print("yours grows toward the input:", bool(spread(gradient)[1, 0] > 1))
change = spread(plain_gradient)[1].diff()
print("plain shrinks at each layer:", bool((change > 0).all()))

# %% [markdown]
# ## The identity path
#
# With pre-norm and residual there is a path from output to input that meets neither weight nor
# norm. It carries the gradient of the output, $g$, as it is. All other paths add to it. So look at
# the component of the gradient at the input along $g$, which has norm $1$.

# %%
for name, along in (("yours", component), ("plain", plain_component)):
    low, middle, high = spread(along).tolist()
    mean = round(along.mean().item(), 2) + 0.0  # no negative zero
    print(f"{name}  mean {mean:.2f}  5th to 95th percentile {low:.3f} to {high:.3f}")

# %% [markdown]
# ## Try this
#
# * Set `norm = "off"` and `residual = False`, and vary `weight_scale` around
#   `1 / math.sqrt(d_model)`. Look for the scale at which falling turns into rising. Is it the same
#   forward and backward?
# * From there, set `norm = "layer"` and `place = "post"`. Which of the norms does `weight_scale`
#   still move?
# * With all else as above, raise `depth`. Does the mean of the component along $g$ move, or only
#   its spread? Then set `place = "post"`, where no path avoids the norms, and compare a small
#   `depth` with a large one.
# * Set `norm = "off"`, `residual = False` and `dtype = torch.float16`, and raise `weight_scale`
#   until a table says `inf` or `nan`. Which of the two does so at the smaller scale? Then try
#   `torch.bfloat16`.
#
# The last cell puts the combinations side by side, for your other parameters.

# %%
print(f"{place}-norm, scale {weight_scale}, {depth} layers: median factor, from end to end")
print("norm   residual  token    gradient")
for kind in ("off", "layer", "rms"):
    for skip in (False, True):
        forward, backward, _ = run(kind, skip)
        up, back = forward[:, -1] / forward[:, 0], backward[:, 0] / backward[:, -1]
        print(f"{kind:7}{skip!s:10}{spread(up)[1]:<9.3g}{spread(back)[1]:.3g}")
