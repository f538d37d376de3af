"""What do the weights of a row look like with and without the division by the root of the width?

Chapter 05. In: one random query and 64 random keys a row. Out: the largest weight and the effective
number of tokens, exp of the entropy, by width; one row kept whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor

from experiments import material
from experiments.session import Run


@dataclass(frozen=True)
class Settings:
    """`rows` rows of `keys` scores at each width."""

    widths: tuple[int, ...] = (4, 16, 64, 256, 1024)
    keys: int = 64
    rows: int = 1000


FULL = Settings()
SMOKE = Settings(rows=50)
SEEDS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
UNITS = {"effective_tokens": "tokens"}


def random_scores(rows: int, keys: int, d: int, generator: Generator) -> Tensor:
    """Dot products of a query with its keys, all of independent normal numbers: (rows, keys)."""
    scores = torch.empty(rows, keys)
    for row in range(rows):  # a row at a time: all the keys at width 1024 would fill 256 MiB
        q = torch.randn(d, generator=generator)
        scores[row] = torch.randn(keys, d, generator=generator) @ q
    return scores


def describe(scores: Tensor) -> dict[str, Any]:
    """Means over the rows of scores (rows, keys), and the first row whole."""
    weights = scores.double().softmax(1)  # (rows, keys)
    largest = weights.amax(1)
    effective = torch.special.entr(weights).sum(1).exp()
    return {
        "max_weight": largest.mean().item(),
        "effective_tokens": effective.mean().item(),
        "example": {
            "weights": weights[0].tolist(),
            "max_weight": largest[0].item(),
            "effective_tokens": effective[0].item(),
        },
    }


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Divided and undivided are the same scores."""
    generator = material.seeded(run)
    values: dict[str, dict[str, Any]] = {}
    for d in settings.widths:
        scores = random_scores(settings.rows, settings.keys, d, generator)
        values[f"d_{d}"] = {"undivided": describe(scores), "divided": describe(scores / d**0.5)}
    return values
