"""Does the book's attention compute what PyTorch's computes?

Chapter 12. In: random input, weights copied from one to the other. Out: the largest difference to
nn.MultiheadAttention and to F.scaled_dot_product_attention, beside the size of the output.
"""

from collections.abc import Mapping
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
    """The same weights, the same input, three ways."""
    ours: Attention = material.initialise(run, lambda: Attention(settings))
    shape = (settings.batch, settings.context, settings.width)
    x = torch.randn(shape, generator=run.generator).to(run.device)  # (B, T, d)
    with torch.no_grad():
        output = ours(x)
        multihead = by_multihead_attention(ours, x, settings)
        fused = by_scaled_dot_product(ours, x)
    return {
        "multihead_attention": {"max_abs_diff": (output - multihead).abs().max().item()},
        "scaled_dot_product_attention": {"max_abs_diff": (output - fused).abs().max().item()},
        "mean_abs_output": output.abs().mean().item(),
    }


def by_multihead_attention(ours: Attention, x: Tensor, settings: LanguageModelSettings) -> Tensor:
    """PyTorch's module with our weights: x (B, T, d) → (B, T, d)."""
    theirs = nn.MultiheadAttention(settings.width, settings.heads, batch_first=True)
    theirs.to(x.device).load_state_dict(
        {
            "in_proj_weight": torch.cat([ours.query.weight, ours.key.weight, ours.value.weight]),
            "in_proj_bias": x.new_zeros(3 * settings.width),
            "out_proj.weight": ours.output.weight,
            "out_proj.bias": ours.output.bias,
        }
    )
    mask = causal_mask(x.shape[1], x.device)  # (T, T)
    return theirs(x, x, x, attn_mask=mask, need_weights=False)[0]


def by_scaled_dot_product(ours: Attention, x: Tensor) -> Tensor:
    """PyTorch's function between our maps: x (B, T, d) → (B, T, d)."""
    q, k, v = (ours.split(each(x)) for each in (ours.query, ours.key, ours.value))
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=ours.scale)
    return ours.output(mixed.transpose(-3, -2).flatten(-2))
