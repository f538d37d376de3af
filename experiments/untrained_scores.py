"""What does a dot product prefer before anything is learned?

Chapter 04. In: vectors drawn at random, a text. Out, by width: how often a position scores highest
with itself, and how far the scores are from symmetric, when the vectors are compared as they are,
after one map for both sides, and after two; beside them what chance and independence would give.
Row `copies` counts a text: the weight on itself of a token that reads its own copies alone.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from experiments import inside, material
from experiments.session import Run


@dataclass(frozen=True)
class Settings:
    """Vectors drawn: so many sequences of so many positions; windows of text counted."""

    measured: str = "experiments.untrained_scores:compare_drawn"
    widths: tuple[int, ...] = (2, 8, 32, 128)
    length: int = 128
    sequences: int = 8
    vocabulary: int = 1024


FULL = Settings()
SMOKE = Settings(widths=(2, 8), length=16, sequences=2, vocabulary=300)
ROWS = {
    "": {},
    "longer": {"length": 1024},  # an exercise
    "copies": {"measured": "experiments.untrained_scores:count_copies"},
}
SMOKE_ROWS = {"longer": {"length": 32}}
SEEDS = {"": (0, 1, 2, 3, 4, 5, 6, 7, 8, 9), "longer": (0, 1, 2, 3, 4, 5, 6, 7, 8, 9), "copies": ()}
INPUTS = ("corpus",)


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Drawn vectors, or the copies in a text."""
    return material.named(settings.measured)(settings, run)


# listing: compare_drawn
def compare_drawn(settings: Settings, run: Run) -> Mapping[str, Any]:
    generator = material.seeded(run)
    n, t = settings.sequences, settings.length

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator).double()

    values: dict[str, Any] = expected(t)
    for d in settings.widths:
        x = draw(n, t, d)  # (n, T, d)
        a, b = draw(d, d), draw(d, d)
        values[f"d_{d}"] = {
            "raw": inside.compare(x, x),
            "one_map": inside.compare(x @ a, x @ a),
            "two_maps": inside.compare(x @ a, x @ b),
        }
    return values


# end: compare_drawn


def expected(length: int) -> dict[str, float]:
    """What a draw among the visible positions would give (the first row, which sees one, left out),
    the asymmetry of independent normal scores, and the width at which the own score overtakes."""
    places = range(2, length + 1)
    return {
        "chance": sum(1 / t for t in places) / len(places),
        "independent": math.sqrt(2),
        "limit": 2 * math.log(length),
    }


def count_copies(settings: Settings, run: Run) -> Mapping[str, float]:
    """Mean of 1/k over the rows, k the times that the row's token stands in its prefix."""
    windows = inside.held_out_windows(
        run, settings.vocabulary, settings.length, settings.sequences
    )  # (n, T)
    weights: list[float] = []
    for window in windows.tolist():
        seen: Counter[int] = Counter()
        for position, token in enumerate(window):
            seen[token] += 1
            if position:
                weights.append(1 / seen[token])
    return {"self_weight": sum(weights) / len(weights)}
