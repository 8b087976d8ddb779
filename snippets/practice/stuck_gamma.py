# A weight of one in bf16 does not move under small steps; stored as an offset from one, it does
import torch

rate, steps = 0.001, 1000
weight = torch.ones(1, dtype=torch.bfloat16)  # gamma, as y = gamma * normed
offset = torch.zeros(1, dtype=torch.bfloat16)  # w, as y = (1 + w) * normed
for _ in range(steps):  # Adam moves a parameter by about its rate while the gradient keeps its sign
    weight += rate
    offset += rate
spacing = torch.finfo(torch.bfloat16).eps  # between one and the next bf16 number
half_spacing = spacing / 2  # a step below it is rounded away
gamma_is_stuck = weight.item() == 1
offset_moved = offset.item()
wanted = rate * steps
print(f"bf16 numbers next to 1 are {spacing} apart")
print(
    f"after {steps} steps of {rate}: gamma {weight.item()}, offset {offset_moved}, wanted {wanted}"
)
