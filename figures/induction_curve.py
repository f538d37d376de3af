"""When does a model learn to continue what it has seen once before?

In: the loss on the second copy of a random pattern along the training, with one block and with two.
Out: two lines over the steps, with the spread over the seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, curves, fonts, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

ROWS = ("blocks_2", "blocks_1")

TEXT = {
    "step": {"pt": "passo", "en": "step"},
    "loss": {
        "pt": "perda na segunda cópia, em nats",
        "en": "loss on the second copy, in nats",
    },
    "blocks_1": {"pt": "um bloco", "en": "one block"},
    "blocks_2": {"pt": "dois blocos", "en": "two blocks"},
}


def data(book: Book) -> list[Row]:
    """One row a model and a step."""
    return [
        row
        for name in ROWS
        for row in curves.curve_rows(book, f"induction.{name}", "second_copy_loss", row=name)
    ]


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Both lines from zero."""
    series = [
        marks.Series(
            fonts.wrap(text(name), 90 if width == "wide" else 54, 600),
            tuple(
                marks.spread_point(row, "step", "second_copy_loss")
                for row in rows
                if row["row"] == name
            ),
            style,
            marks=False,
        )
        for style, name in enumerate(ROWS)
    ]
    return marks.lines(
        series,
        scales.span([scales.number(row, "step") for row in rows], count=5),
        scales.linear([point.y for one in series for point in one.points]),
        language=language,
        x_title=text("step"),
        y_title=text("loss"),
        height=250 if width == "wide" else 230,
    )
