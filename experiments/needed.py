"""What do the tools of the book make of a few small numbers?

Chapter 00. In: a handful of numbers, fixed. Out: a softmax; gradient descent and AdamW in a narrow
valley; a LayerNorm; sums in four number formats; a tanh and its slope.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from experiments.session import Run
from model.norm import layer_norm

FORMATS = {
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
}


@dataclass(frozen=True)
class Settings:
    """The numbers that each tool is given.

    The valley is (w₁² + steep · w₂²) / 2, from (1, 1); gradient descent leaves it at a rate above
    2 / steep. Each sum adds `term` so many times, one at a time.
    """

    scores: tuple[float, ...] = (2.0, 1.0, 0.0)
    shift: float = 100.0
    factor: float = 10.0
    steep: float = 100.0
    steps: int = 100
    below: float = 0.019
    above: float = 0.021
    row: tuple[float, ...] = (1.0, 2.0, 3.0, 6.0)
    term: float = 0.1
    terms: tuple[int, ...] = (1_000, 10_000)
    large: float = 1e8
    inputs: tuple[int, ...] = (0, 1, 2, 4, 8, 10)
    ends: int = 6


FULL = Settings()
SMOKE = Settings(steps=5, terms=(10, 20))


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One section of the chapter after another."""
    return {
        "softmax": softmax(settings),
        "descent": descent(settings),
        "layer_norm": normalised(settings),
        "rounding": rounding(settings),
        "tanh": saturation(settings),
    }


def softmax(settings: Settings) -> dict[str, Any]:
    """Weights of a few scores; of the same scores shifted, and enlarged."""
    scores = torch.tensor(settings.scores, dtype=torch.float64)  # (n,)
    weights = scores.softmax(0)
    shifted = (scores + settings.shift).softmax(0)
    return {
        "exponentials": scores.exp().tolist(),
        "weights": weights.tolist(),
        "shifted_max_abs_diff": (weights - shifted).abs().max().item(),
        "enlarged": (scores * settings.factor).softmax(0).tolist(),
    }


# listing: adamw
def adamw_step(
    w: Tensor,
    gradient: Tensor,
    state: tuple[Tensor, Tensor, int],
    rate: float,
    decay: float = 0.01,
) -> tuple[Tensor, tuple[Tensor, Tensor, int]]:
    """One step of AdamW: w, gradient (…,) → (…,)."""
    m, v, t = state
    t = t + 1
    m = 0.9 * m + 0.1 * gradient  # where to
    v = 0.999 * v + 0.001 * gradient**2  # how large, usually
    m_hat = m / (1 - 0.9**t)  # both began at zero
    v_hat = v / (1 - 0.999**t)
    move = m_hat / (v_hat.sqrt() + 1e-8) + decay * w
    return w - rate * move, (m, v, t)


# end: adamw


def descent(settings: Settings) -> dict[str, Any]:
    """Where each rule stands after `steps` steps, and its loss."""
    curvature = torch.tensor([1.0, settings.steep], dtype=torch.float64)  # (2,)
    start = torch.ones(2, dtype=torch.float64)

    def stands(w: Tensor) -> dict[str, float]:
        loss = (curvature * w.square()).sum() / 2
        return {"w_1": w[0].item(), "w_2": w[1].item(), "loss": loss.item()}

    values: dict[str, Any] = {"start": stands(start), "limit": 2 / settings.steep}
    for name, rate in (("below", settings.below), ("above", settings.above)):
        w = start
        for _ in range(settings.steps):
            w = w - rate * curvature * w  # the gradient is curvature · w
        values[name] = stands(w) | {"rate": rate}
    w, apart = start, 0.0
    state = torch.zeros_like(w), torch.zeros_like(w), 0
    for _ in range(settings.steps):
        w, state = adamw_step(w, curvature * w, state, settings.below)
        apart = max(apart, (w[0] - w[1]).abs().item())
    values["adamw"] = stands(w) | {"max_abs_diff": apart}
    return values


def normalised(settings: Settings) -> dict[str, Any]:
    """A LayerNorm of one row; of the row enlarged, and shifted."""
    row = torch.tensor(settings.row, dtype=torch.float64)  # (d,)
    gamma, beta = torch.ones_like(row), torch.zeros_like(row)
    out = layer_norm(row, gamma, beta)
    enlarged = layer_norm(row * settings.factor, gamma, beta)
    shifted = layer_norm(row + settings.shift, gamma, beta)
    return {
        "mean": row.mean().item(),
        "variance": row.var(unbiased=False).item(),
        "out": out.tolist(),
        "enlarged_max_abs_diff": (enlarged - out).abs().max().item(),
        "shifted_max_abs_diff": (shifted - out).abs().max().item(),
    }


def rounding(settings: Settings) -> dict[str, Any]:
    """What each format keeps of a tenth, of a count and of a long sum; a sum in two orders."""
    values: dict[str, Any] = {name: kept(kind, settings) for name, kind in FORMATS.items()}
    large, one = torch.tensor(settings.large), torch.tensor(1.0)  # float32
    values["order"] = {
        "one_first": (large + one - large).item(),
        "one_last": (large - large + one).item(),
    }
    return values


def kept(kind: torch.dtype, settings: Settings) -> dict[str, Any]:
    """`stuck_at`: the smallest power of two to which adding one changes nothing; `gap`: from the
    last sum to the next number that the format holds."""
    one, n = torch.ones((), dtype=kind), torch.ones((), dtype=kind)
    while n + one != n:
        n = n * 2
    term = torch.tensor(settings.term, dtype=kind)
    total = torch.zeros((), dtype=kind)
    sums: dict[str, float] = {}
    errors: dict[str, float] = {}
    for count in range(1, max(settings.terms) + 1):
        total = total + term
        if count in settings.terms:
            sums[f"n_{count}"] = total.item()
            errors[f"n_{count}"] = abs(total.item() - count * settings.term)
    gap = torch.finfo(kind).eps * 2 ** math.floor(math.log2(total.item()))
    return {
        "stuck_at": n.item(),
        "term": term.item(),
        "sum": sums,
        "error": errors,
        "gap": gap,
    }


def saturation(settings: Settings) -> dict[str, Any]:
    """A tanh and its slope, 1 - tanh², at a few inputs, in two formats; and a curve to draw."""
    values: dict[str, Any] = {}
    for x in settings.inputs:
        narrow = torch.tensor(float(x)).tanh()
        wide = torch.tensor(float(x), dtype=torch.float64).tanh()
        values[f"x_{x}"] = {
            "value": narrow.item(),
            "slope": (1 - narrow.square()).item(),
            "slope_float64": (1 - wide.square()).item(),
        }
    x = torch.linspace(-settings.ends, settings.ends, 12 * settings.ends + 1, dtype=torch.float64)
    curve = {"x": x.tolist(), "value": x.tanh().tolist(), "slope": (1 - x.tanh() ** 2).tolist()}
    return values | {"curve": curve}
