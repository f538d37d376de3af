"""How well does the mean of what came before predict the next token, with and without help?

In: held-out perplexity of the four averages and of the counted bigram. Out: one bar a row, with
its spread over the seeds; the bigram, which is counted and not trained, is an outline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, fonts, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

ROWS = ("none", "mean", "mean_positions", "mean_added", "bigram")
COUNTED = ("bigram",)

TEXT = {
    "perplexity": {
        "pt": "perplexidade no texto reservado",
        "en": "perplexity on held-out text",
    },
    "none": {"pt": "só o token", "en": "the token alone"},
    "mean": {"pt": "média no lugar do token", "en": "mean in place of the token"},
    "mean_positions": {
        "pt": "média de tokens com posições",
        "en": "mean of tokens with positions",
    },
    "mean_added": {"pt": "token mais média", "en": "token plus mean"},
    "bigram": {"pt": "bigrama, contado", "en": "bigram, counted"},
}


def data(book: Book) -> list[Row]:
    """One row a model: mean and standard deviation of the perplexity over its seeds."""
    rows: list[Row] = []
    for row in ROWS:
        perplexity = book.get(f"averages.{row}.validation_perplexity")
        rows.append(
            {
                "row": row,
                "validation_perplexity": perplexity.mean,
                "std": perplexity.std,
                "seeds": perplexity.n,
            }
        )
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Bars from zero, in the order in which the chapter builds the models."""
    limit = 150 if width == "wide" else 104
    bars = [
        marks.Bar(
            label=fonts.wrap(text(str(row["row"])), limit),
            value=marks.number(row, "validation_perplexity"),
            text=scales.spread_text(row, "validation_perplexity", language),
            std=marks.optional(row, "std"),
            filled=row["row"] not in COUNTED,
        )
        for row in rows
    ]
    ends = [bar.value + (bar.std or 0) for bar in bars]
    return marks.bars(
        bars,
        scales.linear(ends, count=5 if width == "wide" else 3),
        language=language,
        x_title=text("perplexity"),
        step=46,
    )
