"""How does a position gather what it needs from the positions before it?

In: vectors (B, T, d). Out: vectors of the same shape, each a weighted mean over its prefix.
From the uniform mean to heads with queries, keys and values (Vaswani et al. 2017, section 3.2).
"""

import math

import torch
from torch import Tensor, nn

from model.settings import LanguageModelSettings


# listing: running_mean
def running_mean(x: Tensor) -> Tensor:
    """Mean of every prefix: x (B, T, d) → (B, T, d)."""
    counts = torch.arange(1, x.shape[-2] + 1, device=x.device)
    return x.cumsum(-2) / counts[:, None]  # (B, T, d) / (T, 1)


# end: running_mean


# listing: causal_softmax
def causal_mask(
    n: int,
    device: torch.device | None = None,
) -> Tensor:
    """0 where a position may look, else -infinity: (n, n)."""
    blocked = torch.full((n, n), -math.inf, device=device)
    return blocked.triu(1)  # zero on and below the diagonal


def causal_softmax(scores: Tensor) -> Tensor:
    """Scores (…, T, T) → weights (…, T, T), rows sum to one."""
    mask = causal_mask(scores.shape[-1], scores.device)
    return (scores + mask).softmax(-1)


# end: causal_softmax


# listing: head
class Head(nn.Module):
    """softmax(QKᵀ/√d + M) V (Vaswani et al. 2017, eq. 1)."""

    def __init__(
        self,
        width: int,
        head_width: int,
        divide: bool = True,
    ) -> None:
        super().__init__()
        self.query = nn.Linear(width, head_width, bias=False)
        self.key = nn.Linear(width, head_width, bias=False)
        self.value = nn.Linear(width, head_width, bias=False)
        self.scale = head_width**-0.5 if divide else 1.0

    def weights(self, x: Tensor) -> Tensor:
        q, k = self.query(x), self.key(x)  # (B, T, d_head)
        scores = q @ k.mT * self.scale  # (B, T, T)
        return causal_softmax(scores)

    def forward(self, x: Tensor) -> Tensor:
        v = self.value(x)  # (B, T, d_head)
        return self.weights(x) @ v  # (B, T, d_head)


# end: head


# listing: attention
class Attention(nn.Module):
    """Several heads side by side, then one map that mixes them (section 3.2.2)."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__()
        width, inner = settings.width, settings.heads * settings.head_width
        self.heads = settings.heads
        self.scale = settings.head_width**-0.5 if settings.divide else 1.0
        self.query = nn.Linear(width, inner, bias=False)
        self.key = nn.Linear(width, inner, bias=False)
        self.value = nn.Linear(width, inner, bias=False)
        self.output = nn.Linear(inner, width)

    # listing: several_heads
    def split(self, x: Tensor) -> Tensor:
        # (B, T, h d_head) → (B, h, T, d_head)
        return x.unflatten(-1, (self.heads, -1)).transpose(-3, -2)

    def scores(self, x: Tensor) -> Tensor:
        q, k = self.split(self.query(x)), self.split(self.key(x))
        return q @ k.mT * self.scale  # (B, h, T, T)

    def weights(self, x: Tensor) -> Tensor:
        return causal_softmax(self.scores(x))  # (B, h, T, T)

    def forward(self, x: Tensor) -> Tensor:
        v = self.split(self.value(x))  # (B, h, T, d_head)
        mixed = self.weights(x) @ v  # (B, h, T, d_head)
        # side by side again: (B, T, h d_head) → (B, T, d)
        return self.output(mixed.transpose(-3, -2).flatten(-2))

    # end: several_heads


# end: attention


class UniformAttention(Attention):
    """Every visible position weighs the same; values and the output map stay."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__(settings)
        del self.query, self.key

    def scores(self, x: Tensor) -> Tensor:
        n = x.shape[-2]
        return x.new_zeros(*x.shape[:-2], self.heads, n, n)  # (B, h, T, T)
