"""What does each piece of the block buy?

In: held-out perplexity along the ladder, each row one piece more than the row above. Out: one step
a row, from the perplexity before to the one after; filled where the piece helps, outlined where it
does not; the change with its spread over the seeds (paired) beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.number import format_spread
from figures import Language, Row, Text, Width, fonts, marks, palette, scales
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

PLAIN = (0.1, 1000.0)  # sizes of a change that one decimal shows
ROWS = (
    "none",
    "mean_added",
    "mean_added_positions",
    "head_replaced",
    "head_added",
    "heads_4",
    "mlp",
    "norm",
    "blocks_2",
)

TEXT = {
    "perplexity": {
        "pt": "perplexidade no texto reservado",
        "en": "perplexity on held-out text",
    },
    "none": {"pt": "só o token", "en": "the token alone"},
    "mean_added": {"pt": "mais a média", "en": "plus the mean"},
    "mean_added_positions": {"pt": "mais posições", "en": "plus positions"},
    "head_replaced": {"pt": "cabeça no lugar do token", "en": "head in place of the token"},
    "head_added": {"pt": "cabeça somada ao token", "en": "head added to the token"},
    "heads_4": {"pt": "quatro cabeças", "en": "four heads"},
    "mlp": {"pt": "mais a MLP", "en": "plus the MLP"},
    "norm": {"pt": "mais a normalização", "en": "plus the norms"},
    "blocks_2": {"pt": "dois blocos", "en": "two blocks"},
}


def data(book: Book) -> list[Row]:
    """One row a rung: its perplexity, and the change from the rung above."""
    rows: list[Row] = []
    before = None
    for name in ROWS:
        perplexity = book.get(f"ladder.{name}.validation_perplexity")
        change = None if before is None else perplexity - before
        rows.append(
            {
                "row": name,
                "validation_perplexity": perplexity.mean,
                "std": perplexity.std,
                "seeds": perplexity.n,
                "change": None if change is None else change.mean,
                "change_std": None if change is None else change.std,
                "change_seeds": None if change is None else change.n,
            }
        )
        before = perplexity
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Steps down the ladder, joined by thin lines."""
    limit = 150 if width == "wide" else 92
    found = [scales.number(row, "validation_perplexity") for row in rows]
    spreads = [scales.optional(row, "std") or 0.0 for row in rows]
    ends = [f + s for f, s in zip(found, spreads, strict=True)]
    starts = [f - s for f, s in zip(found, spreads, strict=True)]
    x = scales.linear([*starts, *ends], count=5 if width == "wide" else 3, zero=False)
    y = scales.Scale(len(rows) - 0.5, -0.5, False, tuple(range(len(rows))))
    labels = [fonts.wrap(text(str(row["row"])), limit) for row in rows]
    across = marks.axis(x, language, text("perplexity"), grid=True, domain=False, ticks=False)
    up = {**marks.category_labels(labels), "title": None, "grid": False, "values": list(y.ticks)}

    steps: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    notes: list[marks.Note] = []
    for index, (row, at) in enumerate(zip(rows, found, strict=True)):
        points.append({"x": at, "y": index, "low": starts[index], "high": ends[index]})
        rightmost = ends[index]
        if index:
            before = found[index - 1]
            steps.append(
                {
                    "x": before,
                    "x2": at,
                    "y": index - 0.2,
                    "y2": index + 0.2,
                    "above": index - 1,
                    "here": index,
                    "helps": at <= before,
                }
            )
            rightmost = max(rightmost, before)
        notes.append(marks.Note(rightmost, index, _label(row, language), dx=8, strong=True))

    place = (marks.x_of(x, across), marks.y_of(y, up))
    bar = marks.chart(steps)
    both = (*place, alt.X2("x2:Q"), alt.Y2("y2:Q"))
    whisker = (marks.x_of(x, across, "low"), marks.y_of(y, up), alt.X2("high:Q"))
    return marks.layer(
        bar.mark_rule(color=palette.INK_2, strokeWidth=1).encode(
            marks.x_of(x, across), marks.y_of(y, up, "above"), alt.Y2("here:Q")
        ),
        bar.mark_rect(color=palette.MEASURED).encode(*both).transform_filter("datum.helps"),
        bar.mark_rect(filled=False, stroke=palette.MEASURED, strokeWidth=1.5)
        .encode(*both)
        .transform_filter("!datum.helps"),
        marks.chart(points).mark_rule(color=palette.PAPER, strokeWidth=5).encode(*whisker),
        marks.chart(points).mark_rule(color=palette.INK, strokeWidth=1.5).encode(*whisker),
        marks.chart(points).mark_point(color=palette.INK, size=40).encode(*place),
        *[marks.note(note, x, y, across, up) for note in notes],
    ).properties(width=300, height=(38 if width == "wide" else 42) * len(rows))


def _label(row: Row, language: Language) -> str:
    """The value of the first row, the change of every other."""
    if row["change"] is None:
        return scales.spread_text(row, "validation_perplexity", language)
    change = scales.number(row, "change")
    seeds, std = int(scales.number(row, "change_seeds")), scales.optional(row, "change_std")
    if std is None and PLAIN[0] <= abs(change) < PLAIN[1]:
        shown = scales.decimals_text(change, language, 1)  # one decimal, as the levels of one run
    else:
        shown = format_spread(change, std, seeds, language, digits=1 if std is None else 3)
    return f"+{shown}" if change > 0 else shown
