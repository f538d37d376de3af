"""Which tokens does each head of the toy read?

In: the attention weights of the two heads. Out: two heat maps with a number in every cell; the
cells that the mask removes stay empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, marks, scales
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

HEADS, TOKENS = 2, 5
THRESHOLDS = (0.05, 0.15, 0.25, 0.4, 0.55, 0.7, 0.85)

TEXT = {
    "head": {"pt": "cabeça", "en": "head"},
    "reads": {"pt": "token lido", "en": "token read"},
    "reader": {"pt": "quem lê", "en": "reader"},
}


def data(book: Book) -> list[Row]:
    """One row a cell below the mask."""
    names = [str(_only(book, f"toy_block.tokens.{i}")) for i in range(TOKENS)]
    return [
        {
            "head": str(head + 1),
            "position": i + 1,
            "token": names[i],
            "reads": j + 1,
            "read_token": names[j],
            "weight": book.get(f"toy_block.weights.{head}.{i}.{j}").mean,
        }
        for head in range(HEADS)
        for i in range(TOKENS)
        for j in range(i + 1)
    ]


def _only(book: Book, path: str) -> Any:
    """A value that has one run behind it: a word, or a list."""
    return next(iter(book.get(path).values.values()))


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """The heads side by side, or one under the other."""
    wide = width == "wide"
    maps = [
        _map([row for row in rows if row["head"] == str(head + 1)], text, language, wide)
        for head in range(HEADS)
    ]
    both: Any = alt.hconcat(*maps, spacing=36) if wide else alt.vconcat(*maps, spacing=40)
    return both


def _map(rows: list[Row], text: Text, language: Language, wide: bool) -> Any:
    names = [str(row["token"]) for row in rows if row["position"] == row["reads"]]
    cells = [
        marks.Cell(
            int(marks.number(row, "position")) - 1,
            int(marks.number(row, "reads")) - 1,
            marks.number(row, "weight"),
            scales.decimals_text(marks.number(row, "weight"), language, 2),
        )
        for row in rows
    ]
    size = 44 if wide else 46
    return marks.heat_map(
        cells,
        names,
        names,
        thresholds=THRESHOLDS,
        row_title=f"{text('head')} {rows[0]['head']}: {text('reader')}",
        column_title=text("reads"),
        height=TOKENS * size,
        width=TOKENS * (size if wide else 50),
    )
