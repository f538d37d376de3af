"""What is each piece of the block worth?

Chapter 06. Each row adds one piece to the row above. In: the corpus. Out: parameters and
perplexities by row; the run without a row counts what each rung adds. Three rows are measured
elsewhere and only named here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import torch

from experiments import language, material
from experiments.session import Run
from model import language_model
from model.settings import LanguageModelSettings


@dataclass(frozen=True)
class Settings(LanguageModelSettings):
    """The common settings; what counts where nothing is trained."""

    counted: str = ""


FULL = Settings()
SMOKE = Settings(
    vocabulary=300, width=16, context=16, heads=2, head_width=8, batch=4, steps=12, curve_points=4,
    sample_tokens=8,
)  # fmt: skip
ROWS = {
    "": {"counted": "experiments.ladder:count_rungs"},
    "mean_added_positions": {"model": "model.language_model:MeanAddedPositions"},
    "head_replaced": {"model": "model.language_model:HeadReplaced"},
    "head_added": {"model": "model.language_model:HeadAdded"},
    "heads_4": {"model": "model.language_model:HeadsAdded"},
    "mlp": {"model": "model.language_model:MLPAdded"},
    "blocks_2": {"model": "model.language_model:Blocks", "blocks": 2},
}
SEEDS = {
    "": (),
    "mean_added_positions": (0, 1, 2),
    "head_replaced": (0, 1, 2),
    "head_added": (0, 1, 2),
    "heads_4": (0, 1, 2),
    "mlp": (0, 1, 2),
    "blocks_2": (0, 1, 2),
}
TRAINED = ("mean_added_positions", "head_replaced", "head_added", "heads_4", "mlp", "blocks_2")
INPUTS = ("corpus",)
UNITS = {
    "*parameters": "parameters",
    "*perplexity": "perplexity",
    "train_loss": "nats",
    "step": "steps",
}
ALIASES = {
    "ladder.none": "averages.none",
    "ladder.mean_added": "averages.mean_added",
    "ladder.norm": "scale_ablation.full_d32.divided",
}


# listing: rungs
RUNGS = {
    "none": language_model.TokenOnly,
    "mean_added": language_model.MeanAdded,
    "mean_added_positions": language_model.MeanAddedPositions,
    "head_replaced": language_model.HeadReplaced,
    "head_added": language_model.HeadAdded,
    "heads_4": language_model.HeadsAdded,
    "mlp": language_model.MLPAdded,
    "norm": language_model.Blocks,
    "blocks_2": language_model.Blocks,
}
# end: rungs


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One rung, or what all of them add."""
    if settings.counted:
        return material.named(settings.counted)(settings)
    return language.measure_language_model(settings, run)[1]


def count_rungs(settings: LanguageModelSettings) -> dict[str, dict[str, int]]:
    """Parameters that each rung has more than the one above, counted on the meta device."""
    counts = {
        name: count_parameters(kind, replace(settings, blocks=2 if name == "blocks_2" else 1))
        for name, kind in RUNGS.items()
    }
    first = next(iter(counts))
    added = {first: 0} | {name: counts[name] - counts[above] for above, name in pairwise(counts)}
    return {name: {"added_parameters": number} for name, number in added.items()}


def count_parameters(
    kind: type[language_model.LanguageModel], settings: LanguageModelSettings
) -> int:
    with torch.device("meta"):
        return language.count_parameters(kind(settings))
