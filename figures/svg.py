"""How does one drawn chart serve a light and a dark page, beside other charts, in any width?

Input: the SVG text that vl-convert wrote, and the name under which it will stand in the page.
Output: the same picture as a fragment to inline: colours are `var(--token,#hex)`, no width or
height (the page decides), one font family at the root, no accessibility roles of the single
marks (the page's alternative text speaks for the whole), no classes, identifiers unique to it.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from figures.palette import BY_HEX, FONT_SIZE, FONT_STACK

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789−+", strict=True))
RAISED = "".join(SUPERSCRIPTS)

_DROPPED = ("class", "role", "font-family", "pointer-events", "id")
_COLOURED = ("fill", "stroke", "stop-color")
_PLAIN_COLOURS = ("none", "transparent")
_DEFAULTS = {"opacity": "1", "font-weight": "400", "font-size": f"{FONT_SIZE:g}px"}
_GEOMETRY = ("d", "transform", "x", "x2", "y", "y2", "width", "height", "dy", "dx")
_LONG = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


class SvgError(ValueError):
    """The drawing holds something that may not stand in a page: one line says what."""


def finish(svg: str, prefix: str, width: float | None = None) -> str:
    """The page's version of `svg`. `prefix` starts every identifier; `width`, where given, is
    the width in pixels of the view box: a narrower drawing gets room at its right, so that text
    has one size in all figures of a page."""
    root = ET.fromstring(svg)
    used = {name for node in root.iter() for name in _references(node)}
    for node in root.iter():
        _clean(node, prefix, used)
    _remove_empty(root)
    for node in list(root.iter(f"{{{SVG}}}text")):
        _raise_superscripts(node)
    _resize(root, width)
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    return ET.tostring(root, encoding="unicode") + "\n"


def size(svg: str) -> tuple[float, float]:
    """Width and height in pixels of the view box."""
    numbers = [float(part) for part in ET.fromstring(svg).attrib["viewBox"].split()]
    return numbers[2], numbers[3]


def colour(value: str) -> str:
    """`#0B5F6B` becomes `var(--c1,#0B5F6B)`; a colour outside the palette is an error."""
    if value in _PLAIN_COLOURS or value.startswith(("url(", "var(")):
        return value
    token = BY_HEX.get(value.upper())
    if token is None:
        raise SvgError(f"the colour {value} is not in the palette (figures/palette.py)")
    return f"var(--{token.name},{token.light})"


def _short(match: re.Match[str]) -> str:
    return f"{float(match[0]):.2f}".rstrip("0").rstrip(".")


def _references(node: ET.Element) -> list[str]:
    return [name for value in node.attrib.values() for name in _REFERENCE.findall(value)]


def _clean(node: ET.Element, prefix: str, used: set[str]) -> None:
    identifier = node.attrib.get("id")
    for name in list(node.attrib):
        if name in _DROPPED or name.startswith("aria-"):
            del node.attrib[name]
    if identifier in used:
        node.attrib["id"] = f"{prefix}-{identifier}"
    for name, value in node.attrib.items():
        if name in _COLOURED:
            node.attrib[name] = colour(value)
        if "url(" in value:
            node.attrib[name] = _REFERENCE.sub(rf"url(#{prefix}-\1)", value)
    for name, value in _DEFAULTS.items():
        if node.attrib.get(name) == value:
            del node.attrib[name]
    for name in _GEOMETRY:
        if name in node.attrib:  # a hundredth of a pixel is more than enough
            node.attrib[name] = _LONG.sub(_short, node.attrib[name])
    if f"{{{XLINK}}}href" in node.attrib or "href" in node.attrib:
        raise SvgError("a figure may not point outside itself (href)")


def _remove_empty(node: ET.Element) -> None:
    """Groups and paths that draw nothing: Vega writes many, a page should not carry them."""
    for child in list(node):
        _remove_empty(child)
        tag = child.tag.removeprefix(f"{{{SVG}}}")
        hidden = child.attrib.get("display") == "none" or child.attrib.get("opacity") == "0"
        unpainted = tag == "path" and not {"fill", "stroke"} & set(child.attrib)
        blank = tag == "path" and child.attrib.get("d", "") in ("", "M0,0h0v0h0Z")
        if hidden or blank or (tag == "g" and len(child) == 0) or (unpainted and _is_box(child)):
            node.remove(child)


def _is_box(path: ET.Element) -> bool:
    return re.fullmatch(r"M[-\d.]+,[-\d.]+h[-\d.]+v[-\d.]+h[-\d.]+Z", path.attrib["d"]) is not None


def _raise_superscripts(text: ET.Element) -> None:
    """Source Sans 3 has no superscript digits: raise plain ones."""
    content = text.text or ""
    if len(text) or not any(character in SUPERSCRIPTS for character in content):
        return
    parts = re.split(f"([{RAISED}]+)", content)
    text.text = parts[0]
    lowered = False
    for index, part in enumerate(parts[1:], start=1):
        if not part:
            continue
        raised = index % 2 == 1
        span = ET.SubElement(text, f"{{{SVG}}}tspan")
        if raised:
            span.attrib.update({"dy": "-0.45em", "font-size": "75%"})
            span.text = "".join(SUPERSCRIPTS[character] for character in part)
        else:
            span.text = part
            if lowered:
                span.attrib["dy"] = "0.34em"
        lowered = raised


def _resize(root: ET.Element, width: float | None) -> None:
    x, y, drawn, height = (float(part) for part in root.attrib["viewBox"].split())
    whole = drawn if width is None else width
    if drawn > whole + 0.5:
        raise SvgError(f"the drawing is {drawn:g} px wide, more than the {whole:g} px of its place")
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib["viewBox"] = f"{x:g} {y:g} {whole:g} {height:g}"
    root.attrib["font-family"] = FONT_STACK
    root.attrib["font-size"] = _DEFAULTS["font-size"]
