# timed: ratios of one run
# How much longer does a matrix product take when it is wider?
import time

import torch

torch.set_num_threads(1)


def fastest(d_model: int, repeat: int, tries: int = 8) -> float:
    x = torch.randn(d_model, d_model)
    times = []
    for _ in range(tries):
        start = time.process_time()  # not the clock's time: the machine may do other things
        for _ in range(repeat):
            x @ x
        times.append((time.process_time() - start) / repeat)
    return min(times)


narrow, wide = 512, 1024
slowdown = fastest(wide, repeat=1) / fastest(narrow, repeat=8)
print(f"{wide} against {narrow}: {slowdown:.1f} times")
