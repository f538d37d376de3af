"""Which words does the position that names the referent read?

In: the rows of the attention maps that `winograd_roles` records, of the first seed. Out: rows for a
figure, one a cell, and heat maps of them with a weight in per cent in every cell that has one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from engine.number import format_number
from figures import FigureError, Language, Row, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

BLOCKS = {"blocks_1": 1, "blocks_2": 2}
SENTENCES = ("tired", "wide")  # the two that are kept whole; they differ in this word alone
PLACE = "ADJ"  # how the frame of the sentences calls the place of the adjective
THRESHOLDS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75)
LEAST = 0.01  # a weight below this carries no number

Weights = Sequence[Sequence[float]]  # (h, T)


def first(book: Book, path: str) -> Any:
    """The value of the first seed: maps of two seeds are not averaged."""
    by_seed = book.get(path).values
    return by_seed[min(by_seed, key=lambda seed: -1 if seed is None else seed)]


def naming_rows(book: Book, row: str, adjectives: Sequence[str]) -> list[Row]:
    """Block by block and head by head, each adjective: one row a word that is read."""
    words = cast("Sequence[str]", first(book, f"winograd_roles.{row}.maps.words"))
    if SENTENCES[0] not in words:
        raise FigureError(f"winograd_roles.{row}.maps.words is without {SENTENCES[0]!r}")
    at = words.index(SENTENCES[0])
    names = [PLACE if place == at else word for place, word in enumerate(words)]
    rows: list[Row] = []
    for block in range(1, BLOCKS[row] + 1):
        maps = {adjective: weights_of(book, row, adjective, block) for adjective in adjectives}
        for head in range(len(maps[adjectives[0]])):
            rows.extend(
                {
                    "block": block,
                    "head": head + 1,
                    "adjective": adjective,
                    "reads": j + 1,
                    "read_token": names[j],
                    "weight": weight,
                }
                for adjective in adjectives
                for j, weight in enumerate(maps[adjective][head])
            )
    return rows


def weights_of(book: Book, row: str, adjective: str, block: int) -> Weights:
    """The row of each head with an adjective: (h, 15)."""
    return first(book, f"winograd_roles.{row}.maps.rows.{adjective}.block_{block}")


def telling_head(book: Book, row: str, block: int) -> int:
    """The head, counted from one, whose row changes most from one kind of adjective to the other:
    by the sum over the words of the change in mean weight."""
    adjectives = cast("Sequence[str]", first(book, f"winograd_roles.{row}.maps.adjectives"))
    half = len(adjectives) // 2
    kinds = [
        [weights_of(book, row, adjective, block) for adjective in kind]
        for kind in (adjectives[:half], adjectives[half:])
    ]

    def change(head: int) -> float:
        means = [
            [sum(column) / half for column in zip(*(rows[head] for rows in kind), strict=True)]
            for kind in kinds
        ]
        return sum(abs(one - other) for one, other in zip(*means, strict=True))

    return max(range(len(kinds[0][0])), key=change) + 1


def map_of(
    rows: Sequence[Row],
    label: Callable[[Row], str],
    language: Language,
    *,
    row_title: str,
    column_title: str,
    wide: bool,
) -> Any:
    """A heat map with a line for each label, in order of appearance."""
    columns = [str(row["read_token"]) for row in rows if label(row) == label(rows[0])]
    lines = list(dict.fromkeys(label(row) for row in rows))
    cells = [
        marks.Cell(
            lines.index(label(row)),
            int(scales.number(row, "reads")) - 1,
            scales.number(row, "weight"),
            format_number(scales.number(row, "weight") * 100, language, decimals=0)
            if scales.number(row, "weight") >= LEAST
            else "",
        )
        for row in rows
    ]
    return marks.heat_map(
        cells,
        lines,
        columns,
        thresholds=THRESHOLDS,
        row_title=row_title,
        column_title=column_title,
        height=len(lines) * (25 if wide else 20),
        size=12 if wide else 10,
        slanted=True,
        title_gap=marks.slanted_room(columns),
    )
