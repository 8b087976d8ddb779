# Many equal small writes to a bf16 stream that starts at 1: where does it stop?
import torch

n_writes = 1000
write = 2.0**-8  # the largest one that is lost at 1
above = 0.004  # slightly larger

stream = torch.tensor(1.0, dtype=torch.bfloat16)
for _ in range(n_writes):
    stream = stream + write
stops_at = stream.item()
exact_sum = 1 + n_writes * write

stream, path = torch.tensor(1.0, dtype=torch.bfloat16), []
for _ in range(n_writes):
    stream = stream + torch.tensor(above, dtype=torch.bfloat16)
    path.append(stream.item())
above_sum = 1 + n_writes * torch.tensor(above, dtype=torch.bfloat16).item()
above_stops_at = path[-1]
writes_to_stop = path.index(above_stops_at) + 1
print(f"writes of {write}: the stream stays at {stops_at}, exact {exact_sum:.3f}")
print(
    f"writes of {above}: it stops at {above_stops_at} after {writes_to_stop}, exact {above_sum:.2f}"
)
