"""How does a number travel from a template to every place of the finished page?

A template cannot know where its output will stand: in a sentence, in an alt text, in the title of
the window, inside mathematics. So it writes a *mark*, a few private-use characters that Markdown
and attributes leave alone, and what the mark stands for is put in its place once the HTML is
finished, in the form that the place admits.

In: text with marks, and what each of them stands for. Out: the text without marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Protocol

OPEN, CLOSE = "\ue000", "\ue001"
NUMBER = "\ue002"  # a value
APART = "\ue003"  # a value whose spread stands apart from it, as in the cells of a table
RAW = "\ue004"  # finished HTML that Markdown must not see, such as a chart
LABEL = "\ue005"  # text that is known only when all pages are: the number of a table, a title
RING = "\ue006"  # the step of an equation to which a line of code belongs: the step, no entry

ENTRIES = NUMBER + APART + RAW + LABEL  # those that stand for an entry of the register

# Digits that no search for digits sees.
_HIDE = {ord(digit): chr(0xE010 + i) for i, digit in enumerate("0123456789")}
_SHOW = {chr(0xE010 + i): digit for i, digit in enumerate("0123456789")}
_MARK = re.compile(f"{OPEN}([{ENTRIES}{RING}])([\ue010-\ue019]+){CLOSE}")
_TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z!](?:[^<>\"']|\"[^\"]*\"|'[^']*')*>", re.DOTALL)
_NAME = re.compile(r"</?([a-zA-Z][a-zA-Z0-9]*)")
_FORMULA = re.compile(r"<(span|div)\b[^>]*\bclass=[\"'][^\"']*\barithmatex\b")

# Where one more thing to click on would be a trap.
_CLICKABLE = frozenset({"a", "button", "label", "option"})
# An element of HTML inside a drawing would end the drawing there.
_LITERAL = frozenset({"script", "style", "svg", "textarea", "title"})


class Shown(Protocol):
    """What a mark stands for."""

    @property
    def key(self) -> str | None:
        """Its name among the details of the page; None if there are none."""
        ...

    def plain(self) -> str:
        """For attributes, titles and search: no markup, nothing escaped."""
        ...

    def html(self, apart: bool) -> str:
        """For the text of the page."""
        ...

    def tex(self) -> str:
        """For mathematics."""
        ...


def mark(kind: str, index: int) -> str:
    """The characters that stand for entry `index` of the register."""
    return f"{OPEN}{kind}{str(index).translate(_HIDE)}{CLOSE}"


def found(text: str, kinds: str = NUMBER + APART) -> list[int]:
    """The entries of the register that the marks in `text` stand for, in their order."""
    return [_index(m) for m in _MARK.finditer(text) if m[1] in kinds]


def replace(text: str, kinds: str, by: Callable[[int], str]) -> str:
    """`text` with each mark of these kinds replaced by what `by` makes of its entry."""
    if OPEN not in text:
        return text
    return _MARK.sub(lambda m: by(_index(m)) if m[1] in kinds else m[0], text)


def turn(text: str, kind: str, into: str) -> str:
    """`text` with its marks of one kind made marks of another."""
    return _MARK.sub(lambda m: f"{OPEN}{into}{m[2]}{CLOSE}" if m[1] == kind else m[0], text)


def plain(text: str, shown: Sequence[Shown]) -> str:
    """`text` with its marks as plain text; nothing is escaped."""
    return replace(text, ENTRIES, lambda index: shown[index].plain())


def resolve(html: str, shown: Sequence[Shown]) -> str:
    """Finished HTML with every mark in the form that its place admits."""
    if OPEN not in html:
        return html
    out: list[str] = []
    position, clickable, literal = 0, 0, ""
    formula_at, formula_tag, formula_keys = -1, "", list[str]()

    def text(piece: str) -> str:
        if OPEN not in piece:
            return piece
        if literal or clickable:
            return _MARK.sub(lambda m: escape(shown[_index(m)].plain()), piece)
        if formula_at >= 0:
            return _MARK.sub(lambda m: _in_formula(shown[_index(m)], formula_keys), piece)
        return _MARK.sub(lambda m: shown[_index(m)].html(m[1] == APART), piece)

    for tag in _TAG.finditer(html):
        out.append(text(html[position : tag.start()]))
        position = tag.end()
        piece = tag[0]
        name_match = _NAME.match(piece)
        name = name_match[1].lower() if name_match else ""
        closing = piece.startswith("</")
        if literal:
            literal = "" if closing and name == literal else literal
        elif name in _LITERAL and not closing:
            literal = name
        elif name in _CLICKABLE:
            clickable = max(0, clickable + (-1 if closing else 1))
        if OPEN in piece:
            piece = _MARK.sub(lambda m: escape(shown[_index(m)].plain()), piece)
        if formula_at < 0 and _FORMULA.match(piece):
            formula_at, formula_tag, formula_keys = len(out), name, []
        elif formula_at >= 0 and closing and name == formula_tag:
            if formula_keys:
                out[formula_at] = _with_numbers(out[formula_at], formula_keys)
            formula_at = -1
        out.append(piece)
    out.append(text(html[position:]))
    return "".join(out)


def _index(match: re.Match[str]) -> int:
    return int("".join(_SHOW[digit] for digit in match[2]))


def _in_formula(shown: Shown, keys: list[str]) -> str:
    tex = escape(shown.tex(), quote=False)
    if shown.key is None:
        return tex
    if shown.key not in keys:
        keys.append(shown.key)
    return rf"\htmlData{{n={shown.key}}}{{{tex}}}"


def _with_numbers(tag: str, keys: list[str]) -> str:
    """The opening tag of a formula, which takes the focus for the numbers inside it: what KaTeX
    draws is hidden from a screen reader, and its MathML cannot be pointed at."""
    return f'{tag[:-1]} tabindex="0" data-numbers="{" ".join(keys)}">'
