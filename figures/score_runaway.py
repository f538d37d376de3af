"""What do the scores of a wide head do while it is trained, divided and undivided?

In: the curves of score spread, attention entropy and share of frozen rows of the two runs. Out:
three panels over the training steps, one a quantity, the spread on a logarithmic axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from figures import Language, Row, Text, Width, curves, fonts, marks, scales
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

KINDS = ("divided", "undivided")
PANELS = ("score_std", "entropy", "hard_share")

TEXT = {
    "divided": {"pt": "dividido", "en": "divided"},
    "undivided": {"pt": "sem dividir", "en": "undivided"},
    "score_std": {
        "pt": "desvio padrão dos escores (escala log)",
        "en": "standard deviation of the scores (log scale)",
    },
    "entropy": {"pt": "entropia dos pesos, em nats", "en": "entropy of the weights, in nats"},
    "hard_share": {"pt": "linhas congeladas", "en": "frozen rows"},
    "step": {"pt": "passo", "en": "step"},
}


def data(book: Book) -> list[Row]:
    """One row a run, a quantity and a step."""
    rows: list[Row] = []
    for kind in KINDS:
        for panel in PANELS:
            found = curves.curve_rows(book, f"score_runaway.{kind}", panel)
            for row in found:
                value = row.pop(panel)
                name = "share" if panel.endswith("share") else "value"
                blank: Row = {"value": None, "share": None}
                rows.append({"scores": kind, "quantity": panel} | blank | {name: value} | row)
    return rows


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """The panels above one another, over the same steps."""
    steps = [scales.number(row, "step") for row in rows]
    x = scales.span(steps, count=5 if width == "wide" else 4)
    panels: list[Any] = []
    for panel in PANELS:
        column = "share" if panel.endswith("share") else "value"
        here = [row for row in rows if row["quantity"] == panel]
        series = [
            marks.Series(
                fonts.wrap(text(kind), 90 if width == "wide" else 60, 600),
                tuple(
                    marks.spread_point(row, "step", column) for row in here if row["scores"] == kind
                ),
                style,
                marks=False,
            )
            for style, kind in enumerate(KINDS)
        ]
        found = [scales.number(row, column) for row in here]
        if column == "share":
            y = scales.shares((0.0, 0.5, 1.0))
        elif panel == "score_std":
            y = scales.logarithmic(found, count=4)
        else:
            y = scales.linear(found, count=4)
        bottom = panel == PANELS[-1]
        panels.append(
            marks.lines(
                series,
                x,
                y,
                language=language,
                x_title=text("step") if bottom else "",
                y_title=text(panel),
                height=120,
                x_axis={} if bottom else {"labels": False, "ticks": False},
            )
        )
    return alt.vconcat(*panels, spacing=26)
