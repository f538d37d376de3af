"""What does attention cost in time and in memory as the text grows?

In: milliseconds and peak megabytes by length, of attention as written and of the fused kernel, and
the projections as the control; lengths that ran out of memory have no time, only the size of the
one tensor that broke the budget. Out: two panels on logarithmic axes; the length that ran out is a
hollow mark at that tensor's size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.errors import MissingPath
from figures import Language, Row, Text, Width, fonts, marks, palette, scales
from figures.vega import alt

if TYPE_CHECKING:
    from engine.quantity import Book

LENGTHS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)
TIMES = {
    "written": "n_{n}.ms_total",
    "projections": "n_{n}.ms_projections",
    "fused": "fused.n_{n}.ms_total",
}
MEMORIES = {"written": "n_{n}.peak_mb", "fused": "fused.n_{n}.peak_mb"}
ORDER = ("written", "fused", "projections")

TEXT = {
    "length": {"pt": "comprimento, n", "en": "length, n"},
    "time": {"pt": "tempo, em ms", "en": "time, in ms"},
    "memory": {"pt": "pico de memória, em MB", "en": "peak memory, in MB"},
    "written": {"pt": "como escrita", "en": "as written"},
    "fused": {"pt": "núcleo fundido", "en": "fused kernel"},
    "projections": {"pt": "só as projeções", "en": "projections alone"},
    "out": {"pt": "como escrita: faltou memória", "en": "as written: out of memory"},
}


def data(book: Book) -> list[Row]:
    """One row a kind and a length; what could not be measured is empty."""
    rows: list[Row] = []
    for kind in ORDER:
        for n in LENGTHS:
            time = _found(book, TIMES.get(kind), n)
            memory = _found(book, MEMORIES.get(kind), n)
            broke = None
            if kind == "written" and memory is None:
                broke = _found(book, "n_{n}.attention_matrix_mb", n)
            rows.append({"kind": kind, "n": n, "ms": time, "mb": memory, "out_of_memory_mb": broke})
    return rows


def _found(book: Book, path: str | None, n: int) -> float | None:
    if path is None:
        return None
    try:
        return book.get(f"attention_cost.{path.format(n=n)}").mean
    except MissingPath:  # this length ran out of memory
        return None


def draw(rows: list[Row], text: Text, width: Width, language: Language) -> Any:
    """Time above, memory below, over the same lengths."""
    x = scales.fixed(LENGTHS if width == "wide" else LENGTHS[::2], log=True)
    x = scales.Scale(LENGTHS[0], LENGTHS[-1], True, x.ticks)
    x = marks.padded(x, low=0.03)
    panels: list[Any] = []
    for column, title in (("ms", "time"), ("mb", "memory")):
        series: list[marks.Series] = []
        for style, kind in enumerate(ORDER):
            points = tuple(
                marks.Point(scales.number(row, "n"), scales.number(row, column))
                for row in rows
                if row["kind"] == kind and row[column] is not None
            )
            if points:
                ran_out = column == "mb" and any(
                    row["kind"] == kind and row["out_of_memory_mb"] is not None for row in rows
                )
                words = text("out" if ran_out else kind)
                label = fonts.wrap(words, 104 if width == "wide" else 78, 600)
                series.append(marks.Series(label, points, style))
        broke = [row for row in rows if column == "mb" and row["out_of_memory_mb"] is not None]
        found = [point.y for one in series for point in one.points]
        found += [scales.number(row, "out_of_memory_mb") for row in broke]
        y = scales.logarithmic(found)
        bottom = column == "mb"
        across = marks.axis(x, language, text("length") if bottom else None)
        up = marks.axis(y, language, text(title))
        panel = marks.lines(
            series,
            x,
            y,
            language=language,
            x_title=text("length") if bottom else "",
            y_title=text(title),
            height=190,
        )
        if broke:
            mark = _ran_out(broke, x, y, across, up)
            panel = marks.layer(panel, mark).properties(width=400, height=190)
        panels.append(panel)
    return alt.vconcat(*panels, spacing=26)


def _ran_out(
    rows: list[Row], x: scales.Scale, y: scales.Scale, across: dict[str, Any], up: dict[str, Any]
) -> Any:
    """A hollow mark at the size of the tensor that was refused."""
    points = [
        {"x": scales.number(row, "n"), "y": scales.number(row, "out_of_memory_mb")} for row in rows
    ]
    hollow: dict[str, Any] = {"filled": True, "fill": palette.PAPER, "stroke": palette.FAILS}
    return (
        marks.chart(points)
        .mark_point(shape="circle", size=90, strokeWidth=2, **hollow)
        .encode(marks.x_of(x, across), marks.y_of(y, up))
    )
