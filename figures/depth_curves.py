"""When does a second block stop helping on text that the model has not seen?

In: held-out perplexity along the training of one block and of two. Out: two lines over the steps,
with the spread over the seeds. The first sixth of the training, where both fall steeply, is left
out, so that the rest can be read on a linear axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, curves, fonts, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

ROWS = ("norm", "blocks_2")
LEFT_OUT = 6  # one part in so many

TEXT = {
    "step": {"pt": "passo", "en": "step"},
    "perplexity": {
        "pt": "perplexidade no texto reservado",
        "en": "perplexity on held-out text",
    },
    "norm": {"pt": "um bloco", "en": "one block"},
    "blocks_2": {"pt": "dois blocos", "en": "two blocks"},
}


def data(book: Book) -> list[Row]:
    """One row a depth and a step."""
    rows = [
        row
        for name in ROWS
        for row in curves.curve_rows(book, f"ladder.{name}", "validation_perplexity", row=name)
    ]
    last = max(scales.number(row, "step") for row in rows)
    return [row for row in rows if scales.number(row, "step") * LEFT_OUT >= last]


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Two lines, each named at its end."""
    series = [
        marks.Series(
            fonts.wrap(text(name), 80 if width == "wide" else 50, 600),
            tuple(
                marks.spread_point(row, "step", "validation_perplexity")
                for row in rows
                if row["row"] == name
            ),
            style,
            marks=False,
        )
        for style, name in enumerate(ROWS)
    ]
    found = [end for one in series for p in one.points for end in (p.y, p.low, p.high) if end]
    steps = [scales.number(row, "step") for row in rows]
    return marks.lines(
        series,
        scales.span(steps, count=5 if width == "wide" else 3),
        scales.linear(found, count=5, zero=False),
        language=language,
        x_title=text("step"),
        y_title=text("perplexity"),
        height=250,
    )
