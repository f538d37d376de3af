"""How does the toy's loss depend on the one weight that is followed by hand?

In: the loss over a range of the weight, everything else as it is, and the gradient at the weight's
own value. Out: the curve, and the dotted line whose slope is the gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from figures import Language, Row, Text, Width, marks, palette, scales

if TYPE_CHECKING:
    from engine.quantity import Book

BEFORE, AFTER = 2.5, 3.5  # how far the tangent is drawn

TEXT = {
    "weight": {"pt": "valor do peso seguido", "en": "value of the weight followed"},
    "loss": {"pt": "perda, em nats", "en": "loss, in nats"},
    "curve": {"pt": "perda", "en": "loss"},
    "tangent": {"pt": "a inclinação:\no gradiente", "en": "the slope:\nthe gradient"},
}


def data(book: Book) -> list[Row]:
    """One row a point of the curve; the tangent's own value beside it."""
    at = book.get("toy_block.gradient.followed.weight").mean
    slope = book.get("toy_block.gradient.followed.value").mean
    loss = book.get("toy_block.loss").mean
    weights = cast("Sequence[float]", _only(book, "toy_variants.one_weight.weight"))
    losses = cast("Sequence[float]", _only(book, "toy_variants.one_weight.loss"))
    rows: list[Row] = [
        {"kind": "curve", "weight": w, "loss": found, "tangent": loss + slope * (w - at)}
        for w, found in zip(weights, losses, strict=True)
    ]
    return [*rows, {"kind": "here", "weight": at, "loss": loss, "tangent": loss}]


def _only(book: Book, path: str) -> Any:
    """A value that has one run behind it: a word, or a list."""
    return next(iter(book.get(path).values.values()))


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """The curve and its tangent."""
    curve = [row for row in rows if row["kind"] == "curve"]
    (here,) = [row for row in rows if row["kind"] == "here"]
    at, loss = marks.number(here, "weight"), marks.number(here, "loss")
    points = tuple(
        marks.Point(marks.number(row, "weight"), marks.number(row, "loss")) for row in curve
    )
    tangent = [
        marks.Point(marks.number(row, "weight"), marks.number(row, "tangent"))
        for row in curve
        if at - BEFORE <= marks.number(row, "weight") <= at + AFTER
    ]
    x = scales.span([point.x for point in points], count=6)
    y = scales.linear([p.y for p in (*points, *tangent)], zero=False)
    across = marks.axis(x, language, text("weight"))
    up = marks.axis(y, language, text("loss"))
    end = tangent[-1]
    lines = marks.lines(
        [marks.Series(text("curve"), points, 0, marks=False)],
        x,
        y,
        language=language,
        x_title=text("weight"),
        y_title=text("loss"),
        height=250 if width == "wide" else 230,
        reference=tangent,
        notes=[marks.Note(end.x, end.y, text("tangent"), "right", dx=20, dy=26)],
    )
    dot = marks.chart([{"x": at, "y": loss}]).mark_point(
        color=palette.MEASURED, size=90, filled=True, opacity=1
    )
    return marks.layer(lines, dot.encode(marks.x_of(x, across), marks.y_of(y, up)))
