"""What is left of a gradient after so many steps through a recurrent state?

In: the norm of the product of T Jacobians of h' = tanh(Wh), by the scale of W. Out: one line a
scale, over T, both axes logarithmic, with the spread over the seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.number import format_number
from figures import Language, Row, Text, Width, fonts, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

GAINS = (0.9, 1.0, 1.1)
STEPS = (1, 10, 50, 100, 500)

TEXT = {
    "steps": {"pt": "passos, T", "en": "steps, T"},
    "norm": {"pt": "norma do produto dos jacobianos", "en": "norm of the product of Jacobians"},
    "gain": {"pt": "ganho", "en": "gain"},
}


def data(book: Book) -> list[Row]:
    """One row a gain and a number of steps."""
    rows: list[Row] = []
    for gain in GAINS:
        for steps in STEPS:
            norm = book.get(f"jacobian_chain.gain_{str(gain).replace('.', '_')}.t_{steps}.norm")
            row: Row = {"gain": gain, "n": steps, "norm": norm.mean}
            rows.append(row | {"std": norm.std, "seeds": norm.n})
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Lines that fall, stay or rise; a norm that has underflowed to zero ends its line."""
    series: list[marks.Series] = []
    for style, gain in enumerate(GAINS):
        points = tuple(
            marks.spread_point(row, "n", "norm")
            for row in rows
            if row["gain"] == gain and scales.number(row, "norm") > 0
        )
        name = f"{text('gain')} {format_number(gain, language, decimals=1)}"
        series.append(
            marks.Series(fonts.wrap(name, 90 if width == "wide" else 50, 600), points, style)
        )
    found = [point.y for one in series for point in one.points]
    return marks.lines(
        [one for one in series if one.points],
        scales.fixed(STEPS, log=True, before=0.03),
        scales.logarithmic(found),
        language=language,
        x_title=text("steps"),
        y_title=text("norm"),
        height=270 if width == "wide" else 250,
    )
