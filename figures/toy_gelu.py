"""What does the MLP of the toy make of one number?

In: GELU in its tanh form over a range, and its sum with itself mirrored. Out: both curves over the
dotted absolute value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from figures import Language, Row, Text, Width, fonts, marks, scales

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
        name: cast("Sequence[float]", _only(book, f"toy_block.gelu_curve.{name}"))
        for name in ("z", *KINDS)
    }
    return [
        {"z": z, "gelu": gelu, "both": both}
        for z, gelu, both in zip(curves["z"], curves["gelu"], curves["both"], strict=True)
    ]


def _only(book: Book, path: str) -> Any:
    """A value that has one run behind it: a word, or a list."""
    return next(iter(book.get(path).values.values()))


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Both curves on one scale; at the right end they meet, so their names stand along them."""
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
    ends = [marks.Point(min(zs), abs(min(zs))), marks.Point(0, 0), marks.Point(max(zs), max(zs))]
    left, high, low = (rows[round(share * (len(rows) - 1))] for share in (0.02, 0.1, 0.27))
    both = text("both") if width == "wide" else fonts.wrap(text("both"), 76, 600)
    return marks.lines(
        series,
        scales.span(zs, count=7),
        scales.linear([*(p.y for one in series for p in one.points), *(p.y for p in ends)]),
        language=language,
        x_title=text("z"),
        y_title=text("value"),
        height=250 if width == "wide" else 230,
        reference=ends,
        notes=[
            _beside(high, "z", text("reference"), "left", 10, -6),
            _beside(left, "gelu", text("gelu"), "left", 0, 15),
            _beside(low, "both", both, "right", -12, 6),
        ],
    )


def _beside(row: Row, key: str, words: str, align: str, dx: float, dy: float) -> marks.Note:
    x, y = marks.number(row, "z"), marks.number(row, key)
    return marks.Note(x, abs(y) if key == "z" else y, words, align, dx, dy, strong=key != "z")
