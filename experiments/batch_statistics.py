"""Does a normalised token depend on what else is in the batch?

Chapter 07. In: windows of the training text as embeddings not yet trained, normalised by LayerNorm
and by BatchNorm, whose statistics are taken over the tokens of the batch. Out: the largest change
of one window's normalised numbers when its company in the batch changes, when its last token does
(at earlier positions), when the window is cut in half, and between training and generation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from experiments import language, material
from experiments.session import Run
from model.language_model import WithPositions
from model.settings import LanguageModelSettings


@dataclass(frozen=True)
class Settings(LanguageModelSettings):
    """The embeddings of the common model; batches that BatchNorm sees before it generates."""

    seen: int = 200


FULL = Settings()
SMOKE = Settings(vocabulary=300, width=16, context=16, batch=4, seen=3)
SEEDS = (0, 1, 2, 3, 4)
INPUTS = ("corpus",)


class BatchNorm(nn.Module):
    """PyTorch's, one mean and one deviation per component, over all tokens of the batch."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(width)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x.flatten(0, 1)).view_as(x)  # (B·T, d) → (B, T, d)


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Both norms, the same windows."""
    text = material.corpus_tokens(settings.vocabulary)
    model = material.initialise(run, lambda: WithPositions(settings))
    draw = language.random_windows(text.train, settings)
    with torch.no_grad():
        batches = [
            model.embed(draw(run.generator)[0].to(run.device)) for _ in range(settings.seen + 2)
        ]  # (B, T, d) each
        norms = {"layer": nn.LayerNorm(settings.width), "batch": BatchNorm(settings.width)}
        return {name: changes(norm.to(run.device), batches) for name, norm in norms.items()}


def changes(norm: nn.Module, batches: list[Tensor]) -> dict[str, float]:
    """What moves the first window of a batch, beyond its own tokens before the position read."""
    *seen, batch, other = batches
    norm.train()
    for one in seen:
        norm(one)
    window = norm(batch)[0]  # (T, d)
    company = torch.cat([batch[:1], other[1:]])
    edited = batch.clone()
    edited[0, -1] = other[0, -1]
    half = batch.shape[1] // 2
    cut = norm(batch[:, :half])[0]
    with_company, with_edit = norm(company)[0], norm(edited)[0]
    alone = norm.eval()(batch[:1])[0]
    return {
        "other_company": largest(window, with_company),
        "later_token": largest(window[:-1], with_edit[:-1]),
        "half_window": largest(window[:half], cut),
        "generation": largest(window, alone),
    }


def largest(one: Tensor, other: Tensor) -> float:
    """The largest difference between two tensors of the same shape."""
    return (one - other).abs().max().item()
