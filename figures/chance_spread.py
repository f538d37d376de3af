"""Which chances did a model give to the tokens that came?

In: the share of held-out tokens in each halving of the chance that the counted bigram gave them.
Out: one bar for each factor of four, from sure to worse than blind.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, fonts, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

HALVINGS = 17  # the last holds everything smaller
BANDS = 5  # of two halvings each; one more for the rest

TEXT = {
    "share": {"pt": "parte dos tokens do texto reservado", "en": "share of the held-out tokens"},
    "first": {"pt": "chance acima de {}", "en": "chance above {}"},
    "between": {"pt": "de {} a {}", "en": "{} to {}"},
    "last": {"pt": "{} ou menos", "en": "{} or less"},
}


def data(book: Book) -> list[Row]:
    """One row a band: its lowest and its highest chance, and the share of tokens inside."""
    shares = [book.get(f"surprise.halvings.h_{n}").mean for n in range(HALVINGS)]
    rows: list[Row] = [
        {
            "chance_from": 4.0 ** -(n + 1),
            "chance_to": 4.0**-n,
            "share": sum(shares[2 * n : 2 * n + 2]),
        }
        for n in range(BANDS)
    ]
    return [
        *rows,
        {"chance_from": 0.0, "chance_to": 4.0**-BANDS, "share": sum(shares[2 * BANDS :])},
    ]


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """From the sure to the surprising."""
    limit = 150 if width == "wide" else 104
    bars = [
        marks.Bar(
            label=fonts.wrap(label(row, text), limit),
            value=marks.number(row, "share"),
            text=scales.percent_text(marks.number(row, "share"), language),
        )
        for row in rows
    ]
    return marks.bars(
        bars,
        replace(scales.linear([bar.value for bar in bars], count=4), percent=True),
        language=language,
        x_title=text("share"),
        step=36,
    )


def label(row: Row, text: Text) -> str:
    """The band in words: "from one quarter to one"."""
    low, high = marks.number(row, "chance_from"), marks.number(row, "chance_to")
    if high == 1:
        return text("first").format(fraction(low))
    if low == 0:
        return text("last").format(fraction(high))
    return text("between").format(fraction(low), fraction(high))


def fraction(chance: float) -> str:
    return f"1/{round(1 / chance)}"
