"""How much does a softmax still respond to its scores at each width?

In: the trace of the Jacobian of the softmax, the sum of w(1 - w), averaged over random rows, with
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
    "trace": {"pt": "traço do jacobiano", "en": "trace of the Jacobian"},
    "divided": {"pt": "dividido", "en": "divided"},
    "undivided": {"pt": "sem dividir", "en": "undivided"},
}


def data(book: Book) -> list[Row]:
    """One row a width and a way of scoring."""
    rows: list[Row] = []
    for kind in KINDS:
        for d in WIDTHS:
            found = book.get(f"softmax_jacobian.d_{d}.{kind}.trace")
            row: Row = {"d": d, "scores": kind, "trace": found.mean}
            rows.append(row | {"std": found.std, "seeds": found.n})
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Both lines from zero."""
    series = [
        marks.Series(
            fonts.wrap(text(kind), 90 if width == "wide" else 60, 600),
            tuple(marks.spread_point(row, "d", "trace") for row in rows if row["scores"] == kind),
            style,
        )
        for style, kind in enumerate(KINDS)
    ]
    return marks.lines(
        series,
        scales.fixed(WIDTHS, log=True, before=0.03),
        scales.linear([marks.number(row, "trace") for row in rows]),
        language=language,
        x_title=text("width"),
        y_title=text("trace"),
        height=250 if width == "wide" else 230,
    )
