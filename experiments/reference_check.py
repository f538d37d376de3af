"""Does the book's attention compute what PyTorch's computes?

Chapter 12. In: random input, weights copied from one to the other. Out: the largest difference to
nn.MultiheadAttention and to F.scaled_dot_product_attention, beside the size of the output; the same
in double precision; and what five mistakes would have made of it, all of which leave every shape
right.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from experiments import material
from experiments.session import Run
from model.attention import Attention, causal_mask
from model.settings import LanguageModelSettings


@dataclass(frozen=True)
class Settings(LanguageModelSettings):
    """The common shape, a batch of four."""

    batch: int = 4


FULL = Settings()
SMOKE = Settings(width=16, heads=2, head_width=8, context=16)
SEEDS = (0, 1, 2, 3, 4)


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """The same weights, the same input, three ways; then in double precision, and mistaken."""
    ours: Attention = material.initialise(run, lambda: Attention(settings))
    shape = (settings.batch, settings.context, settings.width)
    x = torch.randn(shape, generator=run.generator).to(run.device)  # (B, T, d)
    with torch.no_grad():
        output = ours(x)
        mistaken = {
            "no_mask": by_scaled_dot_product(ours, x, masked=False),
            "undivided": by_scaled_dot_product(ours, x, scale=1.0),
            "swapped": swapped(ours)(x),
            "transposed": transposed(ours)(x),
            "reshaped": cut_by_shape(ours, x),
        }
        return {
            **compare(ours, x, settings),
            "mean_abs_output": output.abs().mean().item(),
            "double": compare(deepcopy(ours).double(), x.double(), settings),
            "mistakes": {name: difference(output, other) for name, other in mistaken.items()},
        }


def compare(
    ours: Attention, x: Tensor, settings: LanguageModelSettings
) -> dict[str, dict[str, float]]:
    """Our output against both of PyTorch's."""
    output = ours(x)
    return {
        "multihead_attention": difference(output, by_multihead_attention(ours, x, settings)),
        "scaled_dot_product_attention": difference(output, by_scaled_dot_product(ours, x)),
    }


def difference(output: Tensor, other: Tensor) -> dict[str, float]:
    return {"max_abs_diff": (output - other).abs().max().item()}


# listing: multihead
def by_multihead_attention(
    ours: Attention,
    x: Tensor,
    settings: LanguageModelSettings,
) -> Tensor:
    """PyTorch's module with our weights: (B, T, d) → same."""
    theirs = nn.MultiheadAttention(
        settings.width,
        settings.heads,
        batch_first=True,
    )
    maps = [ours.query, ours.key, ours.value]
    stacked = torch.cat([each.weight for each in maps])
    weights = {
        "in_proj_weight": stacked,  # (3d, d)
        "in_proj_bias": x.new_zeros(3 * settings.width),
        "out_proj.weight": ours.output.weight,
        "out_proj.bias": ours.output.bias,
    }
    theirs.to(x).load_state_dict(weights)
    mask = causal_mask(x.shape[1], x.device).to(x)  # (T, T)
    pair = theirs(x, x, x, attn_mask=mask, need_weights=False)
    return pair[0]  # (B, T, d); no weights were asked for


# end: multihead


# listing: scaled_dot_product
def by_scaled_dot_product(
    ours: Attention,
    x: Tensor,
    masked: bool = True,
    scale: float | None = None,
) -> Tensor:
    """PyTorch's function between our maps."""
    q = ours.split(ours.query(x))  # (B, h, T, d_head)
    k = ours.split(ours.key(x))
    v = ours.split(ours.value(x))
    mixed = F.scaled_dot_product_attention(
        q, k, v, is_causal=masked, scale=scale
    )  # (B, h, T, d_head)
    # side by side again: (B, h, T, d_head) → (B, T, d)
    return ours.output(mixed.transpose(-3, -2).flatten(-2))


# end: scaled_dot_product


# listing: mistakes
def swapped(ours: Attention) -> Attention:
    """Queries made by the map of the keys, and back."""
    other = deepcopy(ours)
    other.query, other.key = other.key, other.query
    return other


def transposed(ours: Attention) -> Attention:
    """The output map copied as x @ W, not as x @ W.T."""
    other = deepcopy(ours)
    other.output.weight.copy_(ours.output.weight.T)
    return other


def cut_by_shape(ours: Attention, x: Tensor) -> Tensor:
    """Heads cut by their shape alone, not transposed."""
    shape = (x.shape[0], ours.heads, x.shape[1], -1)
    q, k, v = (
        each(x).reshape(shape)  # (B, h, T, d_head)
        for each in (ours.query, ours.key, ours.value)
    )
    mixed = F.scaled_dot_product_attention(
        q,
        k,
        v,
        is_causal=True,
    )
    return ours.output(mixed.transpose(-3, -2).flatten(-2))


# end: mistakes
