"""Which weights does the running mean give, row by row?

In: the averaging matrix of a short sequence. Out: its rows as a heat map with a number in every
cell; the cells above the diagonal, which the mask removes, stay empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

SIZE = 6
THRESHOLDS = (0.05, 0.1, 0.18, 0.3, 0.4, 0.6, 0.8)

TEXT = {
    "reads": {"pt": "posição lida", "en": "position read"},
    "reader": {"pt": "posição que lê", "en": "position that reads"},
}


def data(book: Book) -> list[Row]:
    """One row a cell, those of weight zero included."""
    return [
        {
            "position": i + 1,
            "reads": j + 1,
            "weight": book.get(f"triangle.matrix.{i}.{j}").mean,
        }
        for i in range(SIZE)
        for j in range(SIZE)
    ]


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """The matrix, first row at the top."""
    cells = [
        marks.Cell(
            int(marks.number(row, "position")) - 1,
            int(marks.number(row, "reads")) - 1,
            marks.number(row, "weight"),
            scales.decimals_text(marks.number(row, "weight"), language, 2),
        )
        for row in rows
        if marks.number(row, "weight") != 0
    ]
    labels = [str(position + 1) for position in range(SIZE)]
    return marks.heat_map(
        cells,
        labels,
        labels,
        thresholds=THRESHOLDS,
        row_title=text("reader"),
        column_title=text("reads"),
        height=SIZE * (48 if width == "wide" else 42),
    )
