"""How do the two rows differ? A figure for the tests of the site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

TEXT = {
    "perplexity": {"pt": "perplexidade", "en": "perplexity"},
    "none": {"pt": "só o token", "en": "the token alone"},
    "mean": {"pt": "média", "en": "mean"},
}


def data(book: Book) -> list[Row]:
    """One row a model."""
    rows: list[Row] = []
    for row in ("none", "mean"):
        perplexity = book.get(f"toy.{row}.perplexity")
        rows.append({"row": row, "perplexity": perplexity.mean, "std": perplexity.std, "seeds": 3})
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Bars from zero."""
    bars = [
        marks.Bar(
            label=text(str(row["row"])),
            value=marks.number(row, "perplexity"),
            text=scales.spread_text(row, "perplexity", language),
            std=marks.optional(row, "std"),
            filled=True,
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
