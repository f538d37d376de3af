"""What does one row of weights look like at each width, with and without the division?

In: one row of sixty-four softmax weights at each width, of the first seed, from scores divided by
the square root of the width and from the same scores undivided. Out: ten small panels, undivided at
the left, divided at the right, all on one scale, each with its largest weight.
"""

from __future__ import annotations

from collections.abc import Sequence
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
            by_seed = book.get(f"saturation.d_{d}.{kind}.example.weights").values
            seed = min(by_seed, key=lambda seed: -1 if seed is None else seed)
            rows += [
                {"d": d, "scores": kind, "seed": seed, "position": position, "weight": weight}
                for position, weight in enumerate(cast("Sequence[float]", by_seed[seed]), start=1)
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
    heights = [(at, y) for at, w in enumerate(weights, start=1) for y in (0.0, w, None)]
    strokes: list[Row] = [
        {"x": at, "y": height, "order": order} for order, (at, height) in enumerate(heights)
    ]
    top = max(weights)
    peak = weights.index(top) + 1
    beside = top > 0.7  # a number above so high a bar would stand in the panel above
    turned = peak > len(weights) * (0.5 if beside else 0.9)
    side = "right" if turned else "left" if beside or peak < len(weights) * 0.1 else "center"
    notes = [
        marks.Note(
            peak,
            top,
            scales.decimals_text(top, language, 2),
            align=side,
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
