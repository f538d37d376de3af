"""Which numbers in a text were typed by hand?

In: a piece of a chapter's prose (a template with its expressions, or plain text) and its language.
Out: every digit, and every number word that states a measured quantity ("quatro vezes", "two
thirds", "sete em dez", a number with a unit), with its line. Whatever the template prints is bound
and is not looked at; the rest is exempt by grammar, each case a pattern below:

* code, if every number in it is a small integer, part of a name or found in a source file;
* mathematics: indices, exponents, small integers that belong to a formula;
* names (GPT-2, Llama 3, float16, H200), identifiers (DOI, arXiv, addresses);
* a citation whose author and year the bibliography has; the number of an existing chapter;
* markers of lists, anchors, attributes, footnotes;
* counting words without a unit ("duas línguas", "two reasons").

Masked text keeps its length and its lines, so that a position in it is a position in the file.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from engine.number_words import BOUND, UNIT_SIGNS, Language, stated

Kind = Literal["number", "words", "mathematics", "code"]

# What a masked stretch is filled with: something that is neither space, nor letter, nor digit.
CODE, FORMULA = "\uf8f1", "\uf8f2"  # and BOUND, where the template prints
_FILLED = re.compile(f"[{BOUND}{CODE}{FORMULA}]+")

SMALLEST_STATED = 2  # in mathematics, "= 1" and "= 0" belong to formulas, "= 64" states a value
LARGEST_COEFFICIENT = 20
LARGEST_WITH_VARIABLE = 99  # 24d, where the variable says what the coefficient belongs to
LARGEST_IN_CODE = 20
EXCERPT = 24  # characters of context on each side


@dataclass(frozen=True)
class Typed:
    """A number that was typed by hand."""

    line: int
    kind: Kind
    text: str
    context: str


@dataclass(frozen=True)
class Known:
    """What a typed number may be checked against."""

    citations: frozenset[tuple[str, str]] = frozenset()  # (surname in lower case, year)
    chapters: frozenset[int] = frozenset()
    in_source: Callable[[str], bool] = field(default=lambda _: False)


def find(text: str, language: Language, known: Known | None = None, line: int = 1) -> list[Typed]:
    """The hand-typed numbers of `text`, whose first line is `line` of its file."""
    known = known or Known()
    prose = Prose.of(text)
    found = [*_numbers(prose, language, known), *_words(prose, language)]
    for at, code in prose.code:
        found += _in_code(code, prose, at, known)
    for at, tex in prose.formulas:
        found += _in_formula(tex, prose, at, language)
    found = [Typed(one.line + line - 1, one.kind, one.text, one.context) for one in found]
    return sorted(set(found), key=lambda one: (one.line, one.context))


def find_in_formula(tex: str, language: Language, line: int = 1) -> list[Typed]:
    """The hand-typed values of a formula that stands outside a text."""
    prose = Prose(tex, [], [], tex)
    return [
        Typed(one.line + line - 1, one.kind, one.text, one.context)
        for one in _in_formula(tex, prose, 0, language)
    ]


# ---------------------------------------------------------------------------- masking

_STRING = r'"(?:\\.|[^"\\])*"' + r"|'(?:\\.|[^'\\])*'"
TEMPLATE = re.compile(
    rf"<\#.*?\#>|(?P<prints><<(?:{_STRING}|(?!>>)[^\"'])*>>)|<%(?:{_STRING}|(?!%>)[^\"'])*%>",
    re.DOTALL | re.VERBOSE,
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
FENCE = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>[^\n`]*)\n(?P<code>.*?)^[ \t]*(?P=fence)[`~]*[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
_CODE_COMMENT = re.compile(r"(?:(?<=\s)|^)(?:#|//)[ \t]+([^\n]+)", re.MULTILINE)
_INLINE_CODE = re.compile(r"(?<![\\`])(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_MATH = re.compile(
    r"\$\$(?P<display>.+?)\$\$|\\\[(?P<bracket>.+?)\\\]|\\\((?P<paren>.+?)\\\)"
    r"|(?<![\\$])\$(?![\s$])(?P<inline>[^$]*?[^\s\\$])\$(?!\$)",
    re.DOTALL,
)
_SHOWN_ATTRIBUTE = re.compile(
    r"""\b(?:alt|title|aria-label|placeholder|summary|content)\s*=\s*(?:"([^"]*)"|'([^']*)')"""
)
_ATTRIBUTES = re.compile(
    r"\{:?[ \t]*(?:[#.][\w-]+|[\w-]+=(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s}]+))"
    r"(?:[ \t]+(?:[#.][\w-]+|[\w-]+=(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s}]+)))*[ \t]*\}"
)
_INDEX_TAG = re.compile(r"(?<=[\w)\]*′])<(su[bp])>[^<>]*</\1>")
_TAG = re.compile(r"</?[a-zA-Z!](?:[^<>\"']|\"[^\"]*\"|'[^']*')*>", re.DOTALL)
_LINK = re.compile(
    r"\]\(\s*<?(?P<to>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"
)
_REFERENCE = re.compile(r"^[ \t]*\[[^\]\n^]+\]:[ \t]*\S+|(?<=\])\[[^\]\n]*\]", re.MULTILINE)
_FOOTNOTE = re.compile(r"\[\^[\w-]+\]:?")
_ABBREVIATION = re.compile(r"^\*\[[^\]\n]+\]:", re.MULTILINE)
_LIST_MARKER = re.compile(r"^([ \t>]*)(\d{1,2})[.)](?=[ \t])", re.MULTILINE)
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|[a-zA-Z]\w*);")
_IDENTIFIERS = (
    re.compile(r"https?://[^\s<>\"]+|\bwww\.[^\s<>\"]+"),
    re.compile(r"\b(?:doi:\s?)?10\.\d{4,9}/[^\s<>\",;]+", re.IGNORECASE),
    re.compile(r"\barXiv:\s?(?:\d{4}\.\d{4,5}|[a-z-]+/\d{7})(?:v\d+)?", re.IGNORECASE),
    re.compile(r"\bISBN(?:-1[03])?:?\s?[\d-]{9,17}[\dX]?"),
    re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+"),
)


@dataclass
class Prose:
    """A text with everything but its sentences masked; code and formulas are kept apart."""

    text: str
    code: list[tuple[int, str]]
    formulas: list[tuple[int, str]]
    source: str

    @staticmethod
    def of(source: str) -> Prose:
        prose = Prose(source.replace("\u00a0", " "), [], [], source)
        prose._mask()
        return prose

    def line(self, position: int) -> int:
        return self.source.count("\n", 0, position) + 1

    def context(self, start: int, end: int) -> str:
        """The words around a position, as they stand in the source but for what was masked."""
        left = self.text.rfind("\n\n", 0, start) + 1
        piece = self.text[max(left, start - EXCERPT) : end + EXCERPT].split("\n\n")[0]
        return " ".join(_FILLED.sub("…", piece).split())

    def _sub(
        self,
        pattern: re.Pattern[str],
        fill: str,
        keep: Callable[[re.Match[str]], bool] | None = None,
    ) -> None:
        def by(match: re.Match[str]) -> str:
            return match[0] if keep and keep(match) else filled(match[0], fill)

        self.text = pattern.sub(by, self.text)

    def _mask(self) -> None:
        self.text = TEMPLATE.sub(lambda m: filled(m[0], BOUND if m["prints"] else " "), self.text)
        self._sub(_COMMENT, " ")
        for match in FENCE.finditer(self.text):
            code = _CODE_COMMENT.sub(lambda m: filled(m[0], " "), match["code"])
            self.code.append((match.start("code"), code))
        self.text = FENCE.sub(_but_comments, self.text)
        for match in _INLINE_CODE.finditer(self.text):
            self.code.append((match.start(2), match[2]))
        self._sub(_INLINE_CODE, CODE)
        for match in _MATH.finditer(self.text):
            name = match.lastgroup
            assert name is not None
            self.formulas.append((match.start(name), match[name]))
        self._sub(_MATH, FORMULA)
        self.text = _ATTRIBUTES.sub(lambda m: _but_shown(m[0], m[0], 0), self.text)
        self._sub(_INDEX_TAG, FORMULA)
        self.text = _TAG.sub(lambda m: _but_shown(m[0], m[0], 0), self.text)
        self.text = _LINK.sub(_but_title, self.text)
        for pattern in (_REFERENCE, _FOOTNOTE, _ABBREVIATION):
            self._sub(pattern, " ")
        self.text = _LIST_MARKER.sub(self._marker, self.text)
        self.text = _ENTITY.sub(_entity, self.text)
        for pattern in _IDENTIFIERS:
            self._sub(pattern, CODE)

    def _marker(self, match: re.Match[str]) -> str:
        """A list marker begins a paragraph or follows another item; "2017." in a line does not."""
        before = self.text[: match.start()].rstrip(" \t\n")
        gap = self.text[len(before) : match.start()]
        last = before.rsplit("\n", 1)[-1]
        item = re.match(r"[ \t>]*(?:\d{1,2}[.)]|[-*+])[ \t]", last)
        starts = not before or gap.count("\n") > 1 or item
        continues = re.match(r"[ \t]+\S", last) is not None
        return filled(match[0], " ") if starts or continues else match[0]


def filled(text: str, fill: str) -> str:
    """`text` with every character but its line ends replaced."""
    return re.sub(r"[^\n]", fill, text)


def _but_shown(inside: str, whole: str, offset: int) -> str:
    """`whole` blank, but for what a reader is shown of its attributes."""
    out = list(filled(whole, " "))
    for match in _SHOWN_ATTRIBUTE.finditer(inside):
        group = 1 if match[1] is not None else 2
        start = offset + match.start(group)
        out[start : start + len(match[group])] = match[group]
    return "".join(out)


def _but_comments(match: re.Match[str]) -> str:
    """Of typed code, what a reader takes as a sentence: its comments, and its title."""
    out = list(_but_shown(match["info"], match[0], match.start("info") - match.start()))
    for comment in _CODE_COMMENT.finditer(match["code"]):
        start = match.start("code") - match.start() + comment.start(1)
        out[start : start + len(comment[1])] = comment[1]
    return "".join(out)


def _but_title(match: re.Match[str]) -> str:
    """A link's destination is masked, its title is prose."""
    start, end = match.start("to") - match.start(), match.end("to") - match.start()
    return "] " + " " * (start - 2) + CODE * (end - start) + match[0][end:].replace('"', " ")


def _entity(match: re.Match[str]) -> str:
    """&nbsp; is a space; &#52; is the digit 4, however it is written."""
    character = html.unescape(match[0])
    shown = character if len(character) == 1 and _is_digit(character) else " "
    return shown + " " * (len(match[0]) - 1)


# ---------------------------------------------------------------------------- digits

_SUP = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
_SUB = "₀₁₂₃₄₅₆₇₈₉₊₋"
_VARIABLE = r"[b-df-hj-np-zB-DF-HJ-NP-ZΑ-Ωα-ω]"  # single letters that are not words
_FORMULA_IN_TEXT = (
    re.compile(rf"(?<=[\w)\]|′*_{BOUND}{FORMULA}])(?<![\d])[{_SUP}{_SUB}]+"),
    re.compile(rf"(?<![\w.,])\d{{1,2}}[ ]?(?=[*_]?[A-Za-z][*_]?[{_SUP}])"),
    re.compile(r"(?<![\w.,])\d{1,2}(?=[*_]?[dnij][*_]?(?!\w))"),
    re.compile(
        rf"(?<![\w.,])\d{{1,2}}(?:[/+−·×]|[ ][/+−·×][ ])(?=[*_]?(?:√|{_VARIABLE}[*_]?(?!\w)))"
    ),
    re.compile(rf"(?<!\w){_VARIABLE}[*_]?(?:[/+−-]|[ ][/+−][ ])\d{{1,2}}(?![\w%]|[.,]\d)"),
)
_PUNCTUATION = ".,;:!?()[]\"'“”‘’"
_EMPHASIS = re.compile(r"[*_~]")
_ENDS = r"(?![\w%]|[.,]\d)"  # a number ends here, and no unit is glued to it
_UNIT_AFTER_NUMBER = rf"(?:[%×±]|(?:{UNIT_SIGNS}|[xkMB]|s|min|h)\b)"
_NAME = r"[A-Z][A-Za-z]*(?:-[A-Za-z]+)*"
_NAMES = (
    re.compile(rf"(?<![\w.,-])(?P<name>{_NAME})-\d{{1,3}}(?:\.\d{{1,2}})?[a-z]?{_ENDS}"),
    re.compile(rf"(?<![\w.,-])[A-Z]{{2,}}-\d{{1,5}}(?:-\d{{1,2}})?{_ENDS}"),
    re.compile(
        rf"(?<![\w.,-])[A-Z]{{2,5}} (?!(?:19|20)\d\d)\d{{3,4}}{_ENDS}(?!\s*{_UNIT_AFTER_NUMBER})"
    ),
    re.compile(rf"(?<![\w.,])(?:[B-DF-HJ-NP-Z]\d{{1,3}}|A\d{{2,3}}){_ENDS}"),
    re.compile(r"(?<![\w.,])(?:b?float|u?int|fp|bf|tf|FP|BF|TF|INT)\d{1,2}(?!\w)"),
    re.compile(r"(?<!\w)(?:[Ss]eq|[Ww]ord|[Dd]oc|[Tt]ext)2(?:[Ss]eq|[Vv]ec|[Tt]ext)(?!\w)"),
)
_NAMED = re.compile(
    rf"(?<![\w-])(?P<name>{_NAME})[ \n]"
    r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,2})(?P<size>[ ]\d{1,3}B)?"
    rf"{_ENDS}(?![-–]\d|\s*{_UNIT_AFTER_NUMBER})(?:\s+(?P<next>[^\W\d_]+))?"
)
_CITED = re.compile(
    r"(?P<who>[A-ZÀ-Þ][\w'’-]+(?:(?:,|\s+(?:et\s+al\.?|e|and|&|[A-ZÀ-Þ][\w'’-]+)))*),?\s*"
    r"\(?(?P<year>(?:19|20)\d\d)[a-z]?(?!\w)"
)
_AND = r"(?P<number>\d{1,2})(?:(?:,|\s+(?:e|a|and|to))\s+(?P<other>\d{1,2}))?"
_NO_UNIT = rf"(?!\s*{_UNIT_AFTER_NUMBER})"
_CHAPTER = {
    "pt": re.compile(rf"\bcapítulos?\s+{_AND}{_ENDS}{_NO_UNIT}", re.IGNORECASE),
    "en": re.compile(rf"\bchapters?\s+{_AND}{_ENDS}{_NO_UNIT}", re.IGNORECASE),
}

# Words that may begin a sentence, or stand in a heading, before a number of their own: what follows
# them is not the number of a name. The last line of each are the things that a book counts.
_NOT_NAMES_PT = """
a abril acurácia agora agosto ainda ali ante antes ao aos apenas aplique aproximadamente apêndice
após aqui as assim até bloco cabeça cada calcule camada cerca coluna com como compare considere
contra da das de depois desde desenhe dezembro divida do dois dos duas e ela elas ele eles em
enquanto entre entropia então equação escolha escreva essa essas esse esses esta estas este estes
exatamente execução exercício fator faça fevereiro figura foram ganho há item janeiro janela julho
junho já largura linha listagem logo lote maio mais março mas menos mesmo meça mostre mude
multiplique na nas nem no norma nos nossa nossas nosso nossos nota novembro nível o os ou outra
outras outro outros outubro painel para parte passo pegue pela pelas pelo pelos perda perplexidade
perto pois ponha por porém posição página quando quase que razão refaça repita rode se sem semente
sempre ser seria setembro seção sob sobre some somente suponha são só tabela também taxa toda
todas todo todos token tome treine troque três um uma umas uns use valor variância veja versão à
às época
"""
_NOT_NAMES_EN = """
a about above accuracy across add after again all almost among an and another any appendix apply
approximately april around as at august average be before below beneath between beyond block both
but by change chapter choose column compare compute consider count december divide down draw drop
during each either entropy epoch epsilon equation even every exactly exercise experiment factor
february few fewer fig figure first for from gain give given head here how if in inside into it
item its january july june just keep last layer least less let level line listing loss make many
march may measure more most move multiply nearly next no nor norm not note november october of off
on only onto or other our out over page panel part perplexity pick plot point position predict put
raise ratio remove repeat replace roughly row run sample section see seed september set show since
so some step such suppose swap table take than that the their them then there these they this
those though through throughout till to token top train try two under until up use using value
variance version via vs we what when where which while width window with within without write you
your
"""
_NOT_NAMES = {
    "pt": frozenset(_NOT_NAMES_PT.split()),
    "en": frozenset(_NOT_NAMES_EN.split()),
}
_PLURAL_LOOKING = (
    "mais",
    "menos",
    "apenas",
    "antes",
    "depois",
    "nas",
    "nos",
    "das",
    "dos",
    "as",
    "os",
)
_NOT_NAME_ENDINGS = {"pt": ("mos", "ndo", "mente"), "en": ("ing", "ed", "ly")}


def _is_digit(character: str) -> bool:
    return unicodedata.category(character) in ("Nd", "No")


def _numbers(prose: Prose, language: Language, known: Known) -> Iterator[Typed]:
    text = prose.text

    def mask(
        pattern: re.Pattern[str], exempt: Callable[[re.Match[str]], bool] | None = None
    ) -> None:
        nonlocal text
        text = pattern.sub(
            lambda m: filled(m[0], CODE) if exempt is None or exempt(m) else m[0], text
        )

    for pattern in _FORMULA_IN_TEXT:
        mask(pattern)
    text = _EMPHASIS.sub(" ", text)
    mask(_CITED, lambda m: _is_cited(m, known))
    mask(_CHAPTER[language], lambda m: _are_chapters(m, known))
    for pattern in _NAMES:
        mask(pattern, lambda m: not _is_ordinary(m.groupdict().get("name") or "", language))
    text = _NAMED.sub(lambda m: _named(m, language), text)

    for match in re.finditer(r"\S+", text):
        digits = [i for i, character in enumerate(match[0]) if _is_digit(character)]
        if digits:
            start, end = match.start() + digits[0], match.start() + digits[-1] + 1
            word = _FILLED.sub("…", match[0]).strip(_PUNCTUATION)
            yield Typed(prose.line(start), "number", word, prose.context(start, end))


def _is_cited(match: re.Match[str], known: Known) -> bool:
    names = re.findall(r"[A-ZÀ-Þ][\w'’-]+", match["who"])
    return any((name.lower(), match["year"]) in known.citations for name in names)


def _are_chapters(match: re.Match[str], known: Known) -> bool:
    return all(int(n) in known.chapters for n in (match["number"], match["other"]) if n)


def _is_ordinary(name: str, language: Language) -> bool:
    lower = name.lower()
    return lower in _NOT_NAMES[language] or lower.endswith(_NOT_NAME_ENDINGS[language])


def _named(match: re.Match[str], language: Language) -> str:
    """ "Llama 3" is a name; "Treinamos 3 modelos" is none: a plural noun follows its number."""
    following = match["next"] or ""
    counted = language == "pt" and following.endswith("s") and following not in _PLURAL_LOOKING
    if counted or _is_ordinary(match["name"], language):
        return match[0]
    end = match.end("size") if match["size"] else match.end("number")
    kept = match[0][end - match.start() :]
    return filled(match[0][: end - match.start()], CODE) + kept


# ---------------------------------------------------------------------------- words


def _words(prose: Prose, language: Language) -> Iterator[Typed]:
    text = _EMPHASIS.sub(" ", prose.text)
    for start, end in stated(text, language):
        said = " ".join(text[start:end].split())
        yield Typed(prose.line(start), "words", said, prose.context(start, end))


# ---------------------------------------------------------------------------- code

_IN_CODE = re.compile(
    r"(?<![\w.])(?:\d[\d_]*\.\d+(?:e[+-]?\d+)?|\.\d+|\d[\d_]*(?:e[+-]?\d+)?)(?![\w]|\.\d)",
    re.IGNORECASE,
)
_SETTING = re.compile(r"(?P<name>[A-Za-z_]\w*)(?::\s*\w+\s*)?\s*=\s*[-−]?$")


def _in_code(code: str, prose: Prose, start: int, known: Known) -> Iterator[Typed]:
    """A value in typed code must come from a source file, or be given to a name that one has (a
    setting to try); a bare number is no code at all."""
    bare = re.fullmatch(r"[-−+\s]*[\d.,]+\s*%?\s*", code) is not None
    for match in _IN_CODE.finditer(code):
        value = match[0]
        small = value.isdecimal() and int(value) <= LARGEST_IN_CODE
        setting = _SETTING.search(code, 0, match.start())
        if (
            (small and not bare)
            or (setting and known.in_source(setting["name"]))
            or (not value.isdecimal() and known.in_source(value))
            or (not bare and known.in_source(code.strip()))
        ):
            continue
        context = " ".join(_FILLED.sub("…", code).split())[:60]
        yield Typed(prose.line(start + match.start()), "code", value, context)


# ---------------------------------------------------------------------------- formulas

_STRIPPED = re.compile(
    r"\\(?:label|ref|eqref|tag\*?|htmlData|color|textcolor|hspace\*?|vspace\*?|phantom|class|cssId)\s*\{[^{}]*\}"
    r"|\\begin\{array\}\{[^{}]*\}|\\(?:begin|end)\{[^{}]*\}|\\\\\[[^\]]*\]|\\(?:kern|mkern|hskip)\s*-?[\d.]+\s*\w\w"
)
_TEXT = re.compile(r"\\(?:text|textrm|textbf|textit|textsf|mbox)\s*\{([^{}]*)\}")
_TEX_NUMBER = re.compile(r"\d+(?:(?:\{[.,]\}|[.,])\d+)*")
_SPACE = r"(?:\s|\\[,;:! ]|~|\{\})*"
_RELATION = re.compile(
    r"(?:=|<|>|\\(?:approx|le|leq|ge|geq|simeq|sim|lt|gt|colon|equiv|to|rightarrow))"
    + _SPACE
    + r"[-+]?"
    + _SPACE
    + "$"
)
_FOLLOWED = re.compile(
    _SPACE
    + r"(?:[A-Za-z(]|\\[({|]"
    + r"|\\(?!times|cdot|approx|le|ge|quad|qquad|text|mathrm|end|,|;|%|\\)[a-zA-Z]+)"
)
_PRODUCT = re.compile(_SPACE + r"\\(?:times|cdot)" + _SPACE + r"\d")
_AFTER_PRODUCT = re.compile(r"\d" + _SPACE + r"\\(?:times|cdot)" + _SPACE + "$")
_UNIT_AFTER = re.compile(
    _SPACE + r"(?:\\%|\\(?:text|mathrm|operatorname|mathsf)\s*\{\s*(?:" + UNIT_SIGNS + r")\s*\})"
)


def _in_formula(tex: str, prose: Prose, start: int, language: Language) -> Iterator[Typed]:
    bare = _STRIPPED.sub(lambda m: filled(m[0], " "), tex)
    for match in _TEXT.finditer(bare):
        for one in find(match[1], language):
            at = start + match.start(1)
            yield Typed(prose.line(at), one.kind, one.text, " ".join(tex.split())[:60])
    bare = _TEXT.sub(lambda m: m[0] if _UNIT_AFTER.match(m[0]) else filled(m[0], " "), bare)
    body, indices = _without_indices(bare)
    for match in _TEX_NUMBER.finditer(body):
        value = match[0]
        before, after = body[: match.start()], body[match.end() :]
        if value.isdecimal() and len(value) < 4:
            number = int(value)
            stated = (
                number >= SMALLEST_STATED
                and _RELATION.search(before) is not None
                and not _FOLLOWED.match(after)
                and not _is_power(bare, start=match.end())
            )
            product = _PRODUCT.match(after) or _AFTER_PRODUCT.search(before)
            largest = LARGEST_WITH_VARIABLE if _FOLLOWED.match(after) else LARGEST_COEFFICIENT
            if number <= largest and not stated and not product and not _UNIT_AFTER.match(after):
                continue
        at = start + match.start()
        yield Typed(prose.line(at), "mathematics", value, " ".join(tex.split())[:60])
    for match in re.finditer(r"\d+(?:\{[.,]\}|[.,])\d+", indices):
        at = start + match.start()
        yield Typed(prose.line(at), "mathematics", match[0], " ".join(tex.split())[:60])


def _is_power(tex: str, start: int) -> bool:
    return tex[start:].lstrip().startswith("^")


def _without_indices(tex: str) -> tuple[str, str]:
    """`tex` with subscripts and exponents blank, and `tex` with all but them blank."""
    body, indices = list(tex), list(filled(tex, " "))
    i = 0
    while i < len(tex):
        if tex[i] not in "_^" or (i and tex[i - 1] == "\\"):
            i += 1
            continue
        j = i + 1
        while j < len(tex) and tex[j].isspace():
            j += 1
        if j < len(tex) and tex[j] == "{":
            depth, end = 0, j
            while end < len(tex):
                depth += {"{": 1, "}": -1}.get(tex[end], 0)
                end += 1
                if depth == 0:
                    break
        elif j < len(tex) and tex[j] == "\\":
            command = re.match(r"\\(?:[a-zA-Z]+|.)", tex[j:])
            end = j + (len(command[0]) if command else 1)
        else:
            end = j + 1
        for k in range(i, min(end, len(tex))):
            if tex[k] != "\n":
                body[k], indices[k] = " ", tex[k]
        i = max(end, i + 1)
    return "".join(body), "".join(indices)
