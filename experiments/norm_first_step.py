"""How far does the first step move what a deep model says, with the norm first or last?

Chapter 07. In: the models of norm_placement before any step, and one step of AdamW on the first
training batch, at the full rate and at the first rate of a warmup. Out: how far the logits of that
batch move, beside their size, and the loss before and after. AdamW's first step moves every
parameter that has a gradient equally far, so what differs is what the model makes of it.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from experiments import language, material
from experiments.session import Run
from model.loss import fused_loss
from model.settings import LanguageModelSettings


@dataclass(frozen=True)
class Settings(LanguageModelSettings):
    """The shape and the rate of norm_placement."""

    model: str = "model.language_model:Blocks"
    blocks: int = 12
    learning_rate: float = 3e-3
    warmup: int = 200


FULL = Settings()
SMOKE = Settings(vocabulary=300, width=16, context=16, heads=2, head_width=8, batch=4, blocks=3)
ROWS = {"pre": {}, "post": {"model": "model.language_model:PostNormBlocks"}}
SEEDS = (0, 1, 2, 3, 4)
INPUTS = ("corpus",)
UNITS = {"loss*": "nats"}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """The same gradient, two rates."""
    text = material.corpus_tokens(settings.vocabulary)
    model = language.build(settings, run)
    drawn = language.random_windows(text.train, settings)(run.generator)
    tokens, targets = drawn[0].to(run.device), drawn[1].to(run.device)
    torch.autograd.backward(fused_loss(model, tokens, targets))
    before = logits(model, tokens)
    rates = {"full": settings.learning_rate, "warm": settings.learning_rate / settings.warmup}
    values: dict[str, Any] = {"loss_before": loss(before, targets)}
    for name, rate in rates.items():
        after = logits(stepped(model, rate, settings.weight_decay), tokens)
        values[name] = {
            "moved": ((after - before).norm() / before.norm()).item(),
            "loss_after": loss(after, targets),
        }
    return values


def stepped(model: nn.Module, rate: float, decay: float) -> nn.Module:
    """A copy of the model, one step on."""
    copy = deepcopy(model)
    for one, origin in zip(copy.parameters(), model.parameters(), strict=True):
        one.grad = None if origin.grad is None else origin.grad.clone()
    torch.optim.AdamW(copy.parameters(), lr=rate, weight_decay=decay).step()
    return copy


def logits(model: nn.Module, tokens: Tensor) -> Tensor:
    """(B, T) → (B, T, V), without gradients."""
    with torch.no_grad():
        return model(tokens)


def loss(scores: Tensor, targets: Tensor) -> float:
    """Cross-entropy in nats per token."""
    return cross_entropy(scores.flatten(0, 1), targets.flatten()).item()
