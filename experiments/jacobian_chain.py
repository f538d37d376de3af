"""What is left of a gradient after T steps of a recurrence?

Chapter 01. In: h′ = tanh(W h) with a Gaussian W of scale gain/√n, and the linear chain h′ = W h
beside it; rows `kept_…` keep a share of the state at each step, as a gate does. Out: the spectral
norm of the product of the T Jacobians and its decimal logarithm, by gain and T; the spectral radius
of W, and what the linear chain grows by per step (Bengio, Simard and Frasconi 1994; Pascanu,
Mikolov and Bengio 2013).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from experiments import material
from experiments.session import Run


@dataclass(frozen=True)
class Settings:
    """Width of the state; the share kept at each step; the gains, in tenths so that a path can
    name them; the lengths."""

    width: int = 128
    keep: float = 0.0
    gain_tenths: tuple[int, ...] = (9, 10, 11)
    steps: tuple[int, ...] = (1, 10, 50, 100, 500)


FULL = Settings()
SMOKE = Settings(width=16, steps=(1, 10))
ROWS = {"": {}, "kept_0_9": {"keep": 0.9}, "kept_0_99": {"keep": 0.99}}  # the last an exercise
SEEDS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)


# listing: jacobian_product
def jacobian_norms(
    w: Tensor,
    h: Tensor,
    steps: tuple[int, ...],
    linear: bool,
    keep: float,
) -> dict[int, float]:
    """‖J_T … J_1‖ at each of `steps`: w (n, n), h (n,)."""
    product = torch.eye(len(h), dtype=h.dtype)  # (n, n)
    norms: dict[int, float] = {}
    for t in range(1, max(steps) + 1):
        new = w @ h  # (n,)
        slope = torch.ones_like(new)
        if not linear:
            new = new.tanh()
            slope = 1 - new.square()  # tanh′
        h = keep * h + (1 - keep) * new
        moved = (1 - keep) * slope[:, None] * (w @ product)
        product = keep * product + moved  # J_t … J_1
        if t in steps:
            size = torch.linalg.matrix_norm(product, 2)
            norms[t] = size.item()
    return norms


# end: jacobian_product


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One entry a gain and length; the same W, scaled, and the same first state for all gains."""
    generator, n = material.seeded(run), settings.width
    w = torch.randn(n, n, generator=generator, dtype=torch.float64) / n**0.5
    h = torch.randn(n, generator=generator, dtype=torch.float64)
    values: dict[str, Any] = {"radius": torch.linalg.eigvals(w).abs().max().item()}
    for tenths in settings.gain_tenths:
        scaled = w * tenths / 10
        bent, straight = (
            jacobian_norms(scaled, h, settings.steps, linear, settings.keep)
            for linear in (False, True)
        )
        before, last = settings.steps[-2:]
        values[f"gain_{tenths // 10}_{tenths % 10}"] = {
            "linear_growth": (straight[last] / straight[before]) ** (1 / (last - before))
        } | {
            f"t_{t}": {
                "norm": bent[t],
                "linear_norm": straight[t],
                "decades": math.log10(bent[t]),
                "linear_decades": math.log10(straight[t]),
            }
            for t in settings.steps
        }
    return values
