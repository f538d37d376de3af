"""How does a model learn in which order the tokens came?

In: queries and keys (B, h, T, d_head), or places 0 … T-1. Out: the same with order in it. Sinusoids
after Vaswani et al. (2017, section 3.5), rotary embeddings after Su et al. (2021), ALiBi after
Press, Smith and Lewis (2022).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from model.attention import Attention
from model.block import Block
from model.language_model import Blocks
from model.settings import LanguageModelSettings


# listing: sinusoids
def sinusoids(n: int, width: int) -> Tensor:
    """Columns 2i, 2i+1: sin and cos of t / 10000^(2i/d)."""
    places = torch.arange(n)[:, None]  # (n, 1)
    # one rate a pair of columns: (d/2,)
    rates = 10000.0 ** (-torch.arange(0, width, 2) / width)
    angles = places * rates  # (n, d/2)
    return torch.stack(
        [angles.sin(), angles.cos()],
        -1,
    ).flatten(-2)  # (n, d/2, 2) → (n, d)


# end: sinusoids


# listing: rotary
def rotary_angles(
    n: int,
    head_width: int,
    base: float = 10000.0,
    stretch: float = 1.0,
) -> Tensor:
    """Place t, pair i: t / stretch · base^(-2i/d_head)."""
    rates = base ** (
        # one rate a pair of numbers: (d_head/2,)
        -torch.arange(0, head_width, 2) / head_width
    )
    # (n, d_head/2)
    return torch.arange(n)[:, None] / stretch * rates


def rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Turn each pair by its angle: x (…, T, d_head)."""
    even, odd = x[..., 0::2], x[..., 1::2]  # (…, T, d_head/2)
    cos, sin = angles.cos().to(x), angles.sin().to(x)
    turned = torch.stack(
        [even * cos - odd * sin, even * sin + odd * cos],
        -1,
    )  # (…, T, d_head/2, 2)
    return turned.flatten(-2)  # (…, T, d_head)


# end: rotary


# listing: alibi
def alibi_slopes(heads: int) -> Tensor:
    """2^(-8/h), …, 2^-8 for a power of two of heads: (h,)."""
    return 2.0 ** (-8.0 / heads * torch.arange(1, heads + 1))


def alibi_bias(n: int, heads: int) -> Tensor:
    """-slope · (t - i), a penalty: (h, n, n)."""
    places = torch.arange(n)
    distance = places[:, None] - places  # (n, n)
    return -alibi_slopes(heads)[:, None, None] * distance


# end: alibi


@dataclass(frozen=True)
class PositionSettings(LanguageModelSettings):
    """The common settings, and how many rows a learned table has."""

    table_rows: int = 256


class RotaryAttention(Attention):
    """Queries and keys are turned by their place before they are compared."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__(settings)
        self.base, self.stretch = 10000.0, 1.0

    def scores(self, x: Tensor) -> Tensor:
        q, k = self.split(self.query(x)), self.split(self.key(x))  # (B, h, T, d_head)
        angles = rotary_angles(x.shape[-2], q.shape[-1], self.base, self.stretch).to(x.device)
        return rotate(q, angles) @ rotate(k, angles).mT * self.scale  # (B, h, T, T)


class AlibiAttention(Attention):
    """Each score is lowered in proportion to the distance, head by head."""

    def scores(self, x: Tensor) -> Tensor:
        bias = alibi_bias(x.shape[-2], self.heads).to(x)
        return super().scores(x) + bias  # (B, h, T, T)


class NoPositions(Blocks):
    """Blocks without any word of order but the causal mask."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__(settings)
        del self.positions

    def embed(self, tokens: Tensor) -> Tensor:
        return self.tokens(tokens)  # (B, T, d)


class SinusoidalPositions(NoPositions):
    """Fixed sines and cosines in place of a learned table."""

    def embed(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens)  # (B, T, d)
        return x + sinusoids(tokens.shape[-1], x.shape[-1]).to(x)


class LearnedPositions(Blocks):
    """A learned table with rows past the trained length, which training never touches."""

    def __init__(self, settings: PositionSettings) -> None:
        super().__init__(settings)
        self.positions = torch.nn.Embedding(settings.table_rows, settings.width)


def with_attention(model: Blocks, kind: type[Attention], settings: LanguageModelSettings) -> None:
    """Put another kind of attention into every block."""
    for block in model.blocks:
        assert isinstance(block, Block)
        block.attention = kind(settings)


class RotaryPositions(NoPositions):
    """Rotary attention in every block, nothing added to the tokens."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__(settings)
        with_attention(self, RotaryAttention, settings)


class AlibiPositions(NoPositions):
    """ALiBi in every block, nothing added to the tokens."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__(settings)
        with_attention(self, AlibiAttention, settings)
