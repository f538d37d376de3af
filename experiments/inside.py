"""What do the trained weights of a model do with a text?

In: a trained model, windows of held-out text. Out: probes that read and never disturb: score
spread, entropy, one attention map, and what the embeddings alone would attend to. Weights are not
kept after a run, so the runs that end with them call these.
"""

from typing import Any

import torch
from torch import Tensor

from experiments import material
from experiments.session import Run
from model.attention import Attention, causal_mask, causal_softmax
from model.block import Block
from model.language_model import WithPositions

HARD = 0.99  # a row is hard when one weight is above this


def held_out_windows(run: Run, vocabulary: int, context: int, count: int) -> Tensor:
    """The first `count` consecutive windows of the held-out split: (count, context)."""
    tokens = material.corpus_tokens(vocabulary).validation
    count = min(count, len(tokens) // context)
    return tokens[: count * context].view(count, context).to(run.device)


def score_statistics(attention: Attention, x: Tensor) -> dict[str, float]:
    """Spread of the scores and sharpness of the weights over the second half of the rows.

    x (B, T, d). Only rows past the middle count: each has at least T/2 positions to choose from.
    `score_std` over the scores that the mask leaves; entropy in nats.
    """
    with torch.no_grad():
        scores = attention.scores(x)  # (B, h, T, T)
        half = scores.shape[-1] // 2
        weights = causal_softmax(scores)[..., half:, :].double()  # (B, h, T/2, T)
        visible = causal_mask(scores.shape[-1], scores.device)[half:] == 0  # (T/2, T)
        seen = scores[..., half:, :].double()[..., visible]
        return {
            "score_std": seen.std().item(),
            "entropy": torch.special.entr(weights).sum(-1).mean().item(),
            "hard_share": (weights.amax(-1) > HARD).double().mean().item(),
        }


def raw_dot_product(model: WithPositions, block: Block, tokens: Tensor) -> dict[str, Any]:
    """What would attend to what if the vectors were compared as they are, and as the heads do.

    tokens (B, T). `self_is_top_share`: rows in which no visible position scores above the row's own
    (the first row, which sees nothing else, left out). `asymmetry`: mean |sᵢⱼ - sⱼᵢ| over mean
    |sᵢⱼ|. `self_weight`: mean weight on itself.
    """
    with torch.no_grad():
        table = model.tokens(tokens)  # (B, T, d)
        x = model.embed(tokens)
        heads = block.attention.scores(block.norm_1(x))  # (B, h, T, T)
        return {
            **_relation(table @ table.mT),
            "with_positions": _relation(x @ x.mT),
            "learned": _relation(heads),
        }


def compare(queries: Tensor, keys: Tensor) -> dict[str, float]:
    """The relation, as in `raw_dot_product`, of queries (B, T, d) and keys (B, T, d) as given."""
    return _relation(queries @ keys.mT)


def _relation(scores: Tensor) -> dict[str, float]:
    scores = scores.double()
    masked = scores + causal_mask(scores.shape[-1], scores.device)
    own = scores.diagonal(dim1=-2, dim2=-1)  # (…, T)
    weights = causal_softmax(scores).diagonal(dim1=-2, dim2=-1)
    difference = (scores - scores.mT).abs().mean() / scores.abs().mean()
    return {
        "self_is_top_share": (own >= masked.amax(-1))[..., 1:].double().mean().item(),
        "self_weight": weights[..., 1:].mean().item(),
        "asymmetry": difference.item(),
    }


def attention_map(attention: Attention, x: Tensor, names: list[str]) -> dict[str, Any]:
    """The weights of every head over one short window: x (1, n, d) → (h, n, n) as lists."""
    with torch.no_grad():
        return {"tokens": names, "weights": attention.weights(x)[0].tolist()}
