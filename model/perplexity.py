"""How surprised is a model by a text?

In: a model and a row of token numbers. Out: perplexity, exp of the mean cross-entropy in nats.
"""

import math

import torch
from torch import Tensor

from model.language_model import LanguageModel
from model.loss import token_losses

WINDOWS_AT_ONCE = 8192  # tokens in one pass


def windows(tokens: Tensor, context: int) -> list[tuple[Tensor, Tensor]]:
    """Consecutive windows of a text: (N,) → [(inputs, targets)], (W, context) and a shorter rest.

    Every token but the first is a target exactly once.
    """
    inputs, targets = tokens[:-1], tokens[1:]
    whole = len(inputs) // context * context
    batches: list[tuple[Tensor, Tensor]] = []
    if whole:
        batches.append((inputs[:whole].view(-1, context), targets[:whole].view(-1, context)))
    if whole < len(inputs):
        batches.append((inputs[None, whole:], targets[None, whole:]))
    return batches


def mean_loss(
    model: LanguageModel, batches: list[tuple[Tensor, Tensor]], last: int | None = None
) -> float:
    """Mean cross-entropy in nats over all targets, or over the `last` positions of each window."""
    device = next(model.parameters()).device
    total, count = 0.0, 0
    was_training = model.training
    model.eval()
    for inputs, targets in batches:
        step = max(1, WINDOWS_AT_ONCE // inputs.shape[1])
        for start in range(0, len(inputs), step):
            x, y = inputs[start : start + step].to(device), targets[start : start + step].to(device)
            losses = token_losses(model, x, y)[:, -last if last else None :]
            total += losses.double().sum().item()
            count += losses.numel()
    model.train(was_training)
    return total / count


def perplexity(model: LanguageModel, batches: list[tuple[Tensor, Tensor]]) -> float:
    """exp of the mean cross-entropy; infinite losses are not hidden: OverflowError."""
    return math.exp(mean_loss(model, batches))


def generate(
    model: LanguageModel, start: list[int], count: int, context: int, generator: torch.Generator
) -> list[int]:
    """Token after token, each drawn from the model's own distribution (temperature one)."""
    device = next(model.parameters()).device
    tokens = list(start)
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            window = torch.tensor([tokens[-context:]], device=device)  # (1, T)
            logits = model(window)[0, -1].double().cpu()  # (V,)
            draw = torch.rand((), generator=generator, dtype=torch.float64)
            reached = logits.softmax(0).cumsum(0) > draw  # (V,)
            tokens.append(int(reached.int().argmax()))
    model.train(was_training)
    return tokens[len(start) :]
