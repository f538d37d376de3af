"""What becomes of each encoding of order in windows longer than those of training?

In: held-out perplexity at three lengths for every encoding, over the whole window and over its last
64 positions. Out: two panels of lines over the length, on logarithmic axes, with their spread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, fonts, marks, scales
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

ENCODINGS = ("rope", "learned", "sinusoidal", "alibi", "none")
LENGTHS = (64, 128, 256)
PANELS = ("validation_perplexity", "last_64_perplexity")

TEXT = {
    "learned": {"pt": "tabela aprendida", "en": "learned table"},
    "sinusoidal": {"pt": "senoides", "en": "sinusoids"},
    "rope": {"pt": "RoPE", "en": "RoPE"},
    "alibi": {"pt": "ALiBi", "en": "ALiBi"},
    "none": {"pt": "nenhuma", "en": "none"},
    "length": {"pt": "comprimento da janela", "en": "length of the window"},
    "validation_perplexity": {
        "pt": "perplexidade, janela inteira",
        "en": "perplexity, whole window",
    },
    "last_64_perplexity": {
        "pt": "perplexidade, fim da janela",
        "en": "perplexity, end of the window",
    },
}


def data(book: Book) -> list[Row]:
    """One row an encoding, a length and a way of scoring."""
    rows: list[Row] = []
    for panel in PANELS:
        for encoding in ENCODINGS:
            for length in LENGTHS:
                found = book.get(f"positions.{encoding}.length_{length}.{panel}")
                row: Row = {"encoding": encoding, "length": length, "scored": panel}
                rows.append(row | {"perplexity": found.mean, "std": found.std, "seeds": found.n})
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Panels beside one another where there is room, on one scale."""
    x = scales.fixed(LENGTHS, log=True, before=0.05)
    y = scales.logarithmic([scales.number(row, "perplexity") for row in rows])
    panels: list[Any] = []
    for panel in PANELS:
        series = [
            marks.Series(
                fonts.wrap(text(encoding), 74, 600),
                tuple(
                    marks.spread_point(row, "length", "perplexity")
                    for row in rows
                    if row["encoding"] == encoding and row["scored"] == panel
                ),
                style,
            )
            for style, encoding in enumerate(ENCODINGS)
        ]
        panels.append(
            marks.lines(
                series,
                x,
                y,
                language=language,
                x_title=text("length"),
                y_title=text(panel),
                height=270 if width == "wide" else 230,
            )
        )
    if width == "wide":
        return alt.hconcat(*panels, spacing=24)
    return alt.vconcat(*panels, spacing=28)
