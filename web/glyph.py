"""How is the space drawn that a token carries (U+2423, missing from the text faces)?

Prints css/space.css: one face with one glyph, drawn here. Run again only to change the drawing:
python web/glyph.py > web/css/space.css
"""

import base64
import io

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

UPM, WIDTH, LINE = 1000, 600, 70
LEFT, RIGHT, BOTTOM, TOP = 70, 530, -140, 90


def glyph() -> object:
    pen = TTGlyphPen(None)
    outline = [
        (LEFT, TOP),
        (LEFT + LINE, TOP),
        (LEFT + LINE, BOTTOM + LINE),
        (RIGHT - LINE, BOTTOM + LINE),
        (RIGHT - LINE, TOP),
        (RIGHT, TOP),
        (RIGHT, BOTTOM),
        (LEFT, BOTTOM),
    ]
    pen.moveTo(outline[0])
    for point in outline[1:]:
        pen.lineTo(point)
    pen.closePath()
    return pen.glyph()


def font() -> bytes:
    empty = TTGlyphPen(None).glyph()
    builder = FontBuilder(UPM, isTTF=True)
    builder.setupGlyphOrder([".notdef", "uni2423"])
    builder.setupCharacterMap({0x2423: "uni2423"})
    builder.setupGlyf({".notdef": empty, "uni2423": glyph()})
    builder.setupHorizontalMetrics({".notdef": (WIDTH, 0), "uni2423": (WIDTH, LEFT)})
    builder.setupHorizontalHeader(ascent=900, descent=-250)
    builder.setupNameTable({"familyName": "Visible Space", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=900, sTypoDescender=-250, usWinAscent=900, usWinDescent=250)
    builder.setupPost()
    builder.font["head"].created = builder.font["head"].modified = 0
    builder.font.recalcTimestamp = False
    builder.font.flavor = "woff2"
    out = io.BytesIO()
    builder.save(out)
    return out.getvalue()


if __name__ == "__main__":
    data = base64.b64encode(font()).decode()
    print("/* Written by glyph.py: U+2423, the space that a token carries. */")
    print("@font-face {")
    print('  font-family: "Visible Space";')
    print("  unicode-range: U+2423;")
    print(f'  src: url(data:font/woff2;base64,{data}) format("woff2");')
    print("}")
