"""Where should the norm sit, and does the gradient at initialisation explain it?

Chapter 07. In: the corpus, twelve blocks, pre-norm or post-norm as in 2017. Out: the norm of each
block's gradient before any step (rows `pre` and `post`, untrained, several seeds), and perplexities
with and without a warmup (rows `pre.warmup_0` and so on).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from experiments import language, material
from experiments.session import Run
from model.language_model import LanguageModel
from model.loss import fused_loss
from model.settings import LanguageModelSettings


@dataclass(frozen=True)
class Settings(LanguageModelSettings):
    """Twelve blocks, a thousand steps at three times the common rate."""

    model: str = "model.language_model:Blocks"
    blocks: int = 12
    steps: int = 1000
    learning_rate: float = 3e-3
    untrained: str = ""


FULL = Settings()
SMOKE = Settings(
    vocabulary=300, width=16, context=16, heads=2, head_width=8, batch=4, blocks=3, steps=12,
    curve_points=4, sample_tokens=8,
)  # fmt: skip
ROWS = {
    "pre": {"untrained": "experiments.norm_placement:gradient_norms"},
    "post": {
        "untrained": "experiments.norm_placement:gradient_norms",
        "model": "model.language_model:PostNormBlocks",
    },
    "pre.warmup_0": {},
    "pre.warmup_200": {"warmup": 200},
    "post.warmup_0": {"model": "model.language_model:PostNormBlocks"},
    "post.warmup_200": {"model": "model.language_model:PostNormBlocks", "warmup": 200},
}
SEEDS = {
    "pre": (0, 1, 2, 3, 4),
    "post": (0, 1, 2, 3, 4),
    "pre.warmup_0": (0, 1),
    "pre.warmup_200": (0, 1),
    "post.warmup_0": (0,),
    "post.warmup_200": (0, 1),
}
TRAINED = ("pre.warmup_0", "pre.warmup_200", "post.warmup_0", "post.warmup_200")
INPUTS = ("corpus",)
UNITS = {
    "parameters": "parameters",
    "*perplexity": "perplexity",
    "train_loss": "nats",
    "step": "steps",
}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One row: gradients before any step, or a training."""
    if settings.untrained:
        return material.named(settings.untrained)(settings, run)
    return language.measure_language_model(settings, run)[1]


def gradient_norms(settings: Settings, run: Run) -> dict[str, Any]:
    """The Euclidean norm of each block's gradient, on the first training batch."""
    text = material.corpus_tokens(settings.vocabulary)
    model: LanguageModel = language.build(settings, run)
    tokens, targets = language.random_windows(text.train, settings)(run.generator)
    torch.autograd.backward(fused_loss(model, tokens.to(run.device), targets.to(run.device)))
    norms = [block_norm(block) for block in model.get_submodule("blocks").children()]
    return {
        "gradient_norm": {f"block_{i}": norm for i, norm in enumerate(norms, 1)},
        "last_over_first": norms[-1] / norms[0],
    }


def block_norm(block: torch.nn.Module) -> float:
    """The norm over all parameters of a block together."""
    squares = [p.grad.double().square().sum() for p in block.parameters() if p.grad is not None]
    return torch.stack(squares).sum().sqrt().item()
