"""How far does the dot product of two random vectors spread as they grow longer?

Chapter 05. In: pairs of vectors of independent numbers with mean zero and variance one. Out: the
variance and standard deviation of their dot products by width; the theory says d and √d.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from experiments import material
from experiments.session import Run


@dataclass(frozen=True)
class Settings:
    """So many pairs at each width."""

    widths: tuple[int, ...] = (4, 16, 64, 256, 1024)
    pairs: int = 20000


FULL = Settings()
SMOKE = Settings(pairs=500)
SEEDS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One entry a width."""
    generator = material.seeded(run)
    values: dict[str, dict[str, float]] = {}
    for d in settings.widths:
        q = torch.randn(settings.pairs, d, generator=generator)  # (pairs, d)
        k = torch.randn(settings.pairs, d, generator=generator)
        dots = (q * k).sum(1).double()  # (pairs,)
        values[f"d_{d}"] = {
            "variance": dots.var().item(),
            "std": dots.std().item(),
            "sqrt_d": math.sqrt(d),
        }
    return values
