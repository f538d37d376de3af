"""What is each part of a block of today worth, swapped in one at a time?

Chapter 20. In: the corpus, the `norm` rung of the ladder as baseline. Out: perplexities with
RMSNorm, grouped-query attention, SwiGLU, rotary embeddings, and all of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from experiments import language
from experiments.session import Run
from model.modern import ModernSettings


@dataclass(frozen=True)
class Settings(ModernSettings):
    """The common settings; two heads of keys and values, a SwiGLU as large as the MLP."""


FULL = Settings()
SMOKE = Settings(
    vocabulary=300, width=16, context=16, heads=2, head_width=8, kv_heads=1, hidden=43, batch=4,
    steps=12, curve_points=4, sample_tokens=8,
)  # fmt: skip
ROWS = {
    "rmsnorm": {"model": "model.modern:RMSNormBlocks"},
    "gqa": {"model": "model.modern:GroupedBlocks"},
    "swiglu": {"model": "model.modern:SwiGLUBlocks"},
    "rope": {"model": "model.position:RotaryPositions"},
    "all": {"model": "model.modern:ModernBlocks"},
}
SEEDS = (0, 1, 2)
TRAINED = True
INPUTS = ("corpus",)
UNITS = {
    "parameters": "parameters",
    "*perplexity": "perplexity",
    "train_loss": "nats",
    "step": "steps",
}
ALIASES = {"modern_ablation.baseline": "scale_ablation.full_d32.divided"}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One row."""
    return language.measure_language_model(settings, run)[1]
