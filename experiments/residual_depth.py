"""How much of a gradient is left after many layers, with and without a residual connection?

Chapter 00. In: a random vector and layers tanh(Wx + b) as PyTorch initialises them. Out: after so
many layers, the length of the gradient that arrives at the input over its length at the output, and
the length of the output over that of the input; each layer alone, and each added to what it read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from experiments import material
from experiments.session import Run


@dataclass(frozen=True)
class Settings:
    """Numbers in a vector; how many layers."""

    width: int = 128
    layers: tuple[int, ...] = (1, 5, 10, 20)


FULL = Settings()
SMOKE = Settings(width=16, layers=(1, 5))
SEEDS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)


# listing: stack
def stack(
    layers: list[nn.Linear],
    x: Tensor,
    added: bool,
) -> Tensor:
    """Layer after layer: x (d,) → (d,)."""
    for layer in layers:
        change = layer(x).tanh()
        x = x + change if added else change
    return x


# end: stack


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """The same layers, the same input and the same gradient at the output for both."""
    d = settings.width
    made = material.initialise(
        run, lambda: nn.ModuleList(nn.Linear(d, d) for _ in range(max(settings.layers)))
    ).cpu()
    layers = [layer.double() for layer in made if isinstance(layer, nn.Linear)]
    x = torch.randn(d, generator=run.generator).double().requires_grad_()  # (d,)
    arriving = torch.randn(d, generator=run.generator).double()  # (d,)
    values: dict[str, dict[str, Any]] = {"plain": {}, "added": {}}
    for kind, found in values.items():
        for n in settings.layers:
            out = stack(layers[:n], x, added=kind == "added")
            (gradient,) = torch.autograd.grad(out, x, arriving)
            found[f"layers_{n}"] = {
                "gradient_ratio": (gradient.norm() / arriving.norm()).item(),
                "size_ratio": (out.norm() / x.norm()).item(),
            }
    return values
