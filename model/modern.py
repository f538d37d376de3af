"""What does a block of today look like?

In: the residual stream (B, T, d). Out: the same. RMSNorm (Zhang and Sennrich 2019), grouped-query
attention (Ainslie et al. 2023), SwiGLU (Shazeer 2020), rotary embeddings (Su et al. 2021).
"""

from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor, nn

from model.attention import Attention
from model.block import Block
from model.language_model import Blocks
from model.norm import RMSNorm
from model.position import RotaryAttention
from model.settings import LanguageModelSettings


@dataclass(frozen=True)
class ModernSettings(LanguageModelSettings):
    """The common settings, how many key and value heads, and the width inside the SwiGLU."""

    kv_heads: int = 2
    hidden: int = 341


# listing: swiglu
class SwiGLU(nn.Module):
    """down(silu(gate(x)) * up(x)): a gate on a linear map."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        # (B, T, hidden)
        opened = F.silu(self.gate(x)) * self.up(x)
        return self.down(opened)  # (B, T, d)


# end: swiglu


# listing: grouped
class GroupedAttention(Attention):
    """Several query heads share one head of keys and values."""

    def __init__(self, settings: ModernSettings) -> None:
        super().__init__(settings)
        width = settings.width
        inner = settings.kv_heads * settings.head_width
        self.head_width = settings.head_width
        self.shared = settings.heads // settings.kv_heads
        self.key = nn.Linear(width, inner, bias=False)
        self.value = nn.Linear(width, inner, bias=False)

    def split(self, x: Tensor) -> Tensor:
        heads = x.unflatten(
            -1,
            (-1, self.head_width),
        ).transpose(-3, -2)
        # keys, values: one head for several queries
        if heads.shape[-3] < self.heads:
            heads = heads.repeat_interleave(self.shared, -3)
        return heads  # (B, h, T, d_head)


# end: grouped


class RotaryGroupedAttention(GroupedAttention, RotaryAttention):
    """Grouped keys and values, queries and keys turned by their place."""


class SwappedBlocks(Blocks):
    """The book's blocks with parts of today in place of those of 2017."""

    def swap(self, settings: ModernSettings) -> None:
        raise NotImplementedError

    def __init__(self, settings: ModernSettings) -> None:
        super().__init__(settings)
        self.swap(settings)

    def each_block(self) -> list[Block]:
        return [block for block in self.blocks if isinstance(block, Block)]


class RMSNormBlocks(SwappedBlocks):
    """Every LayerNorm an RMSNorm."""

    def swap(self, settings: ModernSettings) -> None:
        put_rms_norms(self, settings)


class GroupedBlocks(SwappedBlocks):
    """Keys and values shared by groups of heads."""

    def swap(self, settings: ModernSettings) -> None:
        for block in self.each_block():
            block.attention = GroupedAttention(settings)


class SwiGLUBlocks(SwappedBlocks):
    """A SwiGLU in place of the MLP, as many parameters to a part in a hundred."""

    def swap(self, settings: ModernSettings) -> None:
        put_swiglus(self, settings)


class ModernBlocks(SwappedBlocks):
    """All of it at once, rotary embeddings in place of the learned table."""

    def swap(self, settings: ModernSettings) -> None:
        put_rms_norms(self, settings)
        put_swiglus(self, settings)
        for block in self.each_block():
            block.attention = RotaryGroupedAttention(settings)
        del self.positions

    def embed(self, tokens: Tensor) -> Tensor:
        return self.tokens(tokens)  # (B, T, d)


def put_rms_norms(model: SwappedBlocks, settings: ModernSettings) -> None:
    """Replace every norm of the model."""
    model.norm = RMSNorm(settings.width)
    for block in model.each_block():
        block.norm_1, block.norm_2 = RMSNorm(settings.width), RMSNorm(settings.width)


def put_swiglus(model: SwappedBlocks, settings: ModernSettings) -> None:
    """Replace every MLP of the model."""
    for block in model.each_block():
        block.mlp = SwiGLU(settings.width, settings.hidden)
