"""Where are the parameters of a block?

Chapter 06. In: widths. Out: parameters of attention, MLP and norms of this book's block (no bias on
Q, K, V) by formula, the count of the real module on the meta device, and the MLP's share.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from experiments.session import Run
from model.arithmetic import book_block
from model.block import Block
from model.settings import LanguageModelSettings


@dataclass(frozen=True)
class Settings:
    """Widths: the book's, the four of GPT-2 and one of today's."""

    widths: tuple[int, ...] = (128, 768, 1024, 1280, 1600, 4096)


FULL = Settings()
SMOKE = Settings(widths=(128, 768))
UNITS = {"mlp_share": "1", "*": "parameters"}


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One entry a width."""
    values: dict[str, dict[str, Any]] = {}
    for d in settings.widths:
        parts = book_block(d)
        with torch.device("meta"):
            block = Block(LanguageModelSettings(width=d, heads=d // 32))
        values[f"d_{d}"] = {
            **parts,
            "mlp_share": parts["mlp"] / parts["total"],
            "counted": sum(parameter.numel() for parameter in block.parameters()),
        }
    return values
