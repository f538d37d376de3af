"""What do all figures share: size, type, lines, and the way from a chart to a page?

In: an Altair chart as a figure's `draw` returns it. Out: the SVG fragment that the page inlines,
exactly as wide as its place, so that text has one size in all figures.
"""

from __future__ import annotations

from typing import Any, Literal

import vl_convert

from figures import FigureError, Language, Width, fonts, palette, svg

TOTAL: dict[Width, int] = {"wide": 620, "narrow": 354}
"""Pixels: the text column of the book, and that of a phone 390 pixels wide."""

LOCALES: dict[Language, Literal["pt-BR", "en-US"]] = {"pt": "pt-BR", "en": "en-US"}
LINE_HEIGHT = 16.5
DASHES: tuple[tuple[int, int], ...] = ((1, 0), (8, 4), (3, 3), (12, 3), (2, 6))
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down")
REFERENCE: dict[str, Any] = {"color": palette.INK, "strokeWidth": 2, "strokeDash": [2, 4]}
"""What a figure compares with: dots in the ink of the text, unlike any line of the grid."""
BAND = 0.16

UNSTRETCHED = {"stretch": False}
"""The usermeta of a chart that keeps its own width (squares stay squares)."""

_TRIES = 10


def config() -> dict[str, Any]:
    """The Vega-Lite configuration of every figure."""
    family, size = fonts.FAMILY, fonts.SIZE
    return {
        "font": family,
        "background": "transparent",
        "padding": {"left": 1, "right": 1, "top": 3, "bottom": 2},
        "view": {"stroke": None},
        "customFormatTypes": False,
        "axis": {
            "labelFont": family,
            "titleFont": family,
            "labelFontSize": size,
            "titleFontSize": size,
            "titleFontWeight": 400,
            "labelColor": palette.INK_2,
            "titleColor": palette.INK_2,
            "domainColor": palette.INK_2,
            "domainWidth": 1,
            "tickColor": palette.INK_2,
            "tickSize": 4,
            "grid": False,
            "gridColor": palette.RULE,
            "labelPadding": 6,
            "titlePadding": 8,
            "labelLimit": 0,
            "titleLimit": 0,
            "labelOverlap": False,
            "labelBound": False,
            "labelFlush": False,
            "zindex": 0,
        },
        "axisY": {
            "grid": True,
            "gridWidth": 1,
            "domain": False,
            "ticks": False,
            "titleAngle": 0,
            "titleAlign": "left",
            "titleAnchor": "start",
            "titleBaseline": "bottom",
            "titleX": 0,
            "titleY": -12,
        },
        "line": {"strokeWidth": 2.25, "strokeCap": "butt", "strokeJoin": "round"},
        "point": {"size": 46, "filled": True, "opacity": 1},
        "area": {"opacity": BAND},
        "text": {"font": family, "fontSize": size, "color": palette.INK, "limit": 0},
        "header": {
            "labelFont": family,
            "labelFontSize": size,
            "labelColor": palette.INK,
            "titleFont": family,
            "titleFontSize": size,
            "titleFontWeight": 400,
            "titleColor": palette.INK_2,
            "labelLimit": 0,
        },
        "title": {
            "font": family,
            "fontSize": size,
            "fontWeight": 600,
            "color": palette.INK,
            "anchor": "start",
            "limit": 0,
            "offset": 8,
        },
        "legend": {"disable": True},
        "range": {"category": list(palette.SERIES), "ramp": list(palette.SEQUENTIAL)},
    }


def render(chart: Any, prefix: str, width: Width, language: Language) -> str:
    """The page's SVG of a chart. Its plots are stretched until the whole, labels included, is as
    wide as its place; a plot that would have to shrink to nothing is an error."""
    fonts.register()
    spec: dict[str, Any] = chart.to_dict()
    spec["config"] = config()
    if spec.get("usermeta") == UNSTRETCHED:
        drawn = _drawn(spec, language)
    else:
        drawn = _fit(spec, TOTAL[width], language)
    try:
        return svg.finish(drawn, prefix, TOTAL[width])
    except svg.SvgError as error:
        raise FigureError(f"{prefix}: {error}") from None


def _fit(spec: dict[str, Any], total: int, language: Language) -> str:
    """The drawing of `spec` with its plots stretched or narrowed to `total` pixels. A label that
    hangs on a mark moves with it, so the whole does not grow pixel by pixel with its plots: each
    step learns from the one before."""
    drawn = _drawn(spec, language)
    missing, gain = total - svg.size(drawn)[0], 1.0
    for _ in range(_TRIES):
        step = missing / gain
        if 0 <= missing < 1 or not _widen(spec, step):
            break
        before = missing
        drawn = _drawn(spec, language)
        missing = total - svg.size(drawn)[0]
        gain = min(max((before - missing) / step, 0.2), 2.0)
    if missing < 0 and _widen(spec, 3 * missing):  # sizes are whole pixels: rather give some up
        drawn = _drawn(spec, language)
    return drawn


def _drawn(spec: dict[str, Any], language: Language) -> str:
    locale = LOCALES[language]
    return vl_convert.vegalite_to_svg(
        spec, format_locale=locale, time_format_locale=locale, allowed_base_urls=[]
    )


def _widen(spec: dict[str, Any], missing: float) -> bool:
    """Share the missing pixels among the plots that stand side by side; False if there are none."""
    if "hconcat" in spec:
        parts = [part for part in spec["hconcat"] if "width" in part]
        return bool(parts) and all([_widen(part, missing / len(parts)) for part in parts])
    if "vconcat" in spec:
        return all([_widen(part, missing) for part in spec["vconcat"]])
    if "spec" in spec and isinstance(spec.get("columns"), int):
        return _widen(spec["spec"], missing / spec["columns"])
    if not isinstance(spec.get("width"), int | float):
        return False
    spec["width"] = spec["width"] + missing
    if spec["width"] < 40:
        raise FigureError(f"labels leave a plot {spec['width']:.0f} px: shorten or wrap them")
    return True
