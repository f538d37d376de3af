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
    rows: list[Row] = []
    for d in WIDTHS:
        variance = book.get(f"dot_variance.d_{d}.variance")
        rows.append({"d": d, "variance": variance.mean, "std": variance.std, "seeds": variance.n})
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Points with their values, over the dotted line."""
    widths = [marks.number(row, "d") for row in rows]
    found = [marks.number(row, "variance") for row in rows]
    x = scales.fixed(widths, log=True, before=0.05)
    y = marks.padded(scales.logarithmic([*widths, *found]), low=0.08)
    across = marks.axis(x, language, text("width"))
    up = marks.axis(y, language, text("variance"))
    ends = [{"x": end, "y": end} for end in (max(x.low, y.low), min(x.high, y.high))]
    points = [{"x": a, "y": b} for a, b in zip(widths, found, strict=True)]
    values = [
        marks.Note(
            marks.number(row, "d"),
            marks.number(row, "variance"),
            scales.spread_text(row, "variance", language),
            dx=9,
            dy=9,
            strong=True,
        )
        for row in rows
    ]
    between = (widths[-2] * widths[-1]) ** 0.5
    name = marks.Note(between, between, text("line"), "right", -8, -10)
    return marks.layer(
        marks.chart(ends)
        .mark_line(**theme.REFERENCE)
        .encode(marks.x_of(x, across), marks.y_of(y, up)),
        marks.chart(points)
        .mark_point(color=palette.MEASURED, size=70)
        .encode(marks.x_of(x, across), marks.y_of(y, up)),
        *[marks.note(note, x, y, across, up) for note in (name, *values)],
    ).properties(width=400, height=270 if width == "wide" else 240)
