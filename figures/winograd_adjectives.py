"""Does the same hold for all eight adjectives?

In: the naming row with each adjective, of the head in each of two blocks whose row changes most
from one kind of adjective to the other. Out: one heat map a block, a line an adjective; numbers are
per cent, and weights below one per cent carry none.
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
    "head": {"pt": "cabeça", "en": "head"},
}


def data(book: Book) -> list[Row]:
    """One row a block, an adjective and a word read; of each block one head."""
    adjectives: list[str] = list(winograd.first(book, "winograd_roles.blocks_2.maps.adjectives"))
    heads = {block: winograd.telling_head(book, "blocks_2", block) for block in (1, 2)}
    rows = winograd.naming_rows(book, "blocks_2", adjectives)
    return [row for row in rows if heads[int(str(row["block"]))] == row["head"]]


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """One block under the other."""
    maps = [_map([row for row in rows if row["block"] == b], text, width, language) for b in (1, 2)]
    both: Any = alt.vconcat(*maps, spacing=30)
    return both


def _map(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    title = f"{text('block')} {rows[0]['block']}, {text('head')} {rows[0]['head']}"
    return winograd.map_of(
        rows,
        lambda row: str(row["adjective"]),
        language,
        row_title=title,
        column_title=text("reads"),
        wide=width == "wide",
    )
