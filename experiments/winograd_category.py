"""Who is "it", where the adjective's category gives it away?

Chapter 11, the version that can be solved by cheating: one noun is an animal, the other a place.
In: sentences with eight adjectives, ordered pairs held back. Out: how often the referent is named,
with the uniform mean in place of attention and with one block.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from experiments import material, sentences
from experiments.session import Run


@dataclass(frozen=True)
class Settings(sentences.SentenceSettings):
    """Animals and places; sixteen of their pairs held back."""


FULL = Settings()
SMOKE = Settings(width=16, heads=2, head_width=8, batch=8, steps=12, curve_points=4)
ROWS = {"mean": {"model": "model.language_model:MeanBlocks"}, "blocks_1": {}}
SEEDS = (0, 1, 2)
TRAINED = True
UNITS = {"parameters": "parameters", "*loss": "nats", "step": "steps"}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One row."""
    pairs = sentences.split(
        sentences.category_pairs(), settings.held_out_pairs, material.seeded(run)
    )
    return sentences.measure_sentences(settings, run, *pairs)[1]
