"""What is left of a gradient after T steps of a recurrence?

Chapter 01. In: h′ = tanh(W h) with a Gaussian W of scale gain/√n, and the linear chain h′ = W h
beside it. Out: the spectral norm of the product of the T Jacobians, by gain and T (Bengio, Simard
and Frasconi 1994; Pascanu, Mikolov and Bengio 2013).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from experiments import material
from experiments.session import Run


@dataclass(frozen=True)
class Settings:
    """Width of the state; the gains, in tenths so that a path can name them; the lengths."""

    width: int = 128
    gain_tenths: tuple[int, ...] = (9, 10, 11)
    steps: tuple[int, ...] = (1, 10, 50, 100, 500)


FULL = Settings()
SMOKE = Settings(width=16, steps=(1, 10))
SEEDS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)


# listing: jacobian_product
def jacobian_norms(w: Tensor, steps: tuple[int, ...], h: Tensor, linear: bool) -> dict[int, float]:
    """Spectral norm of J_T … J_1 at each of `steps`: w (n, n), h (n,); float64."""
    product = torch.eye(len(h), dtype=h.dtype)  # (n, n)
    norms: dict[int, float] = {}
    for t in range(1, max(steps) + 1):
        h = w @ h if linear else (w @ h).tanh()  # (n,)
        slope = torch.ones_like(h) if linear else 1 - h.square()
        product = slope[:, None] * (w @ product)  # J_t = diag(tanh′) W
        if t in steps:
            norms[t] = torch.linalg.matrix_norm(product, 2).item()
    return norms


# end: jacobian_product


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """One entry a gain and length; the same W, scaled, and the same first state for all gains."""
    generator, n = material.seeded(run), settings.width
    w = torch.randn(n, n, generator=generator, dtype=torch.float64) / n**0.5
    h = torch.randn(n, generator=generator, dtype=torch.float64)
    values: dict[str, dict[str, Any]] = {}
    for tenths in settings.gain_tenths:
        scaled = w * tenths / 10
        bent = jacobian_norms(scaled, settings.steps, h, linear=False)
        straight = jacobian_norms(scaled, settings.steps, h, linear=True)
        values[f"gain_{tenths // 10}_{tenths % 10}"] = {
            f"t_{t}": {"norm": bent[t], "linear_norm": straight[t]} for t in settings.steps
        }
    return values
