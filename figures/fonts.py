"""How wide is a word in a figure, and in which font is it drawn?

In: the unmodified woff2 files of Source Sans 3 that `web/` installs. Out: TTF copies under
`build/cache/`, registered with vl-convert under a family name that its text measuring can read
(a name whose last word is a digit is not a CSS identifier, and every width would be a guess), and
the width of a text in pixels.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Literal

import vl_convert
from fontTools import ttLib  # pyright: ignore[reportMissingTypeStubs]

from engine import paths
from figures import FigureError
from figures.palette import FONT_SIZE

Weight = Literal[400, 600]

TTFont: Any = ttLib.TTFont  # untyped: what comes from it is named with its type

FAMILY = "Source Sans"
SIZE = FONT_SIZE
STYLES: dict[Weight, str] = {400: "Regular", 600: "SemiBold"}
FOLDER = paths.WEB / "node_modules" / "@fontsource" / "source-sans-3" / "files"

SPACE_OF_A_TOKEN = "␣"  # web/css/space.css draws it

_TYPOGRAPHIC = (1, 2, 3, 4, 6, 16, 17, 21, 22)  # name records that say family and style


def source(weight: Weight) -> Path:
    """The web's own file of one weight."""
    return FOLDER / f"source-sans-3-latin-{weight}-normal.woff2"


@cache
def register() -> Path:
    """Make the fonts known to vl-convert, once per process; returns the folder of the copies."""
    folder = _converted()
    vl_convert.register_font_directory(str(folder))
    return folder


@cache
def characters() -> frozenset[str]:
    """The characters that both weights can draw, and the one for which the page has a glyph."""
    regular, strong = _cmap(400), _cmap(600)
    return frozenset(chr(code) for code in regular if code in strong) | {SPACE_OF_A_TOKEN}


def text_width(text: str, weight: Weight = 400, size: float = SIZE) -> float:
    """Pixels that one line of text takes (without kerning, which only narrows it)."""
    glyphs, advances, units = _metrics(weight)
    return sum(advances[glyphs.get(ord(c), ".notdef")][0] for c in text) * size / units


def wrap(text: str, limit: float, weight: Weight = 400, size: float = SIZE) -> str:
    """`text` broken at spaces so that no line is wider than `limit` pixels, where words allow it.
    Lines are as few as the limit permits and as even as their words let them be."""
    words = text.split(" ")
    lines = _broken(words, limit, weight, size)
    most = len(lines)
    widest = limit
    while widest > 0:  # the narrowest limit with the same number of lines evens them out
        tighter = _broken(words, widest - 4, weight, size)
        if len(tighter) > most or max(text_width(x, weight, size) for x in tighter) > widest:
            break
        lines, widest = tighter, widest - 4
    return "\n".join(lines)


def _broken(words: list[str], limit: float, weight: Weight, size: float) -> list[str]:
    lines = [words[0]]
    for word in words[1:]:
        longer = f"{lines[-1]} {word}"
        if text_width(longer, weight, size) <= limit:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _converted() -> Path:
    originals: dict[Weight, Path] = {weight: source(weight) for weight in STYLES}
    for path in originals.values():
        if not path.is_file():
            shown = path.relative_to(paths.ROOT) if path.is_relative_to(paths.ROOT) else path
            raise FigureError(f"the font {shown} is not there: run `npm ci --prefix web` or `make`")
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in originals.values()))
    target = paths.ROOT / "build" / "cache" / f"fonts-{digest.hexdigest()[:12]}"
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(dir=target.parent, prefix=".fonts-"))
    try:
        for weight, path in originals.items():
            _convert(path, part / f"source-sans-{weight}.ttf", weight)
        os.replace(part, target)
    except OSError:
        shutil.rmtree(part, ignore_errors=True)
        if not target.is_dir():  # otherwise another process was faster
            raise
    return target


def _convert(original: Path, copy: Path, weight: Weight) -> None:
    font = TTFont(original)
    font.flavor = None
    names = font["name"]
    for record in list(names.names):
        if record.nameID in _TYPOGRAPHIC:
            names.removeNames(nameID=record.nameID)
    style = STYLES[weight]
    plain = weight == 400
    values = {1: FAMILY if plain else f"{FAMILY} {style}", 2: "Regular", 4: f"{FAMILY} {style}"}
    values[6] = f"{FAMILY.replace(' ', '')}-{style}"
    if not plain:
        values |= {16: FAMILY, 17: style}
    for identifier, value in values.items():
        names.setName(value, identifier, 3, 1, 0x409)
    font["OS/2"].usWeightClass = weight
    font.save(copy)


@cache
def _metrics(weight: Weight) -> tuple[dict[int, str], dict[str, tuple[int, int]], int]:
    font = TTFont(register() / f"source-sans-{weight}.ttf")
    return _cmap(weight), dict(font["hmtx"].metrics), int(font["head"].unitsPerEm)


@cache
def _cmap(weight: Weight) -> dict[int, str]:
    font = TTFont(register() / f"source-sans-{weight}.ttf")
    return dict(font["cmap"].getBestCmap())
