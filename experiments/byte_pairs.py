"""Which pairs does BPE join first, and how much does each join shorten the text?

Chapter 00. In: the corpus, cut into words by the rule of the book's tokenizer, its bytes as pieces.
Out: the first merges of the plain algorithm, how often each pair stood there, and how many pieces
the text has after it.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tokenizers import pre_tokenizers

from experiments.session import Run, source_text
from model.tokenizer import join, learn_merges

SHOWN = str.maketrans({"Ġ": "␣", "Ċ": "↵"})  # GPT-2's letters for the bytes of space and line end


@dataclass(frozen=True)
class Settings:
    """How many pairs are joined."""

    merges: int = 12


FULL = Settings()
SMOKE = Settings(merges=3)
INPUTS = ("corpus",)
UNITS = {"pieces*": "tokens"}


def words_of(text: str) -> Counter[tuple[str, ...]]:
    """The words of a text, each as a row of bytes, and how often it occurs."""
    rule = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return Counter(tuple(word) for word, _ in rule.pre_tokenize_str(text))


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Learn the merges, then join them one after another and count."""
    words = words_of(source_text())
    values: dict[str, Any] = {"words": words.total(), "different_words": len(words)}
    values["pieces"] = count_pieces(words)
    for number, pair in enumerate(learn_merges(words, settings.merges), start=1):
        times = sum(n for word, n in words.items() for one in pairwise(word) if one == pair)
        words = Counter({join(word, pair): n for word, n in words.items()})
        values[f"merge_{number}"] = {
            "left": pair[0].translate(SHOWN),
            "right": pair[1].translate(SHOWN),
            "joined": "".join(pair).translate(SHOWN),
            "times": times,
            "pieces": count_pieces(words),
        }
    return values


def count_pieces(words: Counter[tuple[str, ...]]) -> int:
    return sum(len(word) * n for word, n in words.items())
