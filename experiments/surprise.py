"""Does a model of perplexity k waver among k tokens each time?

Chapter 00. In: the counted bigram of chapter 02 and the held-out text. Out: its perplexity, and how
the chances are spread that it gave to the tokens that came.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from experiments import averages, material
from experiments.session import Run


@dataclass(frozen=True)
class Settings:
    """The table of pairs of chapter 02; how many halvings of a chance a histogram tells apart."""

    vocabulary: int = 1024
    smoothing: float = 0.1
    halvings: int = 16


FULL = Settings()
SMOKE = Settings(vocabulary=300)
INPUTS = ("corpus",)
UNITS = {"*perplexity": "perplexity"}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One chance per held-out token: what the table of pairs gave it, after the token before it."""
    text = material.corpus_tokens(settings.vocabulary)
    table = averages.pair_table(text.train, settings.vocabulary, settings.smoothing)  # (V, V)
    now, following = text.validation[:-1], text.validation[1:]  # (N,)
    loss = -table[now, following]  # (N,) in nats
    chance = (-loss).exp()
    worst = loss.sort(descending=True).values[: len(loss) // 10]
    halving = (loss / math.log(2)).floor().long().clamp(max=settings.halvings)  # (N,)
    shares = torch.bincount(halving, minlength=settings.halvings + 1).double() / len(loss)
    return {
        "perplexity": math.exp(loss.mean().item()),
        "blind_perplexity": float(settings.vocabulary),
        "mean_chance": chance.mean().item(),
        "median_chance": chance.median().item(),
        "first_guess_share": (table[now].argmax(1) == following).double().mean().item(),
        "above_half_share": (chance > 0.5).double().mean().item(),
        "below_blind_share": (chance < 1 / settings.vocabulary).double().mean().item(),
        "worst_tenth_of_loss": (worst.sum() / loss.sum()).item(),
        "halvings": {f"h_{n}": share for n, share in enumerate(shares.tolist())},
    }
