"""How is a model of the book trained?

In: a model, a function that draws batches, settings. Out: the model trained in place, its first
losses and a curve. One loop for every trained row: AdamW (Loshchilov and Hutter 2019) at a constant
rate, after a linear warmup where the settings ask for one. A killed run goes on at its last
checkpoint and ends with the same bits, on the same machine.
"""

import os
import time
from collections.abc import Callable
from collections.abc import Generator as Iterating
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Generator, Tensor

from model.language_model import LanguageModel
from model.loss import fused_loss
from model.settings import LanguageModelSettings

FIRST_STEPS = 5  # what a replay repeats
SAVE_EVERY = 60.0  # seconds of work between checkpoints

Draw = Callable[[Generator], tuple[Tensor, Tensor]]
Watch = Callable[[LanguageModel], dict[str, float]]
Around = Callable[[], AbstractContextManager[Any]]
Report = Callable[[int, int, float, float], None]  # step, steps, loss, seconds a step


@dataclass
class Training:
    """Where a training stands; all of it is in a checkpoint."""

    step: int = 0
    seconds: float = 0.0
    losses: list[float] = field(default_factory=list[float])
    curve: list[dict[str, float]] = field(default_factory=list[dict[str, float]])
    earlier_seconds: float = 0.0  # spent before this process, up to the checkpoint it loaded


def learning_rate(step: int, settings: LanguageModelSettings) -> float:
    """Rate of step 0, 1, …: constant, or rising in equal parts over the first `warmup` steps."""
    if step < settings.warmup:
        return settings.learning_rate * (step + 1) / settings.warmup
    return settings.learning_rate


def is_on_curve(step: int, settings: LanguageModelSettings) -> bool:
    """Whether a point is taken after so many steps: `curve_points` of them, the last included."""
    every = max(1, settings.steps // settings.curve_points)
    return step % every == 0 or step == settings.steps


def curve_point(
    training: Training, settings: LanguageModelSettings, watched: dict[str, float]
) -> dict[str, float]:
    """What is recorded where the training stands; the loss is the mean since the last point."""
    recent = training.losses[-max(1, settings.steps // settings.curve_points) :]
    return {"step": training.step, "train_loss": sum(recent) / len(recent), **watched}


def train(
    model: LanguageModel,
    draw: Draw,
    settings: LanguageModelSettings,
    *,
    generator: Generator,
    watch: Watch,
    short: bool = False,
    checkpoint: Path | None = None,
    report: Report | None = None,
    around: Around = nullcontext,
) -> Training:
    """Train `model` in place.

    `draw(generator)` gives tokens and targets (B, T) on the CPU; `watch(model)` gives the numbers
    of one point of the curve and must not draw from `generator`; the gradients of the last step are
    still there for it to read. `short` stops after the first steps and, between two of them, saves,
    drops and loads everything, so that a replay goes through each part of the loop. `around()` is
    what a step's arithmetic takes place in: it may choose other routines, never other results.
    """
    device = next(model.parameters()).device
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
    )
    training = Training()
    if checkpoint is not None and checkpoint.exists():
        training = load_checkpoint(checkpoint, model, optimizer, generator)
        training.earlier_seconds = training.seconds
    else:
        training.curve.append({"step": 0, **watch(model)})
    last = FIRST_STEPS if short else settings.steps
    began = saved = time.monotonic()
    before = training.seconds
    model.train()
    recent: list[Tensor] = []
    while training.step < last:
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(training.step, settings)
        tokens, targets = draw(generator)
        optimizer.zero_grad(set_to_none=True)
        with around():
            loss = fused_loss(model, tokens.to(device), targets.to(device))
            loss.backward()
        optimizer.step()
        training.step += 1
        recent.append(loss.detach())
        due = is_on_curve(training.step, settings) or training.step == last
        save_due = checkpoint is not None and time.monotonic() - saved > SAVE_EVERY
        if due or save_due or training.step == last or training.step <= FIRST_STEPS:
            training.losses += torch.stack(recent).tolist()
            recent.clear()
        if due:
            training.curve.append(curve_point(training, settings, watch(model)))
        if report is not None and training.losses:
            now = time.monotonic()
            training.seconds = before + now - began
            report(training.step, last, training.losses[-1], training.seconds / training.step)
        if checkpoint is not None and (
            save_due or (short and training.step == FIRST_STEPS // 2 + 1)
        ):
            training.seconds = before + time.monotonic() - began
            save_checkpoint(checkpoint, training, model, optimizer, generator)
            saved = time.monotonic()
            if short:
                training = load_checkpoint(checkpoint, model, optimizer, generator)
    training.seconds = before + time.monotonic() - began
    return training


def save_checkpoint(
    path: Path,
    training: Training,
    model: LanguageModel,
    optimizer: torch.optim.Optimizer,
    generator: Generator,
) -> None:
    """Write everything that decides how the run goes on."""
    state = {
        "training": vars(training),
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "generator": generator.get_state(),
    }
    save_state(path, state)


def load_checkpoint(
    path: Path, model: LanguageModel, optimizer: torch.optim.Optimizer, generator: Generator
) -> Training:
    """Put model, optimizer and generator where they were; raises CheckpointError on a bad file."""
    with load_state(path) as state:
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        generator.set_state(state["generator"])
        return Training(**state["training"])


def save_state(path: Path, state: dict[str, Any]) -> None:
    """Write a checkpoint; the old file stays until the new one is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def load_state(path: Path) -> Iterating[dict[str, Any]]:
    """Read a checkpoint (tensors and plain values alone); what does not fit is the file's fault.

    Raises CheckpointError, in one line.
    """
    try:
        yield torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise CheckpointError(f"{path}: the checkpoint is gone; start the run again") from error
    except _BAD as error:
        raise CheckpointError(
            f"{path}: not a checkpoint of this run ({type(error).__name__}); "
            "remove it to start afresh"
        ) from error


_BAD = (OSError, RuntimeError, KeyError, TypeError, ValueError, EOFError, UnpicklingError)


class CheckpointError(Exception):
    """A checkpoint cannot be loaded; one line that names the file."""
