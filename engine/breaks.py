"""Where may a line end inside a name, an option or an address?

In: the finished HTML of a page, or an address. Out: the same text with places to break after the
signs that part a name, and without any at the hyphen of an option or of "GPT-2". Nothing is added
that would be copied or searched.
"""

from __future__ import annotations

import re
from html import escape

SHORT = 12  # characters: such a name is not broken at all
LONGEST = 28  # characters with a hyphen that are kept on one line
PLACE = "<wbr>"
_TAG = re.compile(r"<!--.*?-->|<(/?)([a-zA-Z][\w-]*)(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>", re.DOTALL)
_UNTOUCHED = frozenset({"pre", "script", "style", "svg", "math", "template", "textarea", "title"})
_NAME = re.compile(r"\b[A-Z]\w*-\d\w*\b")
_PART = re.compile(r"(?<=[/_=])(?=\w)|(?<=\.)(?=[^\W\d]\w{4})")  # ".py" stays with its file
_AT = re.compile(r"(?<=[/_=?-])(?=\w)|(?<=\.)(?=[^\W\d])|(?=&amp;)")


def page(html: str) -> str:
    """The HTML of a page: inline code breaks after `.`, `/`, `_` and `=`, names not at all."""
    out: list[str] = []
    position = code = untouched = 0
    for tag in _TAG.finditer(html):
        text = html[position : tag.start()]
        out.append(text if untouched else _code(text) if code else _names(text))
        out.append(tag[0])
        position = tag.end()
        step = -1 if tag[1] else 1
        name = (tag[2] or "").lower()
        if name in _UNTOUCHED:
            untouched = max(0, untouched + step)
        elif name == "code":
            code = max(0, code + step)
    out.append(_names(html[position:]))
    return "".join(out)


def address(text: str) -> str:
    """An address as HTML that breaks where its parts meet."""
    return _AT.sub(PLACE, escape(text))


def _names(text: str) -> str:
    return _NAME.sub(lambda m: _kept(m[0]), text)


def _code(text: str) -> str:
    return "".join(map(_word, re.split(r"(\s+)", text)))


def _word(word: str) -> str:
    parts = [word] if len(word) <= SHORT else _PART.split(word)
    return PLACE.join(_kept(p) if "-" in p and len(p) <= LONGEST else p for p in parts)


def _kept(text: str) -> str:
    return f'<span class="one-line">{text}</span>'
