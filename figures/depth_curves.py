"""When does a second block stop helping on text that the model has not seen?

In: held-out perplexity along the training of one block and of two. Out: two lines over the steps,
with the spread over the seeds. The first sixth of the training, where both fall steeply, is left
out, so that the rest can be read on a linear axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, curves

if TYPE_CHECKING:
    from engine.quantity import Book

ROWS = ("norm", "blocks_2")

TEXT = {
    **curves.AXES,
    "norm": {"pt": "um bloco", "en": "one block"},
    "blocks_2": {"pt": "dois blocos", "en": "two blocks"},
}


def data(book: Book) -> list[Row]:
    """One row a depth and a step."""
    rows = [
        row
        for name in ROWS
        for row in curves.curve_rows(book, f"ladder.{name}", "validation_perplexity", row=name)
    ]
    return curves.late(rows)


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Two lines, each named at its end."""
    return curves.held_out(rows, "row", text, width, language, room=(80, 50))
