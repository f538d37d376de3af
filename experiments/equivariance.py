"""Does attention know in which order its tokens came?

Chapter 08. In: an attention layer with random weights, random vectors, permutations. Out: the
largest differences between permuting before and after the layer: without a mask, with the causal
mask, and at the last position when only its prefix is permuted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from experiments import material
from experiments.session import Run
from model.attention import Attention
from model.settings import LanguageModelSettings


@dataclass(frozen=True)
class Settings(LanguageModelSettings):
    """The common shape, a sequence of 64."""

    context: int = 64


FULL = Settings()
SMOKE = Settings(width=16, heads=2, head_width=8, context=8)
SEEDS = (0, 1, 2, 3, 4)


def unmasked(attention: Attention, x: Tensor) -> Tensor:
    """The same layer with every position visible: x (T, d) → (T, d)."""
    v = attention.split(attention.value(x))  # (h, T, d_head)
    mixed = attention.scores(x).softmax(-1) @ v
    return attention.output(mixed.transpose(-3, -2).flatten(-2))


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Three permutations of the same input."""
    attention = material.initialise(run, lambda: Attention(settings))
    n = settings.context
    x = torch.randn(n, settings.width, generator=run.generator).to(run.device)  # (T, d)
    order = torch.randperm(n, generator=run.generator).to(run.device)  # (T,)
    prefix = torch.cat([order[order != n - 1], order.new_tensor([n - 1])])  # the last stays last
    with torch.no_grad():
        plain, masked = unmasked(attention, x), attention(x)
        return {
            "unmasked_max_abs_diff": largest(unmasked(attention, x[order]), plain[order]),
            "causal_max_abs_diff": largest(attention(x[order]), masked[order]),
            "prefix_permutation_max_abs_diff": largest(attention(x[prefix])[-1], masked[-1]),
            "mean_abs_output": masked.abs().mean().item(),
        }


def largest(one: Tensor, other: Tensor) -> float:
    return (one - other).abs().max().item()
