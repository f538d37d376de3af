"""When does a head learn to look up what came after the last time?

Chapter 11. In: random patterns repeated with a period that changes from sequence to sequence, so
that no fixed distance helps. Out: the loss over the second copy, with one block and with two, and
its curve over training (Olsson et al. 2022).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor

from experiments import language, material
from experiments.session import Run
from model.language_model import LanguageModel
from model.loss import token_losses
from model.settings import LanguageModelSettings


@dataclass(frozen=True)
class Settings(LanguageModelSettings):
    """Sixty-four symbols; periods of 10 to 30 in sequences of 64; a fixed set to evaluate on."""

    model: str = "model.language_model:Blocks"
    vocabulary: int = 64
    context: int = 64
    shortest: int = 10
    longest: int = 30
    evaluated: int = 256


FULL = Settings()
SMOKE = Settings(
    width=16, context=16, heads=2, head_width=8, batch=4, steps=12, curve_points=4, shortest=3,
    longest=6, evaluated=8,
)  # fmt: skip
ROWS = {"blocks_1": {}, "blocks_2": {"blocks": 2}}
SEEDS = (0, 1, 2)
TRAINED = True
UNITS = {"parameters": "parameters", "*loss": "nats", "step": "steps"}


def repeated(settings: Settings, count: int, generator: Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs and targets (count, T), and which targets lie in a second copy, its first left out."""
    low, high = settings.shortest, settings.longest + 1
    periods = torch.randint(low, high, (count, 1), generator=generator)  # (count, 1)
    patterns = torch.randint(settings.vocabulary, (count, high), generator=generator)
    places = torch.arange(settings.context + 1)  # (T + 1,)
    symbols = patterns.gather(1, places % periods)  # (count, T + 1)
    target = places[1:]
    second = (target > periods) & (target < 2 * periods)  # (count, T)
    return symbols[:, :-1], symbols[:, 1:], second


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One row."""
    fixed = repeated(settings, settings.evaluated, Generator().manual_seed(10_000))
    model = language.build(settings, run)

    def copies(model: LanguageModel) -> dict[str, float]:
        x, y, second = (each.to(run.device) for each in fixed)
        losses = token_losses(model, x, y).double()
        first = torch.arange(1, settings.context + 1, device=run.device) < settings.shortest
        return {
            "second_copy_loss": losses[second].mean().item(),
            "first_copy_loss": losses[:, first].mean().item(),
        }

    def draw(generator: Generator) -> tuple[Tensor, Tensor]:
        x, y, _ = repeated(settings, settings.batch, generator)
        return x, y

    fitted = material.fit(model, draw, settings, run, copies)
    return {
        "parameters": language.count_parameters(model),
        **copies(model),
        "uniform_loss": torch.tensor(float(settings.vocabulary)).log().item(),
        "curve": language.as_columns(fitted.curve),
    }
