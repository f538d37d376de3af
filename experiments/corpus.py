"""How long is the text, in characters and in tokens, and what do frequencies alone foretell?

Chapters 00 and 02. In: the corpus and the tokenizer's vocabulary. Out: counts, and the held-out
perplexity of guessing every token by its frequency in the training split.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from experiments import material
from experiments.session import Run


@dataclass(frozen=True)
class Settings:
    """How many tokens the tokenizer may know."""

    vocabulary: int = 1024


FULL = Settings()
SMOKE = Settings(vocabulary=300)
INPUTS = ("corpus",)
UNITS = {
    "characters": "characters",
    "*tokens": "tokens",
    "vocabulary": "tokens",
    "*perplexity": "perplexity",
}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Counts of the text as every other experiment sees it."""
    text = material.corpus_tokens(settings.vocabulary)
    tokens = len(text.train) + len(text.validation)
    counts = torch.bincount(text.train, minlength=settings.vocabulary).double() + 1  # (V,)
    surprise = -(counts / counts.sum()).log()[text.validation]  # (N,)
    return {
        "characters": text.characters,
        "tokens": tokens,
        "characters_per_token": text.characters / tokens,
        "train_tokens": len(text.train),
        "validation_tokens": len(text.validation),
        "vocabulary": text.tokenizer.get_vocab_size(),
        "frequency_perplexity": math.exp(surprise.mean().item()),
    }
