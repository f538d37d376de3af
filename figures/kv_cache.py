"""How many bytes does a model keep for each token it has read?

In: bytes per token of the cache with a key and value for every head, for a group of heads, for all
heads. Out: one bar a kind, with its bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, fonts, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

KINDS = ("mha", "gqa", "mqa")

TEXT = {
    "bytes": {"pt": "bytes por token", "en": "bytes per token"},
    "mha": {"pt": "um par por cabeça (MHA)", "en": "a pair for each head (MHA)"},
    "gqa": {"pt": "um par por grupo (GQA)", "en": "a pair for each group (GQA)"},
    "mqa": {"pt": "um par para todas (MQA)", "en": "one pair for all (MQA)"},
}


def data(book: Book) -> list[Row]:
    """One row a kind of attention."""
    return [
        {"kind": kind, "bytes_per_token": book.get(f"kv_cache.{kind}.bytes_per_token").mean}
        for kind in KINDS
    ]


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Bars from zero: the ratio is what matters."""
    limit = 170 if width == "wide" else 104
    bars = [
        marks.Bar(
            fonts.wrap(text(str(row["kind"])), limit),
            scales.number(row, "bytes_per_token"),
            scales.count_text(scales.number(row, "bytes_per_token"), language),
        )
        for row in rows
    ]
    return marks.bars(
        bars,
        scales.linear([bar.value for bar in bars], count=5 if width == "wide" else 4),
        language=language,
        x_title=text("bytes"),
        step=42,
    )
