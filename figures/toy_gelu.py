"""What does the MLP of the toy make of one number?

In: GELU in its tanh form over a range, and its sum with itself mirrored. Out: both curves over the
dotted absolute value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from figures import Language, Row, Text, Width, marks, scales

if TYPE_CHECKING:
    from engine.quantity import Book

KINDS = ("both", "gelu")

TEXT = {
    "z": {"pt": "z", "en": "z"},
    "value": {"pt": "valor", "en": "value"},
    "gelu": {"pt": "gelu(z)", "en": "gelu(z)"},
    "both": {"pt": "gelu(z) + gelu(−z)", "en": "gelu(z) + gelu(−z)"},
    "reference": {"pt": "|z|", "en": "|z|"},
}


def data(book: Book) -> list[Row]:
    """One row a point."""
    curves = {
        name: cast("Sequence[float]", book.get(f"toy_block.gelu_curve.{name}").value)
        for name in ("z", *KINDS)
    }
    return [
        {"z": z, "gelu": gelu, "both": both}
        for z, gelu, both in zip(curves["z"], curves["gelu"], curves["both"], strict=True)
    ]


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Both curves on one scale; at the right end they meet, so their names stand at the left."""
    zs = [marks.number(row, "z") for row in rows]
    series = [
        marks.Series(
            "",
            tuple(marks.Point(marks.number(r, "z"), marks.number(r, kind)) for r in rows),
            style,
            marks=False,
        )
        for style, kind in enumerate(KINDS)
    ]
    ends = [marks.Point(min(zs), -min(zs)), marks.Point(0, 0), marks.Point(max(zs), max(zs))]
    return marks.lines(
        series,
        scales.fixed((-3, -2, -1, 0, 1, 2, 3)),
        scales.fixed((0, 1, 2, 3), before=0.12),
        language=language,
        x_title=text("z"),
        y_title=text("value"),
        height=250 if width == "wide" else 230,
        reference=ends,
        notes=[
            marks.Note(2, 2, text("reference"), "right", dx=-12, dy=-6),
            marks.Note(-2.9, 0.22, text("gelu"), strong=True),
            marks.Note(-1.1, 1.35, text("both"), dx=4, strong=True),
        ],
    )
