"""How many parameters does a GPT-2 have, and where are they?

Chapter 10. In: the published shapes. Out: parameters by part from the formula; beside them the
count of PyTorch's own modules at the same shape, made on the meta device, which holds no numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from experiments.session import Run
from model.arithmetic import GPT2, Gpt2Shape, book_block, gpt2_block, gpt2_parts


@dataclass(frozen=True)
class Settings:
    """The sizes, and what the released checkpoints and the paper are said to hold, in millions."""

    sizes: tuple[str, ...] = ("small", "medium", "large", "xl")
    published_millions: tuple[int, ...] = (124, 355, 774, 1558)
    paper_millions: tuple[int, ...] = (117, 345, 762, 1542)
    vocabulary: int = 50257


FULL = Settings()
SMOKE = Settings()
ROWS = {
    "": {},
    "first_vocabulary": {"vocabulary": 40478},  # of the first GPT (Radford et al. 2018)
}
UNITS = {
    "embedding_share": "1",
    "*_millions": "million parameters",
    "heads": "heads",
    "width": "numbers",
    "blocks_count": "blocks",
    "*": "parameters",
}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """Formula and count, one entry a size."""
    values: dict[str, dict[str, Any]] = {}
    said = zip(settings.sizes, settings.published_millions, settings.paper_millions, strict=True)
    for size, released, paper in said:
        shape = replace(GPT2[size], vocabulary=settings.vocabulary)
        parts = gpt2_parts(shape)
        values[size] = {
            **parts,
            "block": gpt2_block(shape.width),
            "block_excess": gpt2_block(shape.width) - book_block(shape.width)["total"],
            "embedding_share": parts["token_embeddings"] / parts["total"],
            "counted": count_modules(shape),
            "total_millions": parts["total"] / 1e6,
            "published_millions": released,
            "paper_millions": paper,
            "width": shape.width,
            "blocks_count": shape.blocks,
        }
    return values


def count_modules(shape: Gpt2Shape) -> int:
    """Parameters of a GPT-2 put together from PyTorch's own layers."""
    d = shape.width
    with torch.device("meta"):
        layers = [
            nn.Embedding(shape.vocabulary, d),
            nn.Embedding(shape.context, d),
            *(nn.TransformerEncoderLayer(d, d // 64, 4 * d) for _ in range(shape.blocks)),
            nn.LayerNorm(d),
        ]
    return sum(parameter.numel() for layer in layers for parameter in layer.parameters())
