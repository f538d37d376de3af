"""How long does a processor wait for a recurrence, beside a product of the same arithmetic?

Chapter 01. In: T states of width n. Out: milliseconds of T dependent steps and of one product
(T, n) @ (n, n), medians of repeats, and their ratio. All of it belongs to the machine.
"""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from experiments import material
from experiments.session import Run


@dataclass(frozen=True)
class Settings:
    """Width, length, repeats."""

    width: int = 512
    length: int = 512
    repeats: int = 15


FULL = Settings()
SMOKE = Settings(width=16, length=16, repeats=3)
UNITS = {"*_ms": "ms"}
MACHINE_DEPENDENT = ("*_ms", "ratio")


def measure(settings: Settings, run: Run) -> Mapping[str, Any]:
    """The same number of multiplications twice: one after another, and at once."""
    generator, n = material.seeded(run), settings.width
    w = (torch.randn(n, n, generator=generator) / n**0.5).to(run.device)
    x = torch.randn(settings.length, n, generator=generator).to(run.device)

    def dependent() -> Tensor:
        h = x[0]
        for _ in range(settings.length):
            h = (w @ h).tanh()  # (n,)
        return h

    def product() -> Tensor:
        return (x @ w).tanh()  # (T, n)

    slow, fast = (median_ms(each, settings.repeats, run) for each in (dependent, product))
    return {"dependent_ms": slow, "product_ms": fast, "ratio": slow / fast}


def median_ms(work: Callable[[], Tensor], repeats: int, run: Run) -> float:
    """Median time after two rounds of warm-up; a GPU is waited for."""
    times: list[float] = []
    for _ in range(repeats + 2):
        began = time.perf_counter()
        work()
        if run.device.type == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return statistics.median(times[2:]) * 1000
