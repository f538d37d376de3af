"""Which encoding of order still works past the length it was trained at?

Chapter 08. In: the corpus, one block, windows of 64 in training. Out: perplexities with windows of
64, 128 and 256 over the same held-out text, of all targets and of the last 64 of each window; for
the rotary run also with its angles rescaled, without training again: position interpolation (Chen
et al. 2023) and the larger base known as NTK-aware (bloc97 2023).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from experiments import language, material
from experiments.session import Run
from model.language_model import LanguageModel
from model.perplexity import mean_loss, windows
from model.position import PositionSettings, RotaryAttention


@dataclass(frozen=True)
class Settings(PositionSettings):
    """Trained at 64; evaluated at three lengths; `rescaled` names what else a run is asked."""

    context: int = 64
    lengths: tuple[int, ...] = (64, 128, 256)
    last: int = 64
    rescaled: str = ""


FULL = Settings()
SMOKE = Settings(
    vocabulary=300, width=16, context=8, heads=2, head_width=8, batch=4, steps=12, curve_points=4,
    sample_tokens=8, lengths=(8, 16), last=8, table_rows=16,
)  # fmt: skip
ROWS = {
    "learned": {"model": "model.position:LearnedPositions"},
    "sinusoidal": {"model": "model.position:SinusoidalPositions"},
    "rope": {
        "model": "model.position:RotaryPositions",
        "rescaled": "experiments.positions:rescaled_rope",
    },
    "alibi": {"model": "model.position:AlibiPositions"},
    "none": {"model": "model.position:NoPositions"},
}
SEEDS = (0,)
TRAINED = True
INPUTS = ("corpus",)
UNITS = {
    "parameters": "parameters",
    "*perplexity": "perplexity",
    "train_loss": "nats",
    "step": "steps",
}
ALIASES = {
    "positions.rope_interpolated": "positions.rope.rescaled.interpolated",
    "positions.rope_ntk": "positions.rope.rescaled.ntk",
}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One encoding."""
    model, values = language.measure_language_model(settings, run)
    values |= by_length(model, settings, run)
    if settings.rescaled:
        values["rescaled"] = material.named(settings.rescaled)(model, settings, run)
    return values


def by_length(model: LanguageModel, settings: Settings, run: Run) -> dict[str, Any]:
    """Perplexities at every length, over the same held-out tokens."""
    return {f"length_{n}": at_length(model, n, settings, run) for n in settings.lengths}


def at_length(model: LanguageModel, n: int, settings: Settings, run: Run) -> dict[str, float]:
    """Windows of n: all targets, and the last of each whole window."""
    text = material.corpus_tokens(settings.vocabulary).validation
    if run.short:
        text = text[: 2 * max(settings.lengths) + 1]
    batches = windows(text, n)
    return {
        "validation_perplexity": math.exp(mean_loss(model, batches)),
        f"last_{settings.last}_perplexity": math.exp(
            mean_loss(model, batches[:1], last=settings.last)
        ),
    }


def rescaled_rope(model: LanguageModel, settings: Settings, run: Run) -> dict[str, Any]:
    """The trained rotary model with its angles fitted to each length; as it was at the end."""
    layers = [layer for layer in model.modules() if isinstance(layer, RotaryAttention)]
    found: dict[str, dict[str, Any]] = {"interpolated": {}, "ntk": {}}
    for n in settings.lengths:
        longer = max(1.0, n / settings.context)
        for layer in layers:
            layer.stretch = longer
        found["interpolated"][f"length_{n}"] = at_length(model, n, settings, run)
        d = settings.head_width
        for layer in layers:
            layer.stretch, layer.base = 1.0, 10000.0 * longer ** (d / (d - 2))
        found["ntk"][f"length_{n}"] = at_length(model, n, settings, run)
        for layer in layers:
            layer.base = 10000.0
    return found
