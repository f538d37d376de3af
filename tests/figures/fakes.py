"""A book of invented values, as figures see one: paths with values by seed, and nothing measured.

`NASTY` turns honest rows into ones that break labels: huge, tiny, all alike, zero.
"""

import math
import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from figures import Row

WIDTHS = (4, 16, 64, 256, 1024)


@dataclass(frozen=True)
class FakeRecord:
    id: str
    hash: str


@dataclass(frozen=True)
class FakeQuantity:
    values: dict[int | None, Any]
    records: tuple[FakeRecord, ...] = ()
    unit: str = "1"

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def mean(self) -> Any:
        found = list(self.values.values())
        return found[0] if len(found) == 1 else statistics.fmean(found)

    @property
    def std(self) -> float | None:
        return statistics.stdev(self.values.values()) if self.n > 1 else None

    def __sub__(self, other: "FakeQuantity") -> "FakeQuantity":
        return FakeQuantity({s: v - other.values[s] for s, v in self.values.items()})


@dataclass
class FakeBook:
    """`values`: path -> a value, or a tuple of one value a seed."""

    values: dict[str, Any]
    hashes: dict[str, str] = field(default_factory=dict)
    cited: set[str] = field(default_factory=set)

    def get(self, path: str) -> FakeQuantity:
        self.cited.add(path)
        found, rest = self.values, path
        parts = path.split(".")
        for cut in range(len(parts), 0, -1):
            head = ".".join(parts[:cut])
            if head in self.values:
                found, rest = self.values[head], parts[cut:]
                break
        else:
            raise KeyError(path)
        for index in rest:
            found = found[int(index)]
        values = dict(enumerate(found)) if isinstance(found, tuple) else {None: found}
        experiment = parts[0]
        record = FakeRecord(f"{experiment}/all", self.hashes.get(experiment, "0"))
        return FakeQuantity(values, (record,))


def _seeds(around: float, spread: float, seeds: int = 3) -> tuple[float, ...]:
    source = random.Random(f"{around} {spread}")
    return tuple(around + source.gauss(0, spread) for _ in range(seeds))


def _softmax(scores: list[float]) -> list[float]:
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def book() -> FakeBook:
    """Invented values of the size that measured ones might have."""
    source = random.Random(1)
    values: dict[str, Any] = {"averages.bigram.validation_perplexity": 71.234567}
    for row, around in {"none": 60.1, "mean": 401, "mean_positions": 396, "mean_added": 59}.items():
        values[f"averages.{row}.validation_perplexity"] = _seeds(around, around / 200)
    for t in range(1, 129):
        values[f"triangle.share.t_{t}"] = 1 / t
    values["triangle.matrix"] = [[(j <= i) / (i + 1) for j in range(6)] for i in range(6)]
    for d in WIDTHS:
        values[f"dot_variance.d_{d}.variance"] = _seeds(d, d / 100, 10)
        scores = [source.gauss(0, 1) for _ in range(64)]
        for kind, scale in (("undivided", math.sqrt(d)), ("divided", 1.0)):
            row = _softmax([score * scale for score in scores])
            values[f"saturation.d_{d}.{kind}.example.weights"] = (row, row[::-1])
            trace = 0.9 / math.log2(d) if kind == "undivided" else 0.95
            values[f"softmax_jacobian.d_{d}.{kind}.trace"] = _seeds(trace, 0.004, 5)
            frozen = 1 - trace if kind == "undivided" else 0.0
            values[f"softmax_jacobian.d_{d}.{kind}.frozen_share"] = (frozen,) * 5
    for size, total, share in (
        ("small", 124_439_808, 0.31),
        ("medium", 354_823_168, 0.145),
        ("large", 774_030_080, 0.083),
        ("xl", 1_557_611_200, 0.0516),
    ):
        values[f"gpt2_parameters.{size}.total"] = total
        values[f"gpt2_parameters.{size}.embedding_share"] = share
    return FakeBook(values)


KEYS = ("d", "position", "reads", "query", "key", "seed", "seeds", "step", "block", "length", "n")
SHARES = ("share", "weight", "accuracy")


def _mapped(rows: list[Row], size: Callable[[float], float], share: float) -> list[Row]:
    def cell(name: str, value: Any) -> Any:
        if name in KEYS or isinstance(value, bool) or not isinstance(value, int | float):
            return value
        if any(name.endswith(end) for end in SHARES):
            return share
        return size(value)

    return [{name: cell(name, value) for name, value in row.items()} for row in rows]


NASTY: dict[str, Callable[[list[Row]], list[Row]]] = {
    "as they are": lambda rows: rows,
    "huge": lambda rows: _mapped(rows, lambda value: value * 1.2345678e7, 1.0),
    "tiny": lambda rows: _mapped(rows, lambda value: value * 1.2345678e-7, 1.2345678e-9),
    "alike": lambda rows: _mapped(rows, lambda value: 59.999, 0.5),
}
