"""Does a second block help on text that the model has not seen?

In: perplexity on the training text and on the held-out text, with one block and with two. Out: one
row a depth, a square for training and a disc for held out, joined by the gap between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, marks, palette, scales
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

ROWS = ("norm", "blocks_2")
TEXTS = ("train", "validation")

TEXT = {
    "perplexity": {"pt": "perplexidade", "en": "perplexity"},
    "norm": {"pt": "um bloco", "en": "one block"},
    "blocks_2": {"pt": "dois blocos", "en": "two blocks"},
    "train": {"pt": "de treino", "en": "training"},
    "validation": {"pt": "reservado", "en": "held out"},
}


def data(book: Book) -> list[Row]:
    """One row a depth and a text."""
    rows: list[Row] = []
    for name in ROWS:
        for seen in TEXTS:
            found = book.get(f"ladder.{name}.{seen}_perplexity")
            row: Row = {"row": name, "text": seen, "perplexity": found.mean}
            rows.append(row | {"std": found.std, "seeds": found.n})
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Each depth on a line of its own, its values below its marks."""
    found = [scales.number(row, "perplexity") for row in rows]
    x = marks.padded(scales.linear(found, count=5 if width == "wide" else 2, zero=False), low=0.2)
    y = scales.Scale(len(ROWS) - 0.4, -0.6, False, tuple(range(len(ROWS))))
    across = marks.axis(x, language, text("perplexity"), grid=True, domain=False, ticks=False)
    labels = [text(name) for name in ROWS]
    up = {**marks.category_labels(labels), "title": None, "grid": False, "values": list(y.ticks)}
    place = (marks.x_of(x, across), marks.y_of(y, up))
    gaps: list[Row] = []
    layers: list[Any] = []
    for index, name in enumerate(ROWS):
        here = [row for row in rows if row["row"] == name]
        ends = [scales.number(row, "perplexity") for row in here]
        gaps.append({"x": min(ends), "x2": max(ends), "y": index})
        for row in here:
            held_out = row["text"] == "validation"
            at = scales.number(row, "perplexity")
            right = row is max(here, key=lambda one: scales.number(one, "perplexity"))
            side: dict[str, Any] = (
                {"align": "left", "dx": 1} if right else {"align": "right", "dx": -1}
            )
            shown = scales.spread_text(row, "perplexity", language)
            notes = [marks.Note(at, index, shown, strong=True, dy=17, **side)]
            if index == 0:
                notes.append(marks.Note(at, index, text(str(row["text"])), dy=-17, **side))
            layers += [marks.note(note, x, y, across, up) for note in notes]
            layers.append(
                marks.chart([{"x": at, "y": index}])
                .mark_point(
                    shape="circle" if held_out else "square",
                    size=90,
                    color=palette.SERIES[0 if held_out else 1],
                )
                .encode(*place)
            )
    joined = marks.chart(gaps).mark_rule(color=palette.INK_2, strokeWidth=2)
    return marks.layer(joined.encode(*place, alt.X2("x2:Q")), *layers).properties(
        width=400, height=150
    )
