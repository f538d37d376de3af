"""What does a run start from, and how is it trained?

In: a run. Out: its random numbers, the text as tokens, an initialised model, the model trained. All
randomness of a run comes from one CPU generator at its seed, so that it is the same on each device.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import torch
from tokenizers import Tokenizer
from torch import Generator, Tensor, nn

from experiments.session import Progress, Run, faster, source_text
from model.language_model import LanguageModel
from model.settings import LanguageModelSettings
from model.tokenizer import train_tokenizer
from model.train import FIRST_STEPS, Draw, Training, Watch, train

HELD_OUT = 0.1  # of the tokens, the last ones

Module = TypeVar("Module", bound=nn.Module)


@dataclass(frozen=True)
class Text:
    """A tokenised text, split in order; token numbers (N,) each."""

    characters: int
    tokenizer: Tokenizer
    train: Tensor
    validation: Tensor


@cache
def corpus_tokens(vocabulary: int) -> Text:
    """The corpus as token numbers, the tokenizer trained on it."""
    text = source_text()
    tokenizer = train_tokenizer(text, vocabulary)
    tokens = torch.tensor(tokenizer.encode(text).ids)
    end = round(len(tokens) * (1 - HELD_OUT))
    return Text(len(text), tokenizer, tokens[:end], tokens[end:])


def seeded(run: Run) -> Generator:
    """A fresh CPU generator at the run's seed, zero where it has none."""
    return Generator().manual_seed(run.seed or 0)


def named(definition: str) -> Any:
    """What a setting names as "module:Name": part of the digest of the rows that name it."""
    module, name = definition.split(":")
    return getattr(importlib.import_module(module), name)


def initialise(run: Run, make: Callable[[], Module]) -> Module:
    """Build on the CPU from the run's seed, then move; the data order continues the same stream."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(run.seed or 0)
        made = make()
        run.generator.set_state(torch.random.get_rng_state())
    return made.to(run.device)


def fit(
    model: LanguageModel, draw: Draw, settings: LanguageModelSettings, run: Run, watch: Watch
) -> Training:
    """Train with the run's generator and checkpoint; leave the first losses in the run."""
    if run.meet is not None:
        return run.meet(model, draw, settings, run, watch)
    training = train(
        model,
        draw,
        settings,
        generator=run.generator,
        watch=watch,
        short=run.short,
        checkpoint=run.checkpoint,
        report=Progress(run.id, run.short),
        around=faster(run.device),
    )
    run.losses = training.losses[:FIRST_STEPS]
    run.earlier_seconds = training.earlier_seconds
    return training
