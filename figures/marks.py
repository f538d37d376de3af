"""Which pictures does the book draw more than once?

In: rows, scales and words. Out: Altair charts in the book's manner: lines with labels at their
ends, horizontal bars with their values, heat maps with a number in every cell. Nothing rests on
colour alone: lines differ in dash and mark, bars in filling, cells in their number.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from figures import Language, Row, fonts, palette, scales, theme
from figures.scales import Scale, number, optional
from figures.vega import alt

END_GAP = 9  # pixels between the last point of a line and its label


@dataclass(frozen=True)
class Point:
    """A point of a line; `low` and `high` bound its spread where there is one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Series:
    """One line: its label (with line breaks) and its points in order of x."""

    label: str
    points: tuple[Point, ...]
    style: int = 0  # which colour, dash and mark; 0 is the measured colour, solid, a disc
    marks: bool = True


@dataclass(frozen=True)
class Note:
    """A few words at a place of the plot."""

    x: float
    y: float
    text: str
    align: str = "left"
    dx: float = 0
    dy: float = 0
    strong: bool = False


def chart(rows: Sequence[Any]) -> Any:
    """An Altair chart of these rows."""
    return alt.Chart(alt.InlineData(values=list(rows)))


def layer(*layers: Any) -> Any:
    """Charts on one another."""
    return alt.layer(*layers)


def axis(scale: Scale, language: Language, title: str | None, **more: Any) -> dict[str, Any]:
    """An axis whose ticks are those of `scale`, written in the language."""
    return {
        "values": list(scale.ticks),
        "labelExpr": label_expression(scale.ticks, scales.tick_texts(scale, language)),
        "title": title.split("\n") if title else None,
        "labelOverlap": "parity",
        "labelSeparation": 5,
        **more,
    }


def label_expression(ticks: Sequence[Any], texts: Sequence[str]) -> str:
    """A Vega expression that gives each tick its text (several lines where it has breaks)."""
    lines = [text.split("\n") if "\n" in text else text for text in texts]
    keys = json.dumps(list(ticks))
    return f"{json.dumps(lines, ensure_ascii=False)}[indexof({keys}, datum.value)]"


def centred(text: str) -> float:
    """How far up a text of several lines must move for its middle to lie where its first line
    would: Vega knows only the first."""
    return -text.count("\n") * theme.LINE_HEIGHT / 2


def category_labels(texts: Sequence[str]) -> dict[str, Any]:
    """Axis properties for labels of several lines, each centred on its tick."""
    ticks = list(range(len(texts)))
    tall = sorted({text.count("\n") for text in texts} - {0})
    conditions: list[dict[str, Any]] = []
    for breaks in tall:
        those = [tick for tick in ticks if texts[tick].count("\n") == breaks]
        test = f"indexof({those}, datum.value) >= 0"
        conditions.append({"test": test, "value": -breaks * theme.LINE_HEIGHT / 2})
    offset: dict[str, Any] = {"labelOffset": {"condition": conditions, "value": 0}} if tall else {}
    return {
        "labelExpr": label_expression(ticks, texts),
        "labelLineHeight": theme.LINE_HEIGHT,
        "labelColor": palette.INK,
        **offset,
    }


def x_of(scale: Scale, axis_: dict[str, Any] | None, field: str = "x") -> Any:
    """The horizontal channel of a quantitative field."""
    return alt.X(f"{field}:Q", scale=alt.Scale(**scale.altair()), axis=_axis(axis_))


def y_of(scale: Scale, axis_: dict[str, Any] | None, field: str = "y") -> Any:
    """The vertical channel of a quantitative field."""
    return alt.Y(f"{field}:Q", scale=alt.Scale(**scale.altair()), axis=_axis(axis_))


def lines(
    series: Sequence[Series],
    x: Scale,
    y: Scale,
    *,
    language: Language,
    x_title: str,
    y_title: str,
    height: int,
    width: int = 400,
    reference: Sequence[Point] = (),
    notes: Sequence[Note] = (),
    x_axis: dict[str, Any] | None = None,
    y_axis: dict[str, Any] | None = None,
) -> Any:
    """Lines with their spread as bands, an optional dotted reference, and labels at the ends."""
    across = axis(x, language, x_title) | (x_axis or {})
    up = axis(y, language, y_title) | (y_axis or {})
    layers: list[Any] = []
    for one in series:
        layers += _bands(one, x, y, across, up)
    if reference:
        layers.append(
            chart(_xy(reference)).mark_line(**theme.REFERENCE).encode(x_of(x, across), y_of(y, up))
        )
    for one in series:
        layers += _line(one, x, y, across, up)
    layers += _end_labels(series, x, y, across, up, height)
    layers += [note(one, x, y, across, up) for one in notes]
    return layer(*layers).properties(width=width, height=height)


def note(one: Note, x: Scale, y: Scale, across: dict[str, Any], up: dict[str, Any]) -> Any:
    """A note as a layer."""
    mark: dict[str, Any] = {"align": one.align, "dx": one.dx, "dy": one.dy + centred(one.text)}
    mark |= {"baseline": "middle", "lineHeight": theme.LINE_HEIGHT, "lineBreak": "\n"}
    mark |= {"color": palette.INK if one.strong else palette.INK_2}
    mark |= {"fontWeight": 600 if one.strong else 400}
    return (
        chart([{"x": one.x, "y": one.y, "t": one.text}])
        .mark_text(**mark)
        .encode(x_of(x, across), y_of(y, up), alt.Text("t:N"))
    )


@dataclass(frozen=True)
class Bar:
    """One horizontal bar: its label, value, the text beside it; `std` draws a whisker."""

    label: str
    value: float
    text: str
    std: float | None = None
    filled: bool = True


def bars(
    rows: Sequence[Bar],
    x: Scale,
    *,
    language: Language,
    x_title: str,
    step: int = 44,
    thickness: int = 20,
    reference: float | None = None,
    width: int = 300,
) -> Any:
    """Horizontal bars from the low end of the axis, each with its value as text; a bar that is not
    filled is outlined and striped by nothing: it was not measured in the same way."""
    labels = [row.label for row in rows]
    order = list(range(len(rows)))
    records: list[Row] = []
    for index, row in enumerate(rows):
        low = max(row.value - (row.std or 0), x.low)
        high = min(row.value + (row.std or 0), x.high)
        end = max(row.value, high)
        records.append(
            {
                "i": index,
                "x": row.value,
                "zero": x.low,
                "low": low,
                "high": high,
                "end": end,
                "t": row.text,
                "filled": row.filled,
                "spread": row.std is not None,
            }
        )
    across = axis(x, language, x_title, grid=True, domain=False, ticks=False)
    up = {**category_labels(labels), "title": None, "grid": False}
    rowwise = alt.Y("i:O", sort=order, axis=alt.Axis(**up), scale=alt.Scale(padding=0))
    base = chart(records)
    body: dict[str, Any] = {"height": thickness}
    layers: list[Any] = [
        base.mark_bar(color=palette.MEASURED, **body)
        .encode(x_of(x, across), rowwise, alt.X2("zero:Q"))
        .transform_filter("datum.filled"),
        base.mark_bar(filled=False, stroke=palette.MEASURED, strokeWidth=1.5, **body)
        .encode(x_of(x, across), rowwise, alt.X2("zero:Q"))
        .transform_filter("!datum.filled"),
    ]
    if reference is not None:
        layers.append(
            chart([{"x": reference}]).mark_rule(**theme.REFERENCE).encode(x_of(x, across))
        )
    spread = base.transform_filter("datum.spread")
    whisker = (x_of(x, across, "low"), rowwise, alt.X2("high:Q"))
    layers += [  # the halo keeps the whisker visible on its own bar
        spread.mark_rule(color=palette.PAPER, strokeWidth=5).encode(*whisker),
        spread.mark_rule(color=palette.INK, strokeWidth=1.5).encode(*whisker),
        base.mark_text(align="left", dx=7, fontWeight=600, baseline="middle").encode(
            x_of(x, across, "end"), rowwise, alt.Text("t:N")
        ),
    ]
    return layer(*layers).properties(width=width, height=step * len(rows))


@dataclass(frozen=True)
class Cell:
    """One cell of a heat map: where it stands, its value and its text."""

    row: int
    column: int
    value: float
    text: str


def heat_map(
    cells: Sequence[Cell],
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    *,
    thresholds: Sequence[float],
    row_title: str | None,
    column_title: str | None,
    height: int,
    width: int = 300,
    size: float | None = None,
    colours: Sequence[str] = palette.SEQUENTIAL,
    slanted: bool = False,
    title_gap: float = 28,
) -> Any:
    """Cells in eight steps of one colour, a number in each; cells that are not given stay empty."""
    records = [{"r": c.row, "c": c.column, "v": c.value, "t": c.text} for c in cells]
    rows, columns = list(range(len(row_labels))), list(range(len(column_labels)))
    angle: dict[str, Any] = {"labelAngle": -45, "labelAlign": "left"} if slanted else {}
    across = {
        "orient": "top",
        "labelExpr": label_expression(columns, column_labels),
        "title": column_title,
        "titleAnchor": "end",
        "titleAlign": "right",
        "titleY": -title_gap,
        "titleBaseline": "bottom",
        "domain": False,
        "ticks": False,
        "grid": False,
        "labelAngle": 0,
        **angle,
    }
    widest = max(fonts.text_width(label) for label in row_labels)
    down = {
        **category_labels(row_labels),
        "labelColor": palette.INK_2,
        "title": row_title,
        "titleX": -widest - 6,
        "titleY": -title_gap,
        "grid": False,
    }
    x = alt.X("c:O", scale=alt.Scale(domain=columns, padding=0), axis=alt.Axis(**across))
    y = alt.Y("r:O", scale=alt.Scale(domain=rows, padding=0), axis=alt.Axis(**down))
    steps = alt.Scale(type="threshold", domain=list(thresholds), range=list(colours))
    base = chart(records)
    number: dict[str, Any] = {"baseline": "middle"} | ({} if size is None else {"fontSize": size})
    middle = thresholds[len(thresholds) // 2]
    text_colour = alt.condition(
        f"datum.v >= {middle!r}", alt.value(palette.ON_HIGH), alt.value(palette.ON_LOW)
    )
    return layer(
        base.mark_rect(stroke=palette.PAPER, strokeWidth=2).encode(
            x, y, alt.Color("v:Q", scale=steps)
        ),
        base.mark_text(**number).encode(x, y, alt.Text("t:N"), color=text_colour),
    ).properties(width=width, height=height)


def slanted_room(labels: Sequence[str]) -> float:
    """How far above a heat map its titles stand when column labels are slanted."""
    return max(fonts.text_width(label) for label in labels) * 0.71 + 22


def _axis(given: dict[str, Any] | None) -> Any:
    return None if given is None else alt.Axis(**given)


def _xy(points: Sequence[Point]) -> list[Row]:
    return [{"x": point.x, "y": point.y} for point in points]


def _bands(
    one: Series, x: Scale, y: Scale, across: dict[str, Any], up: dict[str, Any]
) -> list[Any]:
    rows: list[Row] = [
        {"x": point.x, "y": _inside(y, point.low), "high": _inside(y, point.high)}
        for point in one.points
        if point.low is not None and point.high is not None
    ]
    if not rows:
        return []
    band = chart(rows).mark_area(color=_colour(one), opacity=theme.BAND, line=False)
    return [band.encode(x_of(x, across), y_of(y, up), alt.Y2("high:Q"))]


def _line(one: Series, x: Scale, y: Scale, across: dict[str, Any], up: dict[str, Any]) -> list[Any]:
    base = chart(_xy(one.points))
    dash = theme.DASHES[one.style % len(theme.DASHES)]
    drawn = [
        base.mark_line(color=_colour(one), strokeDash=list(dash)).encode(
            x_of(x, across), y_of(y, up)
        )
    ]
    if one.marks:
        shape = theme.SHAPES[one.style % len(theme.SHAPES)]
        drawn.append(
            base.mark_point(color=_colour(one), shape=shape).encode(x_of(x, across), y_of(y, up))
        )
    return drawn


def _end_labels(
    series: Sequence[Series],
    x: Scale,
    y: Scale,
    across: dict[str, Any],
    up: dict[str, Any],
    height: int,
) -> list[Any]:
    named = [one for one in series if one.label]
    wanted = [(1 - y.share(one.points[-1].y)) * height for one in named]
    tall = [scales.text_height(one.label) for one in named]
    slack = scales.text_height("") / 2  # a label at the very end of the axis is centred on it
    placed = [
        at - slack
        for at in scales.separate([at + slack for at in wanted], tall, height + 2 * slack)
    ]
    return [
        note(
            Note(x.high, y.value(1 - at / height), one.label, dx=END_GAP, strong=True),
            x,
            y,
            across,
            up,
        )
        for one, at in zip(named, placed, strict=True)
    ]


def _colour(one: Series) -> str:
    return palette.SERIES[one.style % len(palette.SERIES)]


def _inside(scale: Scale, value: float) -> float:
    """A bound of a spread, kept inside the axis (a logarithm knows no zero)."""
    return min(max(value, scale.low), scale.high)


def padded(scale: Scale, low: float = 0.0, high: float = 0.0) -> Scale:
    """The same axis with more room at its ends, in shares of its length."""
    return replace(scale, low=scale.value(-low), high=scale.value(1 + high))


def spread_point(row: Row, x: str, y: str) -> Point:
    """A point with the spread that the row states: one standard deviation to either side."""
    value, std = number(row, y), optional(row, "std")
    if std is None:
        return Point(number(row, x), value)
    return Point(number(row, x), value, value - std, value + std)
