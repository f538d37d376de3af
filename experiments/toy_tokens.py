"""Into which pieces does a tokenizer cut the sentence of the toy?

Chapter 13. In: the book's tokenizer, trained on the English of the corpus, and the sentence in
Portuguese and in English. Out: the pieces, and how many characters, bytes and tokens they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tokenizers import Tokenizer

from experiments import material
from experiments.session import Run


@dataclass(frozen=True)
class Settings:
    """The sentence with its next word, in two languages, and a word with an accent."""

    vocabulary: int = 1024
    portuguese: str = "O gato subiu no telhado"
    english: str = "The cat climbed onto the roof"
    accented: str = " chão"


FULL = Settings()
SMOKE = Settings(vocabulary=300)
INPUTS = ("corpus",)
UNITS = {"characters": "characters", "bytes": "bytes", "tokens": "tokens", "vocabulary": "tokens"}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """The pieces of each text."""
    tokenizer = material.corpus_tokens(settings.vocabulary).tokenizer
    texts = {
        "portuguese": settings.portuguese,
        "english": settings.english,
        "accented": settings.accented,
    }
    return {"vocabulary": tokenizer.get_vocab_size()} | {
        name: cut(tokenizer, text) for name, text in texts.items()
    }


def cut(tokenizer: Tokenizer, text: str) -> dict[str, Any]:
    ids: list[int] = tokenizer.encode(text).ids
    again: str = tokenizer.decode(ids)
    return {
        "text": text,
        "pieces": "|".join(tokenizer.decode([one]).replace(" ", "␣") for one in ids),
        "characters": len(text),
        "bytes": len(text.encode()),
        "tokens": len(ids),
        "characters_per_token": len(text) / len(ids),
        "round_trip": again == text,
    }
