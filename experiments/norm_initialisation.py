"""Does the gradient before training depend on how much each half of a block writes?

Chapter 07. In: the models of norm_placement before any step, as PyTorch initialises them, with the
matrices of the blocks drawn after Glorot and Bengio, and twice as deep. Out: the gradient norm of
each block, the last over the first, and how long what each half writes is beside what it read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from experiments import language, material
from experiments.norm_placement import block_norm
from experiments.session import Run
from model.block import Block
from model.language_model import LanguageModel
from model.loss import fused_loss
from model.settings import LanguageModelSettings


@dataclass(frozen=True)
class Settings(LanguageModelSettings):
    """The shape of norm_placement; nothing is trained."""

    model: str = "model.language_model:Blocks"
    blocks: int = 12
    glorot: bool = False


FULL = Settings()
SMOKE = Settings(vocabulary=300, width=16, context=16, heads=2, head_width=8, batch=4, blocks=3)
ROWS = {
    "pre.default": {},
    "post.default": {"model": "model.language_model:PostNormBlocks"},
    "pre.glorot": {"glorot": True},
    "post.glorot": {"glorot": True, "model": "model.language_model:PostNormBlocks"},
    "pre.deeper": {"blocks": 24},
    "post.deeper": {"blocks": 24, "model": "model.language_model:PostNormBlocks"},
}
SEEDS = {
    "pre.default": (0, 1, 2, 3, 4),
    "post.default": (0, 1, 2, 3, 4),
    "pre.glorot": (0, 1, 2, 3, 4),
    "post.glorot": (0, 1, 2, 3, 4),
    "pre.deeper": (0, 1, 2),
    "post.deeper": (0, 1, 2),
}
INPUTS = ("corpus",)
DEVICE = "cpu"


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One model, one batch, one gradient."""
    text = material.corpus_tokens(settings.vocabulary)
    model: LanguageModel = language.build(settings, run)
    tokens, targets = language.random_windows(text.train, settings)(run.generator)
    if settings.glorot:
        larger_matrices(model.get_submodule("blocks"), run)
    written: list[float] = []
    blocks = list(model.get_submodule("blocks").children())
    for block in blocks:
        assert isinstance(block, Block)
        for half in (block.attention, block.mlp):
            half.register_forward_hook(lambda _, read, out: written.append(gain(read[0], out)))
    torch.autograd.backward(fused_loss(model, tokens.to(run.device), targets.to(run.device)))
    norms = [block_norm(block) for block in blocks]
    return {
        "gradient_norm": {f"block_{i}": norm for i, norm in enumerate(norms, 1)},
        "last_over_first": norms[-1] / norms[0],
        "attention_gain": sum(written[0::2]) / len(blocks),
        "mlp_gain": sum(written[1::2]) / len(blocks),
    }


def gain(read: Tensor, written: Tensor) -> float:
    """How long the vectors that a half writes are, beside those that it read."""
    return (written.detach().norm() / read.detach().norm()).item()


# listing: glorot
def larger_matrices(model: nn.Module, run: Run) -> None:
    """Every matrix of the blocks: variance 2 / (in + out)."""
    for matrix in model.parameters():
        if matrix.dim() == 2:  # biases and norms as they are
            nn.init.xavier_uniform_(
                matrix,
                generator=run.generator,
            )


# end: glorot
