"""Is a block with uniform weights blind to which of two nouns came first?

Chapter 11. In: untrained blocks with the uniform mean in place of attention, and every sentence of
winograd_roles with its two nouns in either order. Out: the largest difference between the logits at
the word that names the referent, with the norm before the mean and without it. Without the norm a
sum is left and rounding is all that can differ; with it each token is rescaled at its own place.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from experiments import material, sentences
from experiments.session import Run
from model.block import Block
from model.language_model import MeanBlocks


@dataclass(frozen=True)
class Settings(sentences.SentenceSettings):
    """The shape of the row `winograd_roles.mean`; nothing is trained."""

    model: str = "model.language_model:MeanBlocks"


FULL = Settings()
SMOKE = Settings(width=16, heads=2, head_width=8)
SEEDS = (0, 1, 2, 3, 4)


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Both orders of every two nouns, with every adjective."""
    pairs = [pair for pair in sentences.role_pairs() if pair[0] < pair[1]]
    one = sentences.all_sentences(pairs)[:, : sentences.REF]  # (N, 15)
    turned = [(second, first) for first, second in pairs]
    other = sentences.all_sentences(turned)[:, : sentences.REF]
    model = material.initialise(run, lambda: MeanBlocks(settings))
    with_norm = swapped(model, one.to(run.device), other.to(run.device))
    for block in model.blocks:
        assert isinstance(block, Block)
        block.norm_1 = nn.Identity()
    return {
        "with_norm": with_norm,
        "without_norm": swapped(model, one.to(run.device), other.to(run.device)),
    }


def swapped(model: MeanBlocks, one: Tensor, other: Tensor) -> dict[str, float]:
    """Between two orders of the same words; and how far a logit varies over all sentences."""
    with torch.no_grad():
        first, second = model(one)[:, -1], model(other)[:, -1]  # (N, V)
        return {
            "max_abs_diff": (first - second).abs().max().item(),
            "mean_logit_std": first.std(0).mean().item(),
        }
