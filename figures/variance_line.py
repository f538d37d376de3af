"""Does the variance of a dot product grow as the width of its vectors?

In: the variance of the dot product of random pairs at five widths. Out: the measured points beside
the line "variance = width", both axes logarithmic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, marks, palette, scales, theme

if TYPE_CHECKING:
    from engine.quantity import Book

WIDTHS = (4, 16, 64, 256, 1024)

TEXT = {
    "width": {"pt": "largura, d", "en": "width, d"},
    "variance": {"pt": "variância do produto escalar", "en": "variance of the dot product"},
    "line": {"pt": "variância = d", "en": "variance = d"},
}


def data(book: Book) -> list[Row]:
    """One row a width."""
    return [{"d": d, "variance": book.get(f"dot_variance.d_{d}.variance").mean} for d in WIDTHS]


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Points with their values, over the dotted line."""
    widths = [marks.number(row, "d") for row in rows]
    found = [marks.number(row, "variance") for row in rows]
    x = scales.fixed(widths, log=True, before=0.06, after=0.06)
    y = marks.padded(scales.logarithmic([*widths, *found]), high=0.05)
    across = marks.axis(x, language, text("width"))
    up = marks.axis(y, language, text("variance"))
    ends = [marks.Point(x.low, x.low), marks.Point(x.high, x.high)]
    line = marks.chart([{"x": point.x, "y": point.y} for point in ends])
    points = marks.chart([{"x": a, "y": b} for a, b in zip(widths, found, strict=True)])
    dotted = {"color": palette.INK_2, "strokeWidth": 1, "strokeDash": list(theme.REFERENCE_DASH)}
    values = [
        marks.note(
            marks.Note(a, b, scales.value_text(b, language), "right", -8, -9, strong=True),
            x,
            y,
            across,
            up,
        )
        for a, b in zip(widths, found, strict=True)
    ]
    between = (widths[-2] * widths[-1]) ** 0.5
    name = marks.Note(between, between, text("line"), "left", 8, 10)
    return marks.layer(
        line.mark_line(clip=True, **dotted).encode(marks.x_of(x, across), marks.y_of(y, up)),
        points.mark_point(color=palette.MEASURED, size=70).encode(
            marks.x_of(x, across), marks.y_of(y, up)
        ),
        marks.note(name, x, y, across, up),
        *values,
    ).properties(width=400, height=270 if width == "wide" else 240)
