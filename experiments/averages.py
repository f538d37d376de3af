"""Does the mean of what came before help a language model?

Chapter 02, and 07 for `unigram`. Four rows are trained, two are counted. In: the corpus. Out:
parameters and perplexities by row.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from experiments import language, material
from experiments.session import Run
from model.settings import LanguageModelSettings


@dataclass(frozen=True)
class Settings(LanguageModelSettings):
    """The common settings; what counts an untrained row, and how its counts are smoothed."""

    counted: str = ""
    smoothing: float = 0.1


FULL = Settings()
SMOKE = Settings(
    vocabulary=300, width=16, context=16, batch=4, steps=12, curve_points=4, sample_tokens=8
)
ROWS = {
    "none": {"model": "model.language_model:TokenOnly"},
    "mean": {"model": "model.language_model:MeanOnly"},
    "mean_positions": {"model": "model.language_model:MeanPositions"},
    "mean_added": {"model": "model.language_model:MeanAdded"},
    "unigram": {"counted": "experiments.averages:count_tokens"},
    "bigram": {"counted": "experiments.averages:count_bigrams"},
}
SEEDS = {
    "none": (0, 1, 2),
    "mean": (0, 1, 2),
    "mean_positions": (0, 1, 2),
    "mean_added": (0, 1, 2),
    "unigram": (),
    "bigram": (),
}
TRAINED = ("none", "mean", "mean_positions", "mean_added")
INPUTS = ("corpus",)
UNITS = {
    "parameters": "parameters",
    "*perplexity": "perplexity",
    "train_loss": "nats",
    "step": "steps",
}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One row: trained where it has a model, counted where it has none."""
    if settings.counted:
        return material.named(settings.counted)(settings, run)
    return language.measure_language_model(settings, run)[1]


def count_tokens(settings: Settings, run: Run) -> dict[str, Any]:
    """How frequent each token is in the training split, whatever comes before it; `smoothing` added
    to every count."""
    text = material.corpus_tokens(settings.vocabulary)
    raised = torch.bincount(text.train, minlength=settings.vocabulary).double() + settings.smoothing
    same_row = (raised / raised.sum()).log().expand(settings.vocabulary, -1)  # (V, V)
    return {
        "parameters": raised.numel(),
        "train_perplexity": table_perplexity(same_row, text.train),
        "validation_perplexity": table_perplexity(same_row, text.validation),
    }


def count_bigrams(settings: Settings, run: Run) -> dict[str, Any]:
    """Next-token counts over the training split, `smoothing` added to every pair."""
    text = material.corpus_tokens(settings.vocabulary)
    log_probability = pair_table(text.train, settings.vocabulary, settings.smoothing)  # (V, V)
    return {
        "parameters": log_probability.numel(),
        "train_perplexity": table_perplexity(log_probability, text.train),
        "validation_perplexity": table_perplexity(log_probability, text.validation),
    }


def pair_table(tokens: Tensor, vocabulary: int, smoothing: float) -> Tensor:
    """Log probability of each token (column) after each (row), by counting pairs: (V, V)."""
    pairs = tokens[:-1] * vocabulary + tokens[1:]  # (N - 1,)
    counts = torch.bincount(pairs, minlength=vocabulary**2).view(vocabulary, vocabulary)
    raised = counts.double() + smoothing
    return (raised / raised.sum(1, keepdim=True)).log()


def table_perplexity(log_probability: Tensor, tokens: Tensor) -> float:
    """exp of the mean surprise of each token after the one before it."""
    return math.exp(-log_probability[tokens[:-1], tokens[1:]].mean().item())
