"""What is one block of the transformer?

In: the residual stream (B, T, d). Out: the stream with two corrections added, what attention
brought from other positions and what the MLP worked out at each position.
"""

import torch.nn.functional as F
from torch import Tensor, nn

from model.attention import Attention
from model.settings import LanguageModelSettings


# listing: mlp
class MLP(nn.Module):
    """Two maps, a GELU between them: position by position."""

    def __init__(self, width: int, wider: int = 4) -> None:
        super().__init__()
        self.expand = nn.Linear(width, wider * width)
        self.contract = nn.Linear(wider * width, width)
        self.gelu = "none"  # or "tanh": GPT-2's approximation

    def forward(self, x: Tensor) -> Tensor:
        wide = self.expand(x)  # (B, T, 4d)
        active = F.gelu(wide, approximate=self.gelu)
        return self.contract(active)  # (B, T, d)


# end: mlp


# listing: block
class Block(nn.Module):
    """Pre-norm: each half reads a normalised copy."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__()
        self.norm_1: nn.Module = nn.LayerNorm(settings.width)
        self.attention = Attention(settings)
        self.norm_2: nn.Module = nn.LayerNorm(settings.width)
        self.mlp: nn.Module = MLP(settings.width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm_1(x))  # (B, T, d)
        return x + self.mlp(self.norm_2(x))  # (B, T, d)


# end: block


# listing: post_norm_block
class PostNormBlock(Block):
    """Post-norm, as in 2017: the sum is normalised."""

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm_1(x + self.attention(x))  # (B, T, d)
        return self.norm_2(x + self.mlp(x))  # (B, T, d)


# end: post_norm_block
