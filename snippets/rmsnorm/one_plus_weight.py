# Gemma stores w and multiplies by 1 + w. What does that keep in bf16 near a weight of one?
import torch

seeds = range(50)
d_model, spread, step = 4096, 0.01, 1e-4
plain_lost, centered_lost, added_in_bf16 = [], [], []
plain_stuck, centered_moved = [], []
for seed in seeds:
    torch.manual_seed(seed)
    w = spread * torch.randn(d_model)  # the weight's distance from one, in fp32
    plain = (1 + w).bfloat16()  # as LLaMA stores it
    centered = w.bfloat16()  # as Gemma stores it

    def error(weight: torch.Tensor, w: torch.Tensor = w) -> float:
        """Of what is stored beyond the one, relative to its root mean square."""
        return ((weight.double() - 1 - w.double()).square().mean().sqrt() / spread).item()

    plain_lost.append(error(plain))
    centered_lost.append(error(1 + centered.float()))  # the sum in fp32, as Gemma has it
    added_in_bf16.append(error(1 + centered))  # the sum in bf16 rounds like a plain weight
    plain_stuck.append((plain + step == plain).double().mean().item())
    centered_moved.append((centered + step != centered).double().mean().item())
plain_error = sum(plain_lost) / len(seeds)
centered_error = sum(centered_lost) / len(seeds)
bf16_sum_error = sum(added_in_bf16) / len(seeds)
times_finer = plain_error / centered_error
sum_in_bf16_loses_it = all(a > 0.9 * b for a, b in zip(added_in_bf16, plain_lost, strict=True))
least_moved = min(centered_moved)
steps_above_one = int(1 / torch.finfo(torch.bfloat16).eps)  # numbers from one up to two
all_plain_stuck = min(plain_stuck) == 1  # not one weight moves by the step
print(f"error of a weight's distance from one: plain {plain_error:.1%}, 1 + w {centered_error:.2%}")
print(f"1 + w added in bf16: {bf16_sum_error:.1%}")
print(f"a step of {step}: plain weights that stay {min(plain_stuck):.0%},")
print(f"w that move, on the worst seed {least_moved:.1%}")
