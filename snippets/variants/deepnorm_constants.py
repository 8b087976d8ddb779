# DeepNorm's constants from three conditions, against the paper's; and what torchscale's code sets
# reads: snippets/papers/deepnorm_constants.csv
import csv
import math

with open("deepnorm_constants.csv") as file:
    lines = (line for line in file if not line.startswith("#"))
    paper = {row["stack"]: row for row in csv.DictReader(lines)}


def split(ratio_squared: float) -> tuple[float, float]:
    """alpha and beta from (beta / alpha)^2 and alpha beta = 1 / sqrt 2."""
    alpha = (1 / (2 * ratio_squared)) ** 0.25
    return alpha, 1 / (math.sqrt(2) * alpha)


agree = []
for n, m in [(6, 6), (18, 18), (100, 100), (500, 100), (12, 1000)]:
    # one stack of n layers, two sublayers each, two matrices: 2 n * 2 beta^2 / alpha^2 = 1
    alpha, beta = split(1 / (4 * n))
    agree += [alpha / (2 * n) ** 0.25, beta / (8 * n) ** -0.25]
    # decoder of both: three sublayers a layer
    alpha_d, beta_d = split(1 / (6 * m))
    agree += [alpha_d / (3 * m) ** 0.25, beta_d / (12 * m) ** -0.25]
    # the encoder acts through m cross-attentions of size beta_d^2 / alpha_d each
    through = m * beta_d**2 / alpha_d
    alpha_e, beta_e = split(1 / (4 * n * through))
    root = (n**4 * m) ** (1 / 16)
    alpha_factor, beta_factor = alpha_e / root, beta_e * root
single_stacks_agree = all(abs(a - 1) < 1e-12 for a in agree)
rounded = [f"{alpha_factor:.2f}", f"{beta_factor:.2f}"]
both = paper["encoder-of-both"]
encoder_factors_agree = rounded == [both["alpha_factor"], both["beta_factor"]]
print(f"encoder of both: alpha factor {alpha_factor:.4f}, beta factor {beta_factor:.4f}")

# torchscale divides the encoder's weights by root / 1.15, so it multiplies them by 1.15 / root
torchscale_factor = 1.15
inverse_of_paper = 1 / float(both["beta_factor"])  # 1.15 after rounding
is_the_inverse = f"{inverse_of_paper:.2f}" == str(torchscale_factor)
weights_too_large = torchscale_factor / float(both["beta_factor"])
encoder_bound = weights_too_large**2  # of the encoder's sum, where the paper has 1
print(f"torchscale's weights over the paper's: {weights_too_large:.2f}", end="")
print(f", the encoder's bound {encoder_bound:.2f} instead of 1")

alpha_at = {str(n): (2 * n) ** 0.25 for n in (6, 100, 1000)}
beta_at = {str(n): (8 * n) ** -0.25 for n in (6, 100, 1000)}
