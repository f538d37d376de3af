"""What a reader sees of a drawing: its texts, and where each lies in the view box."""

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass

from figures import fonts

SVG = "{http://www.w3.org/2000/svg}"
_STEP = re.compile(r"(translate|rotate|scale)\(([^)]*)\)")
Matrix = tuple[float, float, float, float, float, float]  # a b c d e f, as in SVG


@dataclass(frozen=True)
class Word:
    """One line of text and its box."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    slanted: bool = False  # then the box holds much that the text does not

    def overlap(self, other: "Word") -> float:
        """The area that two texts share, in square pixels. Slanted ones run beside one another,
        and are compared by their starts."""
        if self.slanted and other.slanted:
            near = math.dist((self.left, self.bottom), (other.left, other.bottom))
            return 0.0 if near > fonts.SIZE else 100.0
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(across, 0) * max(down, 0)


def words(svg: str) -> list[Word]:
    """Every line of text of a drawing, with its box in the coordinates of the view box."""
    return list(_walk(ET.fromstring(svg), (1, 0, 0, 1, 0, 0)))


def view_box(svg: str) -> tuple[float, float, float, float]:
    x, y, width, height = (float(part) for part in ET.fromstring(svg).attrib["viewBox"].split())
    return x, y, width, height


def _walk(node: ET.Element, outer: Matrix) -> Iterator[Word]:
    matrix = _times(outer, _matrix(node.attrib.get("transform", "")))
    if node.tag == f"{SVG}text":
        yield from _lines(node, matrix)
        return
    for child in node:
        yield from _walk(child, matrix)


def _lines(node: ET.Element, matrix: Matrix) -> Iterator[Word]:
    size = float(node.attrib.get("font-size", f"{fonts.SIZE}px").removesuffix("px"))
    weight = 600 if node.attrib.get("font-weight") == "600" else 400
    lines: list[tuple[str, float, float]] = []  # text, width, height below the first line
    if node.text:
        lines.append((node.text, fonts.text_width(node.text, weight, size), 0.0))
    at = 0.0
    for span in node:
        share = float(span.attrib.get("font-size", "100%").removesuffix("%")) / 100
        width = fonts.text_width(span.text or "", weight, size * share)
        if "x" in span.attrib or not lines:  # a line of its own
            at += float(span.attrib.get("dy", 0))
            lines.append((span.text or "", width, at))
        else:  # a raised exponent, or what follows one
            text, before, dy = lines[-1]
            lines[-1] = (text + (span.text or ""), before + width, dy)
    anchor = node.attrib.get("text-anchor", "start")
    for text, width, dy in lines:
        if not text:
            continue
        left = {"start": 0.0, "middle": -width / 2, "end": -width}[anchor]
        corners = [
            _point(matrix, x, y)
            for x in (left, left + width)
            for y in (dy - 0.7 * size, dy + 0.16 * size)
        ]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        slanted = abs(matrix[0] * matrix[1]) > 1e-6
        yield Word(text, min(xs), min(ys), max(xs), max(ys), slanted)


def _matrix(text: str) -> Matrix:
    matrix: Matrix = (1, 0, 0, 1, 0, 0)
    for kind, numbers in _STEP.findall(text):
        values = [float(number) for number in re.split(r"[ ,]+", numbers.strip())]
        if kind == "translate":
            step: Matrix = (1, 0, 0, 1, values[0], values[1] if len(values) > 1 else 0)
        elif kind == "rotate":
            angle = math.radians(values[0])
            sine, cosine = math.sin(angle), math.cos(angle)
            step = (cosine, sine, -sine, cosine, 0, 0)
        else:
            step = (values[0], 0, 0, values[-1], 0, 0)
        matrix = _times(matrix, step)
    return matrix


def _times(m: Matrix, n: Matrix) -> Matrix:
    return (
        m[0] * n[0] + m[2] * n[1],
        m[1] * n[0] + m[3] * n[1],
        m[0] * n[2] + m[2] * n[3],
        m[1] * n[2] + m[3] * n[3],
        m[0] * n[4] + m[2] * n[5] + m[4],
        m[1] * n[4] + m[3] * n[5] + m[5],
    )


def _point(m: Matrix, x: float, y: float) -> tuple[float, float]:
    return m[0] * x + m[2] * y + m[4], m[1] * x + m[3] * y + m[5]
