"""What does a dot product of the vectors themselves attend to, and does it know a direction?

In: the share of rows whose largest score is the token's own, and the asymmetry of the scores, for
the embeddings as they are, with positions added, and after learned queries and keys; what a draw
among the visible positions and independent scores would give. Out: two panels of bars, one a
quantity, with what chance gives as a dotted line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, fonts, marks, scales
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

RELATIONS = {"embeddings": "", "with_positions": "with_positions.", "learned": "learned."}
PANELS = {"self_is_top_share": "chance", "asymmetry": "independent"}  # and what chance gives

TEXT = {
    "embeddings": {"pt": "os embeddings", "en": "the embeddings"},
    "with_positions": {"pt": "com posições somadas", "en": "with positions added"},
    "learned": {"pt": "consultas e chaves", "en": "queries and keys"},
    "self_is_top_share": {
        "pt": "o maior escore é o do próprio token",
        "en": "the token’s own score is the largest",
    },
    "asymmetry": {"pt": "assimetria dos escores", "en": "asymmetry of the scores"},
}


def data(book: Book) -> list[Row]:
    """One row a relation."""
    rows: list[Row] = []
    for relation, below in RELATIONS.items():
        row: Row = {"relation": relation}
        for panel, expected in PANELS.items():
            found = book.get(f"raw_dot_product.{below}{panel}")
            row |= {panel: found.mean, f"{panel}_std": found.std, "seeds": found.n}
            row[f"chance_{panel}"] = book.get(f"untrained_scores.{expected}").mean
        rows.append(row)
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Shares above, asymmetry below, the relations in the same order."""
    limit = 150 if width == "wide" else 100
    labels = [fonts.wrap(text(str(row["relation"])), limit) for row in rows]
    panels: list[Any] = []
    for panel in PANELS:
        found = [scales.number(row, panel) for row in rows]
        share = panel.endswith("share")
        bars = [
            marks.Bar(
                label,
                value,
                scales.percent_text(value, language)
                if share
                else scales.value_text(value, language),
                scales.optional(row, f"{panel}_std"),
            )
            for label, value, row in zip(labels, found, rows, strict=True)
        ]
        chance = scales.number(rows[0], f"chance_{panel}")
        x = scales.shares((0.0, 0.5, 1.0)) if share else scales.linear([*found, chance], count=3)
        panels.append(
            marks.bars(
                bars,
                x,
                language=language,
                x_title=text(panel),
                step=38,
                reference=chance,
            )
        )
    return alt.vconcat(*panels, spacing=18)
