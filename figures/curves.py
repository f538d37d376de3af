"""How does a value move while a model is trained, over its seeds?

In: the columns of a recorded curve (`<base>.curve.step`, `<base>.curve.<column>`), one list a seed.
Out: rows of step, mean, spread and number of seeds. A column may begin later than the steps (before
training there is no training loss); its end is the end of the steps.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from figures import FigureError, Row

if TYPE_CHECKING:
    from engine.quantity import Book


def curve_rows(book: Book, base: str, column: str, **labels: str) -> list[Row]:
    """One row a step, with `labels` first; all seeds must have been looked at at the same steps."""
    steps_by_seed = cast("dict[object, Sequence[float]]", book.get(f"{base}.curve.step").values)
    found = cast("dict[object, Sequence[float]]", book.get(f"{base}.curve.{column}").values)
    seeds = list(found.values())
    steps = next(iter(steps_by_seed.values()))
    if any(list(other) != list(steps) for other in steps_by_seed.values()):
        raise FigureError(f"the seeds of {base} were looked at after different steps")
    if len({len(values) for values in seeds}) != 1 or len(seeds[0]) > len(steps):
        raise FigureError(f"{base}.curve.{column} does not go with its steps")
    shown = steps[len(steps) - len(seeds[0]) :]
    rows: list[Row] = []
    for index, step in enumerate(shown):
        here = [values[index] for values in seeds]
        rows.append(
            {
                **labels,
                "step": step,
                column: statistics.fmean(here),
                "std": statistics.stdev(here) if len(here) > 1 else None,
                "seeds": len(here),
            }
        )
    return rows
