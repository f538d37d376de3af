"""What does each change since 2017 buy, swapped in alone?

In: held-out perplexity of the baseline, of each swap and of all together. Out: one row a model, a
disc with its spread and its value; the dotted line is the baseline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, fonts, marks, palette, scales, theme
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

ROWS = ("baseline", "rmsnorm", "gqa", "swiglu", "rope", "all")

TEXT = {
    "perplexity": {
        "pt": "perplexidade no texto reservado",
        "en": "perplexity on held-out text",
    },
    "baseline": {"pt": "bloco do livro", "en": "the book’s block"},
    "rmsnorm": {"pt": "RMSNorm", "en": "RMSNorm"},
    "gqa": {"pt": "consultas agrupadas", "en": "grouped queries"},
    "swiglu": {"pt": "SwiGLU", "en": "SwiGLU"},
    "rope": {"pt": "RoPE", "en": "RoPE"},
    "all": {"pt": "as quatro", "en": "all four"},
}


def data(book: Book) -> list[Row]:
    """One row a model."""
    rows: list[Row] = []
    for name in ROWS:
        found = book.get(f"modern_ablation.{name}.validation_perplexity")
        row: Row = {"row": name, "validation_perplexity": found.mean}
        rows.append(row | {"std": found.std, "seeds": found.n})
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Discs and whiskers; the axis does not begin at zero."""
    found = [scales.number(row, "validation_perplexity") for row in rows]
    spread = [scales.optional(row, "std") or 0.0 for row in rows]
    low = [f - s for f, s in zip(found, spread, strict=True)]
    high = [f + s for f, s in zip(found, spread, strict=True)]
    x = scales.linear([*low, *high], count=5 if width == "wide" else 3, zero=False)
    y = scales.Scale(len(rows) - 0.5, -0.5, False, tuple(range(len(rows))))
    limit = 150 if width == "wide" else 100
    labels = [fonts.wrap(text(str(row["row"])), limit) for row in rows]
    across = marks.axis(x, language, text("perplexity"), grid=True, domain=False, ticks=False)
    up = {**marks.category_labels(labels), "title": None, "grid": False, "values": list(y.ticks)}
    points = [
        {"x": at, "y": index, "low": low[index], "high": high[index]}
        for index, at in enumerate(found)
    ]
    notes = [
        marks.Note(
            max(high[index], found[0]),  # never on the dotted line
            index,
            scales.spread_text(row, "validation_perplexity", language),
            dx=9,
            strong=True,
        )
        for index, row in enumerate(rows)
    ]
    return marks.layer(
        marks.chart([{"x": found[0]}]).mark_rule(**theme.REFERENCE).encode(marks.x_of(x, across)),
        marks.chart(points)
        .mark_rule(color=palette.MEASURED, strokeWidth=2.25)
        .encode(marks.x_of(x, across, "low"), marks.y_of(y, up), alt.X2("high:Q")),
        marks.chart(points)
        .mark_point(color=palette.MEASURED, size=80)
        .encode(marks.x_of(x, across), marks.y_of(y, up)),
        *[marks.note(note, x, y, across, up) for note in notes],
    ).properties(width=300, height=36 * len(rows))
