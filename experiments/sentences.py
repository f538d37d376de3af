"""Which sentences ask a model to say who "it" is?

In: two nouns and an adjective. Out: Winograd sentences as word numbers (Levesque, Davis and
Morgenstern 2012), a split that holds back ordered pairs of nouns, and the score at the word that
names the referent:

    the X did not cross the Y because it was too ADJ , so the REF waited .
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

import torch
from torch import Generator, Tensor

from experiments import language, material
from experiments.session import Run
from model.language_model import LanguageModel
from model.settings import LanguageModelSettings

CROSSING = ("tired", "scared", "slow", "weak")  # too tired to cross: the one that crosses
CROSSED = ("wet", "wide", "busy", "steep")  # too wet to be crossed: the one that is crossed
ADJECTIVES = CROSSING + CROSSED
ANIMALS = ("dog", "cat", "horse", "sheep", "goat", "fox", "bear", "deer")
PLACES = ("road", "river", "field", "bridge", "street", "yard", "hill", "path")
FRAME = [
    "the",
    "X",
    "did",
    "not",
    "cross",
    "the",
    "Y",
    "because",
    "it",
    "was",
    "too",
    "ADJ",
    ",",
    "so",
    "the",
    "REF",
    "waited",
    ".",
]
X, Y, ADJ, REF = (FRAME.index(word) for word in ("X", "Y", "ADJ", "REF"))
WORDS = tuple(
    dict.fromkeys(
        [*(w for w in FRAME if w.islower() or not w.isalpha()), *ADJECTIVES, *ANIMALS, *PLACES]
    )
)
NUMBER = {word: number for number, word in enumerate(WORDS)}

Pair = tuple[str, str]


@dataclass(frozen=True)
class SentenceSettings(LanguageModelSettings):
    """The common shape; as many steps as leave the training loss flat; pairs held back."""

    model: str = "model.language_model:Blocks"
    vocabulary: int = 36  # as many as WORDS, says a test
    context: int = 18
    held_out_pairs: int = 16
    kept: str = ""


def sentence(pair: Pair, adjective: str) -> list[int]:
    """One sentence as word numbers: (18,)."""
    referent = pair[0] if adjective in CROSSING else pair[1]
    filled = {X: pair[0], Y: pair[1], ADJ: adjective, REF: referent}
    return [NUMBER[filled.get(place, word)] for place, word in enumerate(FRAME)]


def category_pairs() -> list[Pair]:
    """An animal that crosses, a place that is crossed."""
    return list(product(ANIMALS, PLACES))


def role_pairs() -> list[Pair]:
    """Any noun in either slot."""
    return list(permutations(ANIMALS + PLACES, 2))


def split(
    pairs: Sequence[Pair], held_out: int, generator: Generator
) -> tuple[list[Pair], list[Pair]]:
    """Training and held-out pairs; of two orders of the same nouns at most one is held out."""
    order = [pairs[i] for i in torch.randperm(len(pairs), generator=generator).tolist()]
    back: list[Pair] = []
    for pair in order:
        if len(back) < held_out and pair[::-1] not in back:
            back.append(pair)
    return [pair for pair in pairs if pair not in back], back


def all_sentences(pairs: Sequence[Pair]) -> Tensor:
    """Every pair with every adjective: (P · 8, 18)."""
    return torch.tensor(
        [sentence(pair, adjective) for pair, adjective in product(pairs, ADJECTIVES)]
    )


def score(model: LanguageModel, sentences: Tensor) -> dict[str, float]:
    """Who is named after "so the": over the whole vocabulary, and between the two nouns present."""
    device = next(model.parameters()).device
    sentences = sentences.to(device)
    with torch.no_grad():
        logits = model(sentences[:, :REF])[:, -1]  # (N, V)
    right, first, second = sentences[:, REF], sentences[:, X], sentences[:, Y]
    wrong = torch.where(right == first, second, first)
    best = logits.argmax(-1)
    rows = torch.arange(len(sentences), device=device)
    between = logits[rows, right] > logits[rows, wrong]
    return {
        "referent_accuracy": (best == right).double().mean().item(),
        "wrong_noun_share": (best == wrong).double().mean().item(),
        "pair_accuracy": between.double().mean().item(),
    }


def drawn_from(sentences: Tensor, settings: LanguageModelSettings) -> Any:
    """Batches of whole sentences: inputs all but the last word, targets all but the first."""

    def draw(generator: Generator) -> tuple[Tensor, Tensor]:
        chosen = sentences[
            torch.randint(len(sentences), (settings.batch,), generator=generator)
        ]  # (B, 18)
        return chosen[:, :-1], chosen[:, 1:]

    return draw


def measure_sentences(
    settings: SentenceSettings, run: Run, seen: Sequence[Pair], held_out: Sequence[Pair]
) -> tuple[LanguageModel, dict[str, Any]]:
    """Train on the sentences of the pairs seen, score on those held back."""
    training, unseen = all_sentences(seen), all_sentences(held_out)
    model = language.build(settings, run)
    fitted = material.fit(
        model, drawn_from(training, settings), settings, run, lambda model: score(model, unseen)
    )
    return model, {
        "parameters": language.count_parameters(model),
        **score(model, unseen),
        "seen": score(model, training),
        "final_loss": fitted.curve[-1]["train_loss"],
        "pairs_seen": len(seen),
        "pairs_held_out": len(held_out),
        "curve": language.as_columns(fitted.curve),
    }
