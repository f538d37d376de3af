"""When does a block of today stop gaining on text that the model has not seen?

In: held-out perplexity along the training of the book's block, of RoPE alone and of all four swaps.
Out: three lines over the steps, with the spread over the seeds. The first sixth of the training,
where all fall steeply, is left out, so that the rest can be read on a linear axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, curves

if TYPE_CHECKING:
    from engine.quantity import Book

ROWS = ("baseline", "rope", "all")

TEXT = {
    **curves.AXES,
    "baseline": {"pt": "bloco do livro", "en": "the book’s block"},
    "rope": {"pt": "RoPE", "en": "RoPE"},
    "all": {"pt": "as quatro", "en": "all four"},
}


def data(book: Book) -> list[Row]:
    """One row a model and a step."""
    rows = [
        row
        for name in ROWS
        for row in curves.curve_rows(
            book, f"modern_ablation.{name}", "validation_perplexity", row=name
        )
    ]
    return curves.late(rows)


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Three lines, each named at its end."""
    return curves.held_out(rows, "row", text, width, language, room=(80, 60))
