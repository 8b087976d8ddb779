# The errors that torch's norms raise for a wrong shape or type, by cause.
from collections.abc import Callable

import torch
from torch import nn

x = torch.randn(2, 5, 8)  # (batch, seq, d_model)
causes: dict[str, Callable[[], torch.Tensor]] = {
    "BatchNorm1d on (batch, seq, d_model)": lambda: nn.BatchNorm1d(8)(x),
    "BatchNorm1d on one token, train mode": lambda: nn.BatchNorm1d(8)(x[0, :1]),
    "LayerNorm on (batch, d_model, seq)": lambda: nn.LayerNorm(8)(x.mT),
    "RMSNorm on (batch, d_model, seq)": lambda: nn.RMSNorm(8)(x.mT),
    "LayerNorm, fp32 input, bf16 parameters": lambda: nn.LayerNorm(8).bfloat16()(x),
    "LayerNorm, fp64 input, fp32 parameters": lambda: nn.LayerNorm(8)(x.double()),
}
errors = {}
for cause, call in causes.items():
    try:
        call()
    except (RuntimeError, ValueError) as error:
        errors[cause] = str(error)
        print(f"{cause}:\n  {type(error).__name__}: {error}")
all_raise = len(errors) == len(causes)

half_input_takes_fp32_parameters = nn.LayerNorm(8)(x.half()).dtype == torch.float16
square = torch.randn(2, 8, 8)  # seq = d_model: the wrong axis, and no error
wrong_axis_passes_silently = nn.BatchNorm1d(8)(square).shape == square.shape
print("half input with fp32 parameters is accepted:", half_input_takes_fp32_parameters)
print("BatchNorm1d on the wrong axis is accepted if seq = d_model:", wrong_axis_passes_silently)
