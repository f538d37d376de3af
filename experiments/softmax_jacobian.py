"""How much of the gradient does a softmax let through?

Chapter 05. In: random rows of scores, divided by the root of the width or not. Out: the trace of
the Jacobian, the sum of w(1-w), and the share of rows frozen on one key, by width.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from experiments import material
from experiments.saturation import random_scores
from experiments.session import Run


@dataclass(frozen=True)
class Settings:
    """A row is frozen when its largest weight is above `frozen_above`."""

    widths: tuple[int, ...] = (4, 16, 64, 256, 1024)
    keys: int = 64
    rows: int = 2000
    frozen_above: float = 0.99


FULL = Settings()
SMOKE = Settings(rows=50)
SEEDS = (0, 1, 2, 3, 4)


def describe(scores: Tensor, frozen_above: float) -> dict[str, float]:
    """Trace and frozen share of rows of scores (rows, keys)."""
    weights = scores.double().softmax(1)  # (rows, keys)
    return {
        "trace": (weights * (1 - weights)).sum(1).mean().item(),
        "frozen_share": (weights.amax(1) > frozen_above).double().mean().item(),
    }


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Divided and undivided are the same scores."""
    generator = material.seeded(run)
    values: dict[str, dict[str, Any]] = {}
    for d in settings.widths:
        scores = random_scores(settings.rows, settings.keys, d, generator)
        values[f"d_{d}"] = {
            "undivided": describe(scores, settings.frozen_above),
            "divided": describe(scores / d**0.5, settings.frozen_above),
        }
    return values
