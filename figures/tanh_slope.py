"""Where does a tanh respond to its input?

In: a tanh and its slope over an interval around zero. Out: two lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from figures import Language, Row, Text, Width, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

KINDS = ("value", "slope")
TICKS = (-6, -4, -2, 0, 2, 4, 6)

TEXT = {
    "input": {"pt": "entrada", "en": "input"},
    "output": {"pt": "saída", "en": "output"},
    "value": {"pt": "tanh", "en": "tanh"},
    "slope": {"pt": "inclinação", "en": "slope"},
}


def data(book: Book) -> list[Row]:
    """One row an input."""
    columns = [
        cast("list[float]", next(iter(book.get(f"needed.tanh.curve.{name}").values.values())))
        for name in ("x", *KINDS)
    ]
    return [
        {"x": x, "value": value, "slope": slope} for x, value, slope in zip(*columns, strict=True)
    ]


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """The tanh, and how steep it is."""
    series = [
        marks.Series(
            text(kind),
            tuple(marks.Point(marks.number(row, "x"), marks.number(row, kind)) for row in rows),
            style,
            marks=False,
        )
        for style, kind in enumerate(KINDS)
    ]
    ends = [marks.number(row, "x") for row in rows]
    return marks.lines(
        series,
        scales.fixed(TICKS) if min(ends) == TICKS[0] else scales.span(ends),
        scales.fixed((-1, -0.5, 0, 0.5, 1), before=0.03, after=0.03),
        language=language,
        x_title=text("input"),
        y_title=text("output"),
        height=230,
    )
