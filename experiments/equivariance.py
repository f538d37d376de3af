"""Does attention know in which order its tokens came?

Chapter 08. In: attention layers with random weights, random vectors, permutations. Out: the
largest differences between permuting before and after the layers: without a mask, with the causal
mask, and at the last position when only its prefix is permuted. The rows ask the same of two
layers one over the other, and of layers whose scores know about places.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from experiments import material
from experiments.session import Run
from model.attention import Attention
from model.settings import LanguageModelSettings


@dataclass(frozen=True)
class Settings(LanguageModelSettings):
    """The common shape, a sequence of 64; which attention, and how many layers of it."""

    context: int = 64
    attention: str = "model.attention:Attention"
    layers: int = 1


FULL = Settings()
SMOKE = Settings(width=16, heads=2, head_width=8, context=8)
SMOKE_ROWS = {"two_layers_long": {"context": 16}}
ROWS = {
    "": {},
    "two_layers": {"layers": 2},
    "two_layers_long": {"layers": 2, "context": 512},
    "rotary": {"attention": "model.position:RotaryAttention"},
    "alibi": {"attention": "model.position:AlibiAttention"},
}
SEEDS = (0, 1, 2, 3, 4)


def causal(attention: Attention, x: Tensor) -> Tensor:
    """The layer as it is: x (T, d) → (T, d)."""
    return attention(x)


def unmasked(attention: Attention, x: Tensor) -> Tensor:
    """The same layer with every position visible: x (T, d) → (T, d)."""
    v = attention.split(attention.value(x))  # (h, T, d_head)
    mixed = attention.scores(x).softmax(-1) @ v
    return attention.output(mixed.transpose(-3, -2).flatten(-2))


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Three permutations of the same input."""
    kind = material.named(settings.attention)
    layers: Any = material.initialise(
        run, lambda: nn.ModuleList(kind(settings) for _ in range(settings.layers))
    )

    def through(mix: Callable[[Attention, Tensor], Tensor], x: Tensor) -> Tensor:
        """What the last layer brings; those below it are added to their inputs, as in a block."""
        *below, last = layers
        for layer in below:
            x = x + mix(layer, x)
        return mix(last, x)

    n = settings.context
    x = torch.randn(n, settings.width, generator=run.generator).to(run.device)  # (T, d)
    order = torch.randperm(n, generator=run.generator).to(run.device)  # (T,)
    prefix = torch.cat([order[order != n - 1], order.new_tensor([n - 1])])  # the last stays last
    with torch.no_grad():
        plain, masked = through(unmasked, x), through(causal, x)
        return {
            "unmasked_max_abs_diff": largest(through(unmasked, x[order]), plain[order]),
            "causal_max_abs_diff": largest(through(causal, x[order]), masked[order]),
            "prefix_permutation_max_abs_diff": largest(through(causal, x[prefix])[-1], masked[-1]),
            "mean_abs_output": masked.abs().mean().item(),
        }


def largest(one: Tensor, other: Tensor) -> float:
    return (one - other).abs().max().item()
