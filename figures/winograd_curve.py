"""How often is the referent named on held-out sentences, while three models are trained?

In: held-out accuracy along the training of the bag of words, one block and two. Out: three
lines over the steps, with the spread over the seeds; dotted, one half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, curves, fonts, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

ROWS = ("blocks_2", "blocks_1", "mean")

TEXT = {
    "step": {"pt": "passo", "en": "step"},
    "accuracy": {
        "pt": "acurácia nas frases reservadas",
        "en": "accuracy on held-out sentences",
    },
    "mean": {"pt": "saco de palavras", "en": "bag of words"},
    "blocks_1": {"pt": "um bloco", "en": "one block"},
    "blocks_2": {"pt": "dois blocos", "en": "two blocks"},
}


def data(book: Book) -> list[Row]:
    """One row a model and a step."""
    return [
        row
        for name in ROWS
        for row in curves.curve_rows(book, f"winograd_roles.{name}", "referent_accuracy", row=name)
    ]


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """From nothing to all."""
    series = [
        marks.Series(
            fonts.wrap(text(name), 90 if width == "wide" else 54, 600),
            tuple(
                marks.spread_point(row, "step", "referent_accuracy")
                for row in rows
                if row["row"] == name
            ),
            style,
            marks=False,
        )
        for style, name in enumerate(ROWS)
    ]
    steps = scales.span([scales.number(row, "step") for row in rows], count=5)
    return marks.lines(
        series,
        steps,
        scales.shares(),
        language=language,
        x_title=text("step"),
        y_title=text("accuracy"),
        height=250 if width == "wide" else 230,
        reference=(marks.Point(steps.low, 0.5), marks.Point(steps.high, 0.5)),
    )
