"""How large is the gradient of each block before any training, with the norm first or last?

In: the gradient norm of each of twelve blocks at initialisation, pre-norm and post-norm. Out: two
lines over the depth, on a logarithmic axis, with the spread over the seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, fonts, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

BLOCKS = tuple(range(1, 13))
PLACES = ("pre", "post")

TEXT = {
    "block": {"pt": "bloco, a contar da entrada", "en": "block, counted from the input"},
    "norm": {"pt": "norma do gradiente", "en": "gradient norm"},
    "pre": {"pt": "pré-normalização", "en": "pre-norm"},
    "post": {"pt": "pós-normalização", "en": "post-norm"},
}


def data(book: Book) -> list[Row]:
    """One row a placement and a block."""
    rows: list[Row] = []
    for place in PLACES:
        for block in BLOCKS:
            norm = book.get(f"norm_placement.{place}.gradient_norm.block_{block}")
            row: Row = {"placement": place, "block": block, "gradient_norm": norm.mean}
            rows.append(row | {"std": norm.std, "seeds": norm.n})
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Both lines, first block at the left."""
    series = [
        marks.Series(
            fonts.wrap(text(place), 90 if width == "wide" else 86, 600),
            tuple(
                marks.spread_point(row, "block", "gradient_norm")
                for row in rows
                if row["placement"] == place
            ),
            style,
        )
        for style, place in enumerate(PLACES)
    ]
    found = [end for one in series for p in one.points for end in (p.y, p.low, p.high) if end]
    return marks.lines(
        series,
        scales.fixed(BLOCKS, before=0.03),
        scales.logarithmic(found),
        language=language,
        x_title=text("block"),
        y_title=text("norm"),
        height=250 if width == "wide" else 230,
    )
