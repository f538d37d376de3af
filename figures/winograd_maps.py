"""Where do two blocks look, at the word that names the referent, in two sentences?

In: the naming row of every block and head of the model with two blocks, in two sentences that
differ in the adjective alone. Out: one heat map a block, with two lines a head; numbers are per
cent, and weights below one per cent carry none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, winograd
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

TEXT = {
    "reads": {"pt": "palavra lida", "en": "word read"},
    "block": {"pt": "bloco", "en": "block"},
    "rows": {"pt": "cabeça, adjetivo", "en": "head, adjective"},
}


def data(book: Book) -> list[Row]:
    """One row a block, a head, a sentence and a word read."""
    return winograd.naming_rows(book, "blocks_2", winograd.SENTENCES)


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """One block under the other."""
    maps = [
        winograd.map_of(
            [row for row in rows if row["block"] == block],
            lambda row: f"{row['head']} {row['adjective']}",
            language,
            row_title=f"{text('block')} {block}: {text('rows')}",
            column_title=text("reads"),
            wide=width == "wide",
        )
        for block in (1, 2)
    ]
    both: Any = alt.vconcat(*maps, spacing=30)
    return both
