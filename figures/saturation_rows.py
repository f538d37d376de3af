"""What does one row of weights look like at each width, with and without the division?

In: one row of sixty-four softmax weights at each width, from scores divided by the square root of
the width and from the same scores undivided. Out: ten small panels, undivided at the left, divided
at the right, all on one scale, each with its largest weight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from figures import Language, Row, Text, Width, marks, palette, scales
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

WIDTHS = (4, 16, 64, 256, 1024)
KINDS = ("undivided", "divided")
TICKS = (0.0, 1.0)

TEXT = {
    "undivided": {"pt": "sem dividir", "en": "undivided"},
    "divided": {"pt": "dividido", "en": "divided"},
}


def data(book: Book) -> list[Row]:
    """One row a weight."""
    rows: list[Row] = []
    for d in WIDTHS:
        for kind in KINDS:
            quantity = book.get(f"saturation.d_{d}.{kind}.example.weights")
            weights = cast("list[float]", next(iter(quantity.values.values())))
            rows += [
                {"d": d, "scores": kind, "position": position, "weight": weight}
                for position, weight in enumerate(weights, start=1)
            ]
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Panels in rows of one width each."""
    wide = width == "wide"
    bands = [
        alt.hconcat(
            *[
                _panel(
                    [row for row in rows if row["d"] == d and row["scores"] == kind],
                    language,
                    title=text(kind) if d == WIDTHS[0] else None,
                    label=f"d = {d}" if kind == KINDS[0] else None,
                    height=56 if wide else 50,
                    thickness=3 if wide else 1.5,
                )
                for kind in KINDS
            ],
            spacing=20 if wide else 12,
        )
        for d in WIDTHS
    ]
    return alt.vconcat(*bands, spacing=12)


def _panel(
    rows: list[Row],
    language: Language,
    title: str | None,
    label: str | None,
    height: int,
    thickness: float,
) -> Any:
    """One row of weights: a single broken line, for a page should not carry hundreds of bars."""
    weights = [marks.number(row, "weight") for row in rows]
    x = scales.fixed((0.5, len(weights) + 0.5))
    y = scales.fixed(TICKS)
    up = marks.axis(y, language, label, labels=label is not None)
    up |= {"titleAnchor": "middle", "titleAlign": "right", "titleBaseline": "middle"}
    up |= {"titleX": -20, "titleY": height / 2, "titleColor": palette.INK}
    across = marks.axis(x, language, None, labels=False, ticks=False)
    strokes: list[Row] = []
    for index, weight in enumerate(weights):
        at = index + 1
        strokes += [{"x": at, "y": 0.0}, {"x": at, "y": weight}, {"x": at, "y": None}]
    for order, stroke in enumerate(strokes):
        stroke["order"] = order
    top = max(weights)
    peak = weights.index(top) + 1
    beside = top > 0.7  # a number above so high a bar would stand in the panel above
    turned = beside and peak > len(weights) / 2
    notes = [
        marks.Note(
            peak,
            top,
            scales.decimals_text(top, language, 2),
            align="center" if not beside else "right" if turned else "left",
            dx=0 if not beside else -5 if turned else 5,
            dy=6 if beside else -9,
        )
    ]
    if title:
        notes.append(marks.Note(x.low, y.high, title, dy=-20, strong=True))
    return marks.layer(
        marks.chart(strokes)
        .mark_line(
            color=palette.MEASURED,
            strokeWidth=thickness,
            strokeCap="butt",
            invalid="break-paths-show-path-domains",
        )
        .encode(marks.x_of(x, across), marks.y_of(y, up), order="order:Q"),
        *[marks.note(note, x, y, across, up) for note in notes],
    ).properties(width=200, height=height)
