"""How long is the text, in characters and in tokens?

Chapter 00. In: the corpus and the tokenizer's vocabulary. Out: counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from experiments.session import Run


@dataclass(frozen=True)
class Settings:
    """How many tokens the tokenizer may know."""

    vocabulary: int = 1024


FULL = Settings()
SMOKE = Settings(vocabulary=300)
INPUTS = ("corpus",)
UNITS = {"characters": "characters", "*tokens": "tokens", "vocabulary": "tokens"}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Counts of the text as every other experiment sees it."""
    text = run.text(settings.vocabulary)
    tokens = len(text.train) + len(text.validation)
    return {
        "characters": text.characters,
        "tokens": tokens,
        "characters_per_token": text.characters / tokens,
        "train_tokens": len(text.train),
        "validation_tokens": len(text.validation),
        "vocabulary": text.tokenizer.get_vocab_size(),
    }
