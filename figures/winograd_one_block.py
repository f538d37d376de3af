"""Where does the one block look, at the word that names the referent, in two sentences?

In: the naming row of every head of the model with one block, in two sentences that differ in the
adjective alone. Out: a heat map with two lines a head; numbers are per cent, and weights below one
per cent carry none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, winograd

if TYPE_CHECKING:
    from engine.quantity import Book

TEXT = {
    "reads": {"pt": "palavra lida", "en": "word read"},
    "rows": {"pt": "cabeça, adjetivo", "en": "head, adjective"},
}


def data(book: Book) -> list[Row]:
    """One row a head, a sentence and a word read."""
    return winograd.naming_rows(book, "blocks_1", winograd.SENTENCES)


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Two lines a head."""
    return winograd.map_of(
        rows,
        lambda row: f"{row['head']} {row['adjective']}",
        language,
        row_title=text("rows"),
        column_title=text("reads"),
        wide=width == "wide",
    )
