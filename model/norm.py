"""How is a vector brought to a common scale before a layer reads it?

In: vectors (…, d). Out: vectors of the same shape. LayerNorm after Ba, Kiros and Hinton (2016),
RMSNorm after Zhang and Sennrich (2019).
"""

import torch
from torch import Tensor, nn


# listing: layer_norm
def layer_norm(
    x: Tensor,
    gamma: Tensor,
    beta: Tensor,
    eps: float = 1e-5,
) -> Tensor:
    """LayerNorm as its equation says.

    The blocks use PyTorch's own, held equal by a test.
    """
    mean = x.mean(-1, keepdim=True)  # (…, 1)
    # biased: divided by d
    variance = (x - mean).square().mean(-1, keepdim=True)
    return gamma * (x - mean) / (variance + eps).sqrt() + beta


# end: layer_norm


# listing: rms_norm
class RMSNorm(nn.Module):
    """x / rms(x) · γ: no mean subtracted, nothing added."""

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        mean = x.square().mean(-1, keepdim=True)  # (…, 1)
        rms = (mean + self.eps).sqrt()
        return x / rms * self.gamma


# end: rms_norm
