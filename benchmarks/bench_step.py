"""How long does one step of training take, in the book's loop and in a good plain one?

The `norm` rung at the common settings, one thread: one block, the same weights, the same batch.
"""

from typing import Any

import torch

from benchmarks.plain import PlainModel, copy_weights, plain_step
from model.language_model import Blocks
from model.loss import fused_loss
from model.settings import LanguageModelSettings

SETTINGS = LanguageModelSettings()
ROUNDS = {"rounds": 10, "warmup_rounds": 2}


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    shape = (SETTINGS.batch, SETTINGS.context)
    return torch.randint(SETTINGS.vocabulary, shape), torch.randint(SETTINGS.vocabulary, shape)


def test_a_step_of_the_book(benchmark: Any) -> None:
    tokens, targets = batch()
    model = Blocks(SETTINGS)
    optimizer = torch.optim.AdamW(model.parameters(), lr=SETTINGS.learning_rate)

    def step() -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        loss = fused_loss(model, tokens, targets)
        loss.backward()  # pyright: ignore[reportUnknownMemberType]
        optimizer.step()  # pyright: ignore[reportUnknownMemberType]
        return loss

    assert benchmark.pedantic(step, **ROUNDS).isfinite()


def test_a_plain_step(benchmark: Any) -> None:
    tokens, targets = batch()
    model = PlainModel(SETTINGS)
    copy_weights(Blocks(SETTINGS), model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=SETTINGS.learning_rate, fused=True)
    assert benchmark.pedantic(plain_step, (model, optimizer, tokens, targets), **ROUNDS).isfinite()
