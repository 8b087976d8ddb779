# How deep a stack with LayerNorm scaling grows as much as a few Pre-LN layers
import math

pre_layers = 8  # each adds the same amount to the squared norm
total, layers = 0.0, 0
while total < pre_layers:
    layers += 1
    total += 1 / layers  # layer l adds 1 / l of that amount
print(f"{layers} layers with scaling grow as much as {pre_layers} without")
euler = sum(1 / k for k in range(1, 10**6)) - math.log(10**6)  # H_l is about log l + this
print(f"H_l - log l tends to {euler:.3f}")
