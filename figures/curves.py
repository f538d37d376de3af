"""How does a value move while a model is trained, over its seeds?

In: the columns of a recorded curve (`<base>.curve.step`, `<base>.curve.<column>`), one list a seed.
Out: rows of step, mean, spread and number of seeds. A column may begin later than the steps (before
training there is no training loss); its end is the end of the steps. And how the curves of several
models are drawn over one another: a line a model, named at its end.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from figures import FigureError, Language, Row, Text, Width, fonts, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

LEFT_OUT = 6  # one part in so many of a training falls too steeply for a linear axis

AXES = {
    "step": {"pt": "passo", "en": "step"},
    "perplexity": {
        "pt": "perplexidade no texto reservado",
        "en": "perplexity on held-out text",
    },
}


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


def late(rows: Sequence[Row]) -> list[Row]:
    """Without the steep beginning, so that a linear axis shows the rest."""
    last = max(scales.number(row, "step") for row in rows)
    return [row for row in rows if scales.number(row, "step") * LEFT_OUT >= last]


def held_out(
    rows: Sequence[Row],
    by: str,
    text: Text,
    width: Width,
    language: Language,
    *,
    room: tuple[int, int],
    logarithmic: bool = False,
    height: int = 250,
) -> Any:
    """Held-out perplexity over the steps, a line for each value of `by`; `room` is the width of the
    names, on a wide page and on a narrow one."""
    series = [
        marks.Series(
            fonts.wrap(text(name), room[width == "narrow"], 600),
            tuple(
                marks.spread_point(row, "step", "validation_perplexity")
                for row in rows
                if row[by] == name
            ),
            style,
            marks=False,
        )
        for style, name in enumerate(dict.fromkeys(str(row[by]) for row in rows))
    ]
    found = [end for one in series for p in one.points for end in (p.y, p.low, p.high) if end]
    up = scales.logarithmic(found) if logarithmic else scales.linear(found, count=5, zero=False)
    return marks.lines(
        series,
        scales.span(
            [scales.number(row, "step") for row in rows], count=5 if width == "wide" else 3
        ),
        up,
        language=language,
        x_title=text("step"),
        y_title=text("perplexity"),
        height=height,
    )
