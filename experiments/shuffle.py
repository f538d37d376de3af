"""Does a mean know in which order its tokens came?

Chapter 02. In: random vectors and a permutation of them. Out: the largest difference between the
last rows of the averaging matrix applied to both (float32, so rounding is all that can differ).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from experiments import material
from experiments.session import Run
from experiments.triangle import averaging_matrix


@dataclass(frozen=True)
class Settings:
    """A sequence of `length` vectors of `width` numbers."""

    length: int = 128
    width: int = 128


FULL = Settings()
SMOKE = Settings(length=16, width=8)
SEEDS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """The last mean of a sequence against the last mean of the same vectors in another order."""
    generator = material.seeded(run)
    x = torch.randn(settings.length, settings.width, generator=generator)  # (T, d)
    order = torch.randperm(settings.length, generator=generator)  # (T,)
    weights = averaging_matrix(settings.length)[-1]  # (T,)
    last, shuffled = weights @ x, weights @ x[order]  # (d,)
    return {
        "max_abs_diff": (last - shuffled).abs().max().item(),
        "mean_abs_output": last.abs().mean().item(),
    }
