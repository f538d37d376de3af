"""How is a row that trains a language model measured?

In: the row's settings and its run. Out: the values that every such row records under the same
names. An experiment adds its own questions to the trained model that comes back beside them.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Generator, Tensor

from experiments import material
from experiments.session import Run
from model.language_model import LanguageModel
from model.perplexity import generate, perplexity, windows
from model.settings import LanguageModelSettings

SHORT_WINDOWS = 4  # a replay evaluates on so many windows


def build(settings: LanguageModelSettings, run: Run) -> LanguageModel:
    """The model that `settings.model` names, initialised from the run's generator."""
    kind = material.named(settings.model)
    return material.initialise(run, lambda: kind(settings))


def count_parameters(model: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def random_windows(tokens: Tensor, settings: LanguageModelSettings) -> Callable[[Generator], Any]:
    """Batches for training: windows that begin anywhere in the text, (B, T) and targets (B, T)."""
    offsets = torch.arange(settings.context + 1)

    def draw(generator: Generator) -> tuple[Tensor, Tensor]:
        starts = torch.randint(
            len(tokens) - settings.context, (settings.batch,), generator=generator
        )
        window = tokens[starts[:, None] + offsets]  # (B, T + 1)
        return window[:, :-1], window[:, 1:]

    return draw


def spread_windows(tokens: Tensor, count: int, context: int) -> list[tuple[Tensor, Tensor]]:
    """`count` windows at equal distances over a text: the fixed sample of the training split."""
    starts = torch.linspace(0, len(tokens) - context - 1, count).long()
    window = tokens[starts[:, None] + torch.arange(context + 1)]  # (W, T + 1)
    return [(window[:, :-1], window[:, 1:])]


def measure_language_model(
    settings: LanguageModelSettings,
    run: Run,
    watch: Callable[[LanguageModel], dict[str, float]] | None = None,
) -> tuple[LanguageModel, dict[str, Any]]:
    """Train one row on the corpus; give the model and the values of book.md's common settings."""
    text = material.corpus_tokens(settings.vocabulary)
    validation = text.validation
    if run.short:
        validation = validation[: SHORT_WINDOWS * settings.context + 1]
    held_out = windows(validation, settings.context)
    seen = spread_windows(text.train, len(held_out[0][0]), settings.context)
    model = build(settings, run)

    def point(model: LanguageModel) -> dict[str, float]:
        extra = watch(model) if watch else {}
        return {"validation_perplexity": perplexity(model, held_out), **extra}

    training = material.fit(model, random_windows(text.train, settings), settings, run, point)
    final = perplexity(model, held_out)
    best = min([final, *(p["validation_perplexity"] for p in training.curve)])
    return model, {
        "parameters": count_parameters(model),
        "train_perplexity": perplexity(model, seen),
        "validation_perplexity": final,
        "best_validation_perplexity": best,
        "curve": as_columns(training.curve),
        "sample_text": sample_text(model, settings, run),
    }


def as_columns(points: list[dict[str, float]]) -> dict[str, list[float]]:
    """Points of a curve as columns; without a training loss before training."""
    names = list(dict.fromkeys(name for point in points for name in point))
    return {name: [point[name] for point in points if name in point] for name in names}


def sample_text(model: LanguageModel, settings: LanguageModelSettings, run: Run) -> str:
    """Ten lines that the model writes after a line break (fewer where it writes long ones)."""
    text = material.corpus_tokens(settings.vocabulary)
    generator = Generator().manual_seed(run.seed or 0)
    start = text.tokenizer.encode("\n").ids
    count = 8 if run.short else settings.sample_tokens
    written = text.tokenizer.decode(generate(model, start, count, settings.context, generator))
    return "\n".join(written.strip("\n").split("\n")[:10])
