"""Are the running mean, the triangular matrix and the softmax of a mask one and the same?

Chapters 02 and 03. In: random vectors; masks. Out: the largest differences between three ways of
taking the mean of a prefix, the small matrix itself, the share of the present token by position,
how far earlier rows move when the last vector alone is replaced, and what a large finite number
does in place of minus infinity.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from experiments import material
from experiments.session import Run
from model.attention import causal_mask, causal_softmax


@dataclass(frozen=True)
class Settings:
    """Random vectors (length, width); the matrix shown; the finite mask; the positions asked."""

    length: int = 128
    width: int = 128
    shown: int = 6
    finite: float = -1e9
    positions: tuple[int, ...] = (1, 2, 5, 10, 20, 50, 100, 128)


FULL = Settings()
SMOKE = Settings(width=8)
NONFINITE = ("mask_constants.*",)


# listing: loop
def mean_by_loop(x: Tensor) -> Tensor:
    """One position after another: x (T, d) → (T, d)."""
    rows = [x[: t + 1].mean(0) for t in range(len(x))]
    return torch.stack(rows)  # T times (d,) → (T, d)


# end: loop


# listing: matmul
def averaging_matrix(n: int) -> Tensor:
    """Ones up to the diagonal, rows over their sums: (n, n)."""
    ones = torch.ones(n, n).tril()
    return ones / ones.sum(1, keepdim=True)


# end: matmul


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """The three ways side by side, then the mask's constant in three number formats."""
    n = settings.length
    generator = material.seeded(run)
    x = torch.randn(n, settings.width, generator=generator)  # (T, d)
    replaced = torch.cat([x[:-1], torch.randn(1, settings.width, generator=generator)])  # (T, d)
    loop = mean_by_loop(x)
    weights = causal_softmax(torch.zeros(n, n))  # (T, T)
    unmasked = torch.zeros(n, n).softmax(-1)  # (T, T)
    return {
        "loop_vs_matmul": (loop - averaging_matrix(n) @ x).abs().max().item(),
        "loop_vs_softmax": (loop - weights @ x).abs().max().item(),
        "matrix": causal_softmax(torch.zeros(settings.shown, settings.shown)).tolist(),
        "mask": causal_mask(settings.shown).isinf().int().tolist(),
        "share": {f"t_{t}": weights[t - 1, t - 1].item() for t in settings.positions},
        "last_replaced": {
            "masked": earlier_rows_moved(weights, x, replaced),
            "unmasked": earlier_rows_moved(unmasked, x, replaced),
        },
        "mask_constants": {
            "float16": mask_constant(settings.finite, torch.float16),
            "bfloat16": mask_constant(settings.finite, torch.bfloat16),
            "float32": mask_constant(settings.finite, torch.float32),
        },
    }


def earlier_rows_moved(weights: Tensor, x: Tensor, replaced: Tensor) -> float:
    """Largest change of any row but the last, between two texts that differ in the last vector."""
    return (weights @ replaced - weights @ x)[:-1].abs().max().item()


def mask_constant(finite: float, dtype: torch.dtype) -> dict[str, Any]:
    """What `finite` does as a mask in this format, and what minus infinity does.

    `refused`: masked_fill raises rather than store it. `stored`: what a cast makes of it.
    `weight_ahead`: the weight left on a masked position beside an open one. `all_masked_*`: the
    first weight of a row of four in which nothing is open.
    """
    refused = False
    try:
        torch.zeros(2, dtype=dtype).masked_fill(torch.tensor([False, True]), finite)
    except RuntimeError:
        refused = True
    stored = torch.tensor(finite).to(dtype)
    beside = torch.stack([torch.zeros((), dtype=dtype), stored])
    return {
        "refused": refused,
        "stored": stored.item(),
        "weight_ahead": beside.softmax(0)[1].item(),
        "all_masked_finite": stored.repeat(4).softmax(0)[0].item(),
        "all_masked_infinite": torch.full((4,), -math.inf, dtype=dtype).softmax(0)[0].item(),
    }
