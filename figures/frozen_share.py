"""How many rows of a softmax have stopped responding at each width?

In: the share of random rows whose largest weight is above the limit of the experiment, with
the scores divided by the square root of the width and undivided. Out: two lines over the width.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, fonts, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

WIDTHS = (4, 16, 64, 256, 1024)
KINDS = ("divided", "undivided")

TEXT = {
    "width": {"pt": "largura, d", "en": "width, d"},
    "frozen": {"pt": "linhas congeladas", "en": "frozen rows"},
    "divided": {"pt": "dividido", "en": "divided"},
    "undivided": {"pt": "sem dividir", "en": "undivided"},
}


def data(book: Book) -> list[Row]:
    """One row a width and a way of scoring."""
    rows: list[Row] = []
    for kind in KINDS:
        for d in WIDTHS:
            found = book.get(f"softmax_jacobian.d_{d}.{kind}.frozen_share")
            row: Row = {"d": d, "scores": kind, "frozen_share": found.mean}
            rows.append(row | {"std": found.std, "seeds": found.n})
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Both lines, from no row to all."""
    series = [
        marks.Series(
            fonts.wrap(text(kind), 90 if width == "wide" else 60, 600),
            tuple(
                marks.spread_point(row, "d", "frozen_share")
                for row in rows
                if row["scores"] == kind
            ),
            style,
        )
        for style, kind in enumerate(KINDS)
    ]
    return marks.lines(
        series,
        scales.fixed(WIDTHS, log=True, before=0.03),
        scales.shares(),
        language=language,
        x_title=text("width"),
        y_title=text("frozen"),
        height=250 if width == "wide" else 230,
    )
