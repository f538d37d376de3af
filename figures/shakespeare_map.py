"""What does a head of a small model of Shakespeare attend to?

In: the attention weights of one head of the ladder's `norm` row over a short window of held-out
text. Out: a heat map, one row a token that reads; numbers are per cent, and weights below one per
cent carry none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from engine.number import format_number
from figures import Language, Row, Text, Width, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

HEAD = 0
THRESHOLDS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75)
LEAST = 0.01  # a weight below this carries no number

TEXT = {
    "reads": {"pt": "token lido", "en": "token read"},
    "reader": {"pt": "token que lê", "en": "token that reads"},
}


def data(book: Book) -> list[Row]:
    """One row a pair of positions that the mask leaves."""
    tokens = cast("Sequence[str]", _first(book, "ladder.norm.attention_map.tokens"))
    weights = cast(
        "Sequence[Sequence[Sequence[float]]]", _first(book, "ladder.norm.attention_map.weights")
    )
    return [
        {
            "position": i + 1,
            "token": tokens[i],
            "reads": j + 1,
            "read_token": tokens[j],
            "weight": weights[HEAD][i][j],
        }
        for i in range(len(tokens))
        for j in range(i + 1)
    ]


def _first(book: Book, path: str) -> object:
    by_seed = book.get(path).values
    return by_seed[min(by_seed, key=lambda seed: -1 if seed is None else seed)]


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """The whole window at both widths; only the type of the cells is smaller on a phone."""
    tokens = {int(scales.number(row, "position")): visible(str(row["token"])) for row in rows}
    labels = [tokens[position] for position in sorted(tokens)]
    cells = [
        marks.Cell(
            int(scales.number(row, "position")) - 1,
            int(scales.number(row, "reads")) - 1,
            scales.number(row, "weight"),
            format_number(scales.number(row, "weight") * 100, language, decimals=0)
            if scales.number(row, "weight") >= LEAST
            else "",
        )
        for row in rows
    ]
    wide = width == "wide"
    return marks.heat_map(
        cells,
        labels,
        labels,
        thresholds=THRESHOLDS,
        row_title=text("reader"),
        column_title=text("reads"),
        height=len(labels) * (25 if wide else 19),
        size=12 if wide else 10.5,
        slanted=True,
        title_gap=marks.slanted_room(labels),
    )


def visible(token: str) -> str:
    """A token as a label: a line break as a pilcrow, its leading space left out."""
    return token.replace("\n", "¶").strip() or "·"
