"""Which words of a sentence state a measured quantity?

In: a text and its language. Out: where "quatro vezes", "two thirds", "sete em dez", "dez mil" or a
number word with a unit stands in it. Words that merely count things ("duas línguas", "two
reasons"), ordinals ("the first layer", "o quarto passo") and idioms ("uma vez que", "the first
half", "hundreds of cores") are none of these.

The patterns are regular expressions, one a line, in which a space is any white space, a name in
angle brackets is a piece defined beside them, and " !< " begins what must not stand before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Language = Literal["pt", "en"]

BOUND = "\uf8f0"  # stands where a template prints: "59,7 mil" is bound, "mil" alone is not

UNIT_SIGNS = "ms|µs|[kKMGT]i?B|G?FLOPs?|nats?|bits?|bytes?|(?:quilo|kilo|mega|giga|tera)bytes?"

_PIECES_PT = {
    "small": "dois|duas|três|quatro|cinco|seis|sete|oito|nove|dez",
    "large": "onze|doze|treze|catorze|quatorze|quinze|dezesseis|dezessete|dezoito|dezenove|vinte"
    "|trinta|quarenta|cinquenta|sessenta|setenta|oitenta|noventa|cem|duzent[oa]s|trezent[oa]s"
    "|quatrocent[oa]s|quinhent[oa]s|seiscent[oa]s|setecent[oa]s|oitocent[oa]s|novecent[oa]s",
    "scale": "mil|milhão|milhões|bilhão|bilhões|trilhão|trilhões",
    "n": "(?:(?:<large>|cento)(?: e [a-zêé]+){0,2}|<small>)(?: <scale>)?|mil",
    "part": "quart|quint|sext|sétim|oitav|non|décim|centésim|milésim",
    "more": "(?:a )?(?:mais|menos)|maior|menor|melhor|pior|acima|abaixo",
    "time": "(?:micross|miliss|s)egundos?|minutos?|horas?|dias?|semanas?",
    "which": "primeira|segunda|outra|cada|última|qual|n?ess?a|n?esta|até a|na|da",
    "trials": "sementes|execuções|épocas",
    "unit": f"{UNIT_SIGNS}|<time>|por cento|pontos? percentua(?:l|is)|ordens? de grandeza",
}

_PATTERNS_PT = """
(?P<few>uma?|<n>) (?:em|em cada|de cada|a cada|para cada|dentre) (?P<many><n>)
<n> vezes
uma vez (?:e meia|mais [a-zãçéí]+|menos [a-zãçéí]+|maior|menor|melhor|pior)
o (?:dobro|triplo|quádruplo|quíntuplo) d[eoa]s?
(?:mais|menos|cerca|perto|acima|abaixo) d[ae] metade
metade d[eoa]s?(?! (?:cima|baixo)) !< <which>
(?:pela|à) metade
um terço
<small> (?:terç|<part>)os
um <part>o(?= d[eoa]s?\\b| <more>\\b| ?[.,;:!?)]| ?$)
(?:uma?|a) (?:terça|quarta|quinta|décima|centésima|milésima) parte
<n> entre <n>
<n> <unit>
um (?:nat|por cento|ponto percentual|ms|milissegundo|MB|GB)
uma ordem de grandeza
meio (?:nat|bit|ponto|por cento)
meia ordem de grandeza
<n> pontos(?= de (?:perplexidade|acurácia|entropia)| <more>\\b)
(?:uma?|<n>)(?: (?:vez|vezes|nats?|bits?|pontos?|<time>))? e mei[oa]
(?:uma?|<n>) vírgula [a-zêé]+
(?:em|nas|após|depois de|ao longo de)(?: todas)?(?: as| ess?as| estas)? <n> <trials>
<large>(?: e [a-zêé]+){0,2}(?: <scale>)? !< (?:anos|século)
cento e [a-zêé]+ !< por
(?:um|<small>) <scale>
mil(?!-) !< BOUND
"""

_PIECES_EN = {
    "unit_word": "one|two|three|four|five|six|seven|eight|nine",
    "small": "two|three|four|five|six|seven|eight|nine|ten",
    "tens": "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety",
    "teens": "eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen",
    "large": "<teens>|<tens>(?:[- ]<unit_word>)?",
    "scale": "hundred|thousand|million|billion|trillion",
    "n": "(?:<large>|<small>)(?: <scale>){0,2}|(?:an?|one) <scale>(?: <scale>)?",
    "part": "third|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth|hundredth|thousandth",
    "time": "(?:micro|milli)?seconds?|minutes?|hours?|days?|weeks?",
    "which": "the|its|this|that|each|either|every|their|our|a",
    "unit": f"{UNIT_SIGNS}|<time>|percent|per cent|percentage points?|orders? of magnitude",
    "ordinal": "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth",
    "more": "lower|higher|better|worse|above|below|more|less|fewer|ahead|behind",
}

_PATTERNS_EN = """
(?P<few>one|<n>) (?:in|out of|in every|of every|out of every|for every)(?: the)? (?P<many><n>)
<n>(?: and a half)?[- ]times
(?:twice|thrice) (?:as|that|what|the|its|their)
(?:<small>|<teens>|<tens>|hundred|thousand|million)[- ]?fold
one[- ]half
half (?:of|the|as|its|their)(?! (?:story|battle|way)) !< (?:<which>(?: [a-z-]+)?|other|which)
(?:less|more|over|under|about|nearly|almost) half
by half
one[- ]<part>
<small>[- ]<part>s
a <part> (?:of|as|the|smaller|larger|<more>)
<n>[- ]<unit>
one[- ](?:nat|percent|per cent|percentage point|ms|millisecond|MB|GB|order of magnitude)
an order of magnitude
half an? (?:nat|bit|percent|per cent|percentage point|point|order of magnitude|second|millisecond)
<n> points(?= of (?:perplexity|accuracy|entropy)| <more>\\b)
(?:one|<n>) and a half
(?:<unit_word>|ten|zero) point (?:<unit_word>|zero|oh)
(?:in|over|across|after)(?: all)?(?: the| these| those)? <n>(?: [a-z]+)? (?:seeds|runs|epochs)
<large>(?: <scale>){0,2}(?![- ]<ordinal>\\b)
(?:an?|one|<small>) <scale>(?: <scale>)?
"""


@dataclass(frozen=True)
class _Pattern:
    stated: re.Pattern[str]
    not_after: re.Pattern[str] | None


def _compiled(patterns: str, pieces: dict[str, str]) -> tuple[_Pattern, ...]:
    def full(pattern: str) -> str:
        while named := re.search(r"(?<!\?P)<([a-z_]+)>", pattern):
            piece = f"(?:{pieces[named[1]]})"
            pattern = pattern[: named.start()] + piece + pattern[named.end() :]
        return pattern.replace("BOUND", BOUND).replace("[- ]", r"(?:-|\s+)").replace(" ", r"\s+")

    def one(line: str) -> _Pattern:
        stated, _, before = line.partition(" !< ")
        return _Pattern(
            re.compile(rf"(?<![\w-])(?:{full(stated)})(?!\w)", re.IGNORECASE),
            re.compile(rf"(?<!\w)(?:{full(before)})\s*$", re.IGNORECASE) if before else None,
        )

    return tuple(one(line) for line in patterns.strip().splitlines())


_PATTERNS = {
    "pt": _compiled(_PATTERNS_PT, _PIECES_PT),
    "en": _compiled(_PATTERNS_EN, _PIECES_EN),
}
_LONGEST_BEFORE = 40


def stated(text: str, language: Language) -> Iterator[tuple[int, int]]:
    """Start and end of each measured number word of `text`, none overlapping another."""
    taken: list[tuple[int, int]] = []
    for pattern in _PATTERNS[language]:
        for match in pattern.stated.finditer(text):
            start, end = match.span()
            groups = match.groupdict()
            if groups.get("few") and groups["few"].lower() == (groups["many"] or "").lower():
                continue  # "de dois em dois", "one in one"
            if re.search(r"\n[ \t]*\n", match[0]):
                continue  # two paragraphs are not a phrase
            if any(a < end and start < b for a, b in taken):
                continue
            before = text[max(0, start - _LONGEST_BEFORE) : start]
            if pattern.not_after and pattern.not_after.search(before):
                continue
            taken.append((start, end))
    yield from sorted(taken)
