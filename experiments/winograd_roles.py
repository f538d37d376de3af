"""Who is "it", where only the role in the sentence can tell?

Chapter 11, the closed hole: sixteen nouns, any in either slot; four adjectives mean the one that
crosses, four the one that is crossed. In: the sentences, ordered pairs held back whose reverse is
in training. Out: how often the referent is named, by the mean, one block and two; the attention
maps of two sentences that differ in one word, and the naming row for all eight adjectives.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from experiments import material, sentences
from experiments.session import Run
from model.block import Block
from model.language_model import Blocks, LanguageModel


@dataclass(frozen=True)
class Settings(sentences.SentenceSettings):
    """Any noun in either slot; forty ordered pairs held back, their reverses kept."""

    held_out_pairs: int = 40


FULL = Settings()
SMOKE = Settings(width=16, heads=2, head_width=8, batch=8, steps=12, curve_points=4)
ROWS = {
    "mean": {"model": "model.language_model:MeanBlocks"},
    "blocks_1": {"kept": "experiments.winograd_roles:maps"},
    "blocks_2": {"blocks": 2, "kept": "experiments.winograd_roles:maps"},
}
SEEDS = (0, 1, 2)
TRAINED = True
UNITS = {"parameters": "parameters", "*loss": "nats", "step": "steps"}
ALIASES = {"winograd_roles.maps": "winograd_roles.blocks_2.maps"}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One row."""
    seen, held_out = sentences.split(
        sentences.role_pairs(), settings.held_out_pairs, material.seeded(run)
    )
    model, values = sentences.measure_sentences(settings, run, seen, held_out)
    if settings.kept:
        values["maps"] = material.named(settings.kept)(model, held_out[0])
    return values


def maps(model: LanguageModel, pair: sentences.Pair) -> dict[str, Any]:
    """Weights of every block and head over one held-out pair with each adjective.

    `rows`: adjective → block → (h, 15), the row that names the referent. `full`: the whole maps of
    two sentences that differ in the adjective alone. `block_1`: how far scores on the positions
    other than the adjective differ between those two (the query cannot know the adjective yet), and
    how far the weights do.
    """
    assert isinstance(model, Blocks)
    every = {adjective: scores_of(model, pair, adjective) for adjective in sentences.ADJECTIVES}
    one, other = sentences.CROSSING[0], sentences.CROSSED[1]
    others = [i for i in range(sentences.REF) if i != sentences.ADJ]
    row = sentences.REF - 1

    def largest(stage: int) -> float:
        difference = every[one][stage][0][:, row, others] - every[other][stage][0][:, row, others]
        return difference.abs().max().item()

    return {
        "pair": list(pair),
        "adjectives": list(sentences.ADJECTIVES),
        "words": [sentences.WORDS[n] for n in sentences.sentence(pair, one)[: sentences.REF]],
        "rows": {
            adjective: {f"block_{b}": w[:, row].tolist() for b, w in enumerate(weights, 1)}
            for adjective, (_, weights) in every.items()
        },
        "full": {
            adjective: {f"block_{b}": w.tolist() for b, w in enumerate(every[adjective][1], 1)}
            for adjective in (one, other)
        },
        "block_1": {
            "other_scores_max_abs_diff": largest(0),
            "other_weights_max_abs_diff": largest(1),
        },
    }


def scores_of(
    model: Blocks, pair: sentences.Pair, adjective: str
) -> tuple[list[Tensor], list[Tensor]]:
    """Scores and weights of every block: lists of (h, 15, 15)."""
    device = next(model.parameters()).device
    words = torch.tensor([sentences.sentence(pair, adjective)[: sentences.REF]], device=device)
    scores: list[Tensor] = []
    weights: list[Tensor] = []
    # listing: maps
    with torch.no_grad():
        x = model.embed(words)  # (1, 15, d)
        for block in model.blocks:
            assert isinstance(block, Block)
            u = block.norm_1(x)
            scores.append(block.attention.scores(u)[0])
            weights.append(block.attention.weights(u)[0])
            x = block(x)
    # end: maps
    return scores, weights
