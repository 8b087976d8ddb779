# timed: ratios of one run
# How much longer does a matrix product take when it is wider?
import statistics
import time

import torch

torch.set_num_threads(1)
narrow, wide = 128, 256  # both fit into the processor's cache


def seconds(d_model: int, repeat: int) -> float:
    x = torch.randn(d_model, d_model)
    start = time.process_time()  # not the clock's time: the machine may do other things
    for _ in range(repeat):
        x @ x
    return (time.process_time() - start) / repeat


seconds(wide, repeat=400)  # warm up
ratios = [seconds(wide, repeat=200) / seconds(narrow, repeat=1000) for _ in range(21)]
slowdown = statistics.median(ratios)  # of pairs: what slows one of a pair slows the other
print(f"{wide} against {narrow}: {slowdown:.1f} times")
