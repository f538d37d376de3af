"""Does the lint find what is planted, with file and line, and nothing in a sound book?"""

import os
import shutil
from pathlib import Path

import pytest
from small_book import Tree, lay, point_folders

from engine import __main__ as engine_command
from engine import lint, paths
from engine.errors import LintError
from engine.lint import Finding, failing, lint_book, review

PT = """\
---
title: A média
question: Quanto se perde? << num("averages.none.perplexity", decimals=1) >>?
needs: []
after: Você sabe dizer por quê.
constants:
  year: {value: 2017, why: ano do artigo}
---

Em << const("year") >> a média perdeu: << num("averages.none.perplexity", spread=True) >>.

## A perda { #loss }

São << num("averages.none.perplexity", decimals=1) >> contra
<< num("averages.head.perplexity", decimals=1) >>, e $d^2$ não muda << cite("ba2016") >>.

<% set alt %>Barras até << num("averages.none.perplexity", digits=2) >>.<% endset %>
<% call figure("bars", alt=alt) %>
A média perde.
<% endcall %>

<% set rows = [] %>
<% for row in ["none", "head"] %>
<% set at = "averages." ~ row ~ ".perplexity" %>
<% do rows.append([row, num(at, spread=True), seeds(at)]) %>
<% endfor %>
<% call table("averages", columns=["linha", "perplexidade", "sementes"], rows=rows) %>
A cabeça ganha.
<% endcall %>

## A prova { #proof }

A << see("table", "averages") >> e << ref("02-average", "loss") >> bastam.

<< claim("worse") >>
"""

EN = """\
---
title: The mean
question: How much is lost? << num("averages.none.perplexity", decimals=1) >>?
needs: []
after: You can say why.
constants:
  year: {value: 2017, why: year of the paper}
---

In << const("year") >> the mean lost: << num("averages.none.perplexity", spread=True) >>.

## The loss { #loss }

It is << num("averages.head.perplexity", decimals=1) >> against
<< num("averages.none.perplexity", decimals=1) >>, and $d^2$ stays << cite("ba2016") >>.

<% set alt %>Bars up to << num("averages.none.perplexity", digits=2) >>.<% endset %>
<% call figure("bars", alt=alt) %>
The mean loses.
<% endcall %>

<% set rows = [] %>
<% for row in ["none", "head"] %>
<% set at = "averages." ~ row ~ ".perplexity" %>
<% do rows.append([row, num(at, spread=True), seeds(at)]) %>
<% endfor %>
<% call table("averages", columns=["row", "perplexity", "seeds"], rows=rows) %>
The head wins.
<% endcall %>

## The proof { #proof }

<< see("table", "averages", capital=True) >> and << ref("02-average", "loss") >> are enough.

<< claim("worse") >>
"""

CLAIMS = (
    """\
[worse]
pt = "A média perde para a cabeça: << num("averages.none.perplexity", decimals=1) >>."
en = "The mean loses to the head: << num("averages.none.perplexity", decimals=1) >>."
source = "ba2016"
expected = "holds"
less = ["averages.head.perplexity", "averages.none.perplexity"]
""".replace('"A média', "'A média")
    .replace('>>."\nen', ">>.'\nen")
    .replace('"The mean', "'The mean")
    .replace('>>."\nsource', ">>.'\nsource")
)

BARS = """\
\"\"\"Bars?\"\"\"
TEXT = {
    "perplexity": {"pt": "perplexidade", "en": "perplexity"},
}
def data(book):
    return [{"value": book.get(f"averages.{row}.perplexity").mean} for row in ("none", "head")]

def draw(rows, text, width, language):
    return None
"""

BIB = """\
@article{ba2016, author = {Ba, Jimmy and Kiros, Jamie and Hinton, Geoffrey},
  title = {Layer Normalization}, year = {2016}, journal = {arXiv}}
"""

GLOSSARY = """\
verbs = ["printar"]

[[term]]
en = "loss"
pt = "a perda"
avoid = "a loss"
find = ['(?:a|na) loss']
"""

CHAPTER = "chapters/02-average"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chapter in both languages with nothing wrong, read side by side."""
    root = tmp_path_factory.mktemp("sound")
    with pytest.MonkeyPatch.context() as patch:
        tree = lay(root, lambda name, value: patch.setattr(paths, name, value))
        for run in ("none.s0", "none.s1", "none.s2", "head.s0", "head.s1"):
            tree.record(f"averages/{run}", {"perplexity": 50.0 + int(run[-1])})
        tree.write(f"{CHAPTER}/pt.md.j2", PT)
        tree.write(f"{CHAPTER}/en.md.j2", EN)
        tree.write(f"{CHAPTER}/claims.toml", CLAIMS)
        tree.write("chapters/bibliography/references.bib", BIB)
        tree.write("chapters/glossary/glossary.toml", GLOSSARY)
        tree.write("figures/bars.py", BARS)
        review("02-average")
    return root


@pytest.fixture
def book(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """A copy of the sound book, where the engine's folders point."""
    root = tmp_path / "book"
    shutil.copytree(sound, root)
    point_folders(root, lambda name, value: monkeypatch.setattr(paths, name, value))
    return Tree(root)


def found(kind: str = "") -> list[Finding]:
    return [finding for finding in lint_book() if not kind or finding.kind == kind]


def at(finding: Finding) -> tuple[str, int]:
    return Path(finding.path).name, finding.line


def test_a_sound_book_gives_nothing(book: Tree) -> None:
    assert lint_book() == []


# ------------------------------------------------------------------ typed by hand


@pytest.mark.parametrize(
    ("name", "before", "after", "kind", "line"),
    [
        ("pt.md.j2", "contra\n", "contra 59,7 e\n", "number", 14),
        ("pt.md.j2", "bastam.", "bastam quatro\nvezes.", "words", 33),
        ("en.md.j2", "are enough.", "are enough, two thirds.", "words", 33),
        ("pt.md.j2", "A média perde.", "A média perde 3% a mais.", "number", 19),
        ("pt.md.j2", "Barras até", "Barras de 0 até", "number", 17),
        ("en.md.j2", "The loss {", "The 4 losses {", "number", 12),
        ("pt.md.j2", "title: A média", "title: A média de 5", "number", 2),
        ("en.md.j2", "How much is lost?", "How much of 12 is lost?", "number", 3),
        ("en.md.j2", "You can say why.", "You can say 7 things.", "number", 5),
        ("pt.md.j2", '"perplexidade"', '"perplexidade em 10"', "number", 27),
        ("en.md.j2", '"row", "perplexity"', '"row", "two nats"', "words", 27),
        ("pt.md.j2", "append([row", 'append(["linha 3"', "number", 25),
        ("pt.md.j2", "append([row", "append([59.7", "number", 25),
        ("pt.md.j2", 'for row in ["none"', 'for row in ["9"', "number", 25),
        ("pt.md.j2", 'num("averages.head.perplexity"', "num(59.7", "number", 15),
        ("pt.md.j2", 'num("averages.head.perplexity"', 'num(q("averages.head.perplexity") * 1.5',
         "number", 15),
        ("pt.md.j2", '<< const("year") >> a', '<< const("year") | round >> a', "rounding", 10),
        ("pt.md.j2", "$d^2$", "$d^2 = 4096$", "mathematics", 15),
        ("en.md.j2", "$d^2$", "$0.25 d^2$", "mathematics", 15),
        ("en.md.j2", "$d^2$", "`59.71`", "code", 15),
        ("claims.toml", "A média perde para", "A média perde 8 para", "number", 2),
        ("claims.toml", "The mean loses to", "The mean loses three times to", "words", 3),
        ("claims.toml", 'source = "ba2016"', 'source = "Someone, 1999"', "number", 1),
    ],
)  # fmt: skip
def test_typed_by_hand(
    book: Tree, name: str, before: str, after: str, kind: str, line: int
) -> None:
    book.replace(f"{CHAPTER}/{name}", before, after)
    findings = found(kind)
    assert [at(finding) for finding in findings] == [(name, line)]
    assert all("\n" not in str(finding) for finding in findings)


def test_words_of_figures_and_of_the_site(book: Tree) -> None:
    book.replace("figures/bars.py", '"perplexidade"', '"perplexidade em 64"')
    book.write(
        "mkdocs.yml", "site_name: Três vezes\nextra:\n  chapters: 21\n  text: {a: em 2017}\n"
    )
    assert [(*at(f), f.kind) for f in lint_book()] == [
        ("bars.py", 3, "number"),
        ("mkdocs.yml", 1, "words"),
        ("mkdocs.yml", 3 + 1, "number"),
    ]


def test_what_is_typed_in_code_may_come_from_a_source(book: Tree) -> None:
    book.replace(f"{CHAPTER}/pt.md.j2", "$d^2$", "`NEGATIVE = -1e9`, `steps=3000`")
    book.replace(f"{CHAPTER}/en.md.j2", "$d^2$", "`NEGATIVE = -1e9`, `steps=3000`")
    assert found("code") == []


# ------------------------------------------------------------------ parity


@pytest.mark.parametrize(
    ("name", "before", "after", "line", "says"),
    [
        ("en.md.j2", '<< num("averages.head.perplexity", decimals=1) >>', "less", 12,
         "number averages.head.perplexity (1 fewer than in pt.md.j2)"),
        ("pt.md.j2", '<< num("averages.head.perplexity", decimals=1) >>', "menos", 12,
         "number averages.head.perplexity (1 fewer than in en.md.j2)"),
        ("en.md.j2", '<< num("averages.none.perplexity", spread=True) >>', "a lot", 1,
         "the opening does not cite the number averages.none.perplexity (1 fewer"),
        ("en.md.j2", ", digits=2)", ", digits=3)", 17, "digits=3 here and with 2"),
        ("en.md.j2", '<< claim("worse") >>', "", 31, "lacks claim worse of pt.md.j2:35"),
        ("en.md.j2", 'call table("averages"', 'call table("other"', 27, "stands where"),
        ("en.md.j2", '["row", "perplexity", "seeds"]', '["row", "perplexity"]', 27, "2 × ?"),
        ("en.md.j2", ' << cite("ba2016") >>', "", 12, "lacks the work ba2016"),
        ("en.md.j2", "$d^2$", "$d^3$", 12, "lacks the formula d^2"),
        ("en.md.j2", '<< const("year") >>', "that year", 1, "does not cite the constant year"),
        ("en.md.j2", "{ #proof }", "{ #evidence }", 12, "section #proof is missing here"),
        ("en.md.j2", "## The proof { #proof }", "## The proof", 31, "has no anchor"),
        ("en.md.j2", "## The proof", "### The proof", 31, "another level"),
        ("en.md.j2", "{ #proof }", "{ #loss }", 31, "stands twice"),
        ("en.md.j2", "needs: []", "needs: [02-average]", 4, "needs in the front matter"),
        ("en.md.j2", "value: 2017", "value: 2018", 6, "constants in the front matter"),
        ("en.md.j2", "value: 2017", "value: 2017.0", 6, "constants in the front matter"),
        ("claims.toml", '"averages.none.perplexity", decimals=1) >>.\'\nen',
         '"averages.head.perplexity", decimals=1) >>.\'\nen', 1, "claim worse: only one language"),
    ],
)  # fmt: skip
def test_languages_that_part(
    book: Tree, name: str, before: str, after: str, line: int, says: str
) -> None:
    book.replace(f"{CHAPTER}/{name}", before, after)
    findings = found("parity")
    assert any(says in f.message and at(f) == (name, line) for f in findings), findings


def test_a_constant_that_one_language_names_more_often(book: Tree) -> None:
    book.replace(f"{CHAPTER}/en.md.j2", "the mean lost:", 'the mean of << const("year") >> lost:')
    (finding,) = found("parity")
    assert at(finding) == ("pt.md.j2", 1)
    assert "the constant year (1 fewer than in en.md.j2)" in finding.message


def test_a_constant_with_other_decimals_in_one_language(book: Tree) -> None:
    for language, decimals in (("pt", 1), ("en", 2)):
        book.replace(
            f"{CHAPTER}/{language}.md.j2", 'const("year")', f'const("year", decimals={decimals})'
        )
    assert any(
        "year is shown with decimals=2 here and with 1" in f.message for f in found("parity")
    )


@pytest.mark.parametrize(
    ("pt", "en", "says"),
    [
        ('q("{}") / 2', 'q("{}") / 3', "does not cite the calculation (q('{}') / 2)"),
        ('q("{}").seed(0)', 'q("{}").seed(1)', "does not cite the calculation q('{}').seed(0)"),
        ('q("{}") * 2', '2 * q("{}")', ""),
        ('q("{}")', '"{}"', ""),
        ('q("{}") / 2, digits=1', 'q("{}") / 2, digits=2', "digits=2 here and with 1"),
        ('"{}", seed=0', '"{}", seed=1', "does not cite the number {} (seed=0)"),
        ('"{}", noise=1e-9', '"{}", noise=1e-8', "does not cite the number {} (noise=1e-09)"),
        ('"{}" ~ one', '"{}" ~ two', "does not cite the number {}* (one)"),
        ('q("{}") / q(one)', 'q("{}") / q(two)', "(q('{}') / q(*)) (one)"),
    ],
)
def test_the_same_value_in_another_calculation(book: Tree, pt: str, en: str, says: str) -> None:
    path = "averages.head.perplexity"
    for language, quantity in (("pt", pt), ("en", en)):
        form = quantity.format(path)
        form = form if "digits" in form else f"{form}, decimals=1"
        before = f'num("{path}", decimals=1)'
        book.replace(f"{CHAPTER}/{language}.md.j2", before, f"num({form})")
    messages = [finding.message for finding in found("parity")]
    assert any(says.format(path) in message for message in messages) if says else messages == []


@pytest.mark.parametrize("what", ["telling(7) | trim", 'q("{}") / 7', "telling(7)"])
def test_a_name_that_is_set_to_something_else(book: Tree, what: str) -> None:
    for language, value in (("pt", what), ("en", what.replace("7", "8"))):
        value = value.format("averages.head.perplexity")
        before = 'num("averages.head.perplexity", decimals=1)'
        template = f"{CHAPTER}/{language}.md.j2"
        book.replace(template, f"<< {before}", f"<% set one = {value} %><< {before}")
    assert any("does not cite the name set to one = " in f.message for f in found("parity"))


def test_sections_in_another_order(book: Tree) -> None:
    head, loss, proof = (
        EN.partition("## The loss")[0],
        *EN.partition("## The loss")[2].split("## The proof"),
    )
    book.write(f"{CHAPTER}/en.md.j2", f"{head}## The proof{proof}\n## The loss{loss}")
    assert [f.message for f in found("parity")] == [
        "section #proof comes in another order than in pt.md.j2"
    ]


def test_numbers_may_come_in_another_order_within_a_section(book: Tree) -> None:
    one = '"averages.none.perplexity", decimals=1'
    orders = [text.index("averages.head.perplexity") < text.rindex(one) for text in (PT, EN)]
    assert orders == [False, True]
    assert found("parity") == []


def test_a_translation_that_is_missing(book: Tree) -> None:
    book.remove(f"{CHAPTER}/en.md.j2")
    assert [(*at(f), f.kind) for f in failing(lint_book())] == [("en.md.j2", 1, "translation")]


# ------------------------------------------------------------------ out of step


def test_one_language_changed(book: Tree) -> None:
    book.replace(f"{CHAPTER}/pt.md.j2", "A cabeça ganha.", "A cabeça ganha por pouco.")
    (finding,) = lint_book()
    assert (finding.kind, *at(finding)) == ("translation", "pt.md.j2", 22)
    assert "#loss changed in Portuguese and not in English" in finding.message
    assert "lint --reviewed 02-average" in finding.message


def test_the_later_language_changed(book: Tree) -> None:
    book.replace(f"{CHAPTER}/en.md.j2", "You can say why.", "You can say how.")
    (finding,) = lint_book()
    assert (finding.kind, *at(finding)) == ("translation", "en.md.j2", 5)
    assert "the opening changed in English and not in Portuguese (“You can say how.…”)" in str(
        finding
    )


def test_both_languages_changed_and_are_read_again(book: Tree) -> None:
    book.replace(f"{CHAPTER}/pt.md.j2", "A cabeça ganha.", "A cabeça vence.")
    book.replace(f"{CHAPTER}/en.md.j2", "The head wins.", "The head prevails.")
    (finding,) = lint_book()
    assert "#loss changed in both languages" in finding.message
    review("02-average")
    assert lint_book() == []


def test_a_claim_changed_in_one_language(book: Tree) -> None:
    book.replace(f"{CHAPTER}/claims.toml", "The mean loses to", "The mean always loses to")
    assert ["claim worse changed in English" in f.message for f in lint_book()] == [True]


def test_new_and_lost_sections(book: Tree) -> None:
    for language, text in (
        ("pt", "## Nova { #new }\n\nNada.\n"),
        ("en", "## New { #new }\n\nNo.\n"),
    ):
        path = book.root / CHAPTER / f"{language}.md.j2"
        path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
    assert ["#new was never read beside" in f.message for f in lint_book()] == [True]
    review("02-average")
    for language, text in (("pt", PT), ("en", EN)):
        book.write(f"{CHAPTER}/{language}.md.j2", text)
    assert ['sections."new" is gone' in f.message for f in lint_book()] == [True]


def test_wrapping_spaces_and_comments_change_nothing(book: Tree) -> None:
    book.replace(f"{CHAPTER}/pt.md.j2", "A cabeça ganha.", "A  cabeça\nganha.<# um comentário #>")
    assert lint_book() == []


def test_dates_of_files_change_nothing(book: Tree) -> None:
    os.utime(book.root / CHAPTER / "pt.md.j2", (0, 0))
    os.utime(book.root / CHAPTER / "en.md.j2", (2**31, 2**31))
    assert lint_book() == []


def test_never_read_and_unreadable(book: Tree) -> None:
    book.write(f"{CHAPTER}/translation.toml", "[sections\n")
    assert [(f.kind, at(f)[0]) for f in lint_book()] == [("translation", "translation.toml")]
    book.remove(f"{CHAPTER}/translation.toml")
    assert ["nobody has read" in f.message for f in lint_book()] == [True]


def test_review_is_refused_while_the_languages_part(book: Tree) -> None:
    book.replace(f"{CHAPTER}/en.md.j2", '<< claim("worse") >>', "")
    before = (book.root / CHAPTER / "translation.toml").read_bytes()
    with pytest.raises(LintError, match=r"en\.md\.j2:31: parity: #proof lacks claim worse"):
        review("02-average")
    assert (book.root / CHAPTER / "translation.toml").read_bytes() == before
    with pytest.raises(LintError, match="no chapter"):
        review("99-nothing")


# ------------------------------------------------------------------ references, terms, unused


@pytest.mark.parametrize(
    ("name", "before", "after", "line", "says"),
    [
        ("pt.md.j2", '"averages.head.perplexity", dec', '"averages.head.nix", dec', 15, "nix"),
        ("pt.md.j2", '"averages.head.perplexity", dec', '"average.head.nix", dec', 15, "average"),
        ("pt.md.j2", 'const("year") >> a', 'const("yeer") >> a', 10, "no constant 'yeer'"),
        ("pt.md.j2", 'cite("ba2016")', 'cite("ba2017")', 15, "no work 'ba2017'"),
        ("pt.md.j2", 'figure("bars"', 'figure("barz"', 18, "no figure 'barz'"),
        ("pt.md.j2", 'claim("worse")', 'claim("better")', 35, "no claim 'better'"),
        ("pt.md.j2", '"02-average", "loss"', '"02-average", "gain"', 33, "no section #gain"),
        ("pt.md.j2", '"02-average", "loss"', '"03-triangle"', 33, "no chapter '03-triangle'"),
        ("pt.md.j2", "needs: []", "needs: [09-cost]", 4, "no chapter '09-cost'"),
        ("pt.md.j2", "bastam.", 'bastam. << widget("dial") >>', 33, "no panel 'dial'"),
        ("pt.md.j2", "A << see(",
         '<% call listing("model/attention.py", "head") %><% endcall %> << see(',
         33, "'# listing: head' is missing"),
        ("claims.toml", '["averages.head.perplexity"', '["averages.head.nix"', 1, "nix"),
    ],
)  # fmt: skip
def test_dead_references(
    book: Tree, name: str, before: str, after: str, line: int, says: str
) -> None:
    book.replace(f"{CHAPTER}/{name}", before, after)
    findings = found("reference")
    assert any(says in f.message and at(f) == (name, line) for f in findings), findings


def test_each_position_of_over_seeds_is_a_path(book: Tree) -> None:
    text = '<< over_seeds("averages.none.perplexity", "averages.head_2.perplexity") >>'
    for name in ("pt", "en"):
        path = book.root / CHAPTER / f"{name}.md.j2"
        path.write_text(path.read_text(encoding="utf-8") + f"\n\n{text}\n", encoding="utf-8")
    assert not found("number")
    assert ["averages.head_2.perplexity" in one.message for one in found("reference")] == [True] * 2


def test_what_is_not_measured_yet_is_left_to_the_check_of_records(book: Tree) -> None:
    book.remove("results/averages")
    assert found("reference") == []


def test_a_constant_that_is_not_used(book: Tree) -> None:
    for language in ("pt", "en"):
        book.replace(
            f"{CHAPTER}/{language}.md.j2", "constants:", "constants:\n  odd: {value: 1, why: x}"
        )
    assert [at(f) for f in found("constant")] == [("en.md.j2", 7), ("pt.md.j2", 7)]


def test_a_template_that_cannot_be_parsed(book: Tree) -> None:
    book.replace(f"{CHAPTER}/pt.md.j2", "<% endset %>", "<% endsett %>")
    (finding,) = found("template")
    assert at(finding) == ("pt.md.j2", 17)


@pytest.mark.parametrize(
    "name",
    [
        f"{CHAPTER}/pt.md.j2",
        f"{CHAPTER}/en.md.j2",
        f"{CHAPTER}/claims.toml",
        f"{CHAPTER}/translation.toml",
        "templates/widgets/dial.toml",
        "templates/widgets/dial.md.j2",
    ],
)
def test_what_is_not_utf8_is_a_finding(book: Tree, name: str) -> None:
    path = book.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((path.read_bytes() if path.exists() else b"") + b"\xff\xfe")
    said = [str(f) for f in found() if f.path == name or name in str(f)]
    assert said
    assert all("\n" not in line for line in said)


def test_words_that_the_glossary_avoids(book: Tree) -> None:
    book.replace(f"{CHAPTER}/pt.md.j2", "bastam.", "bastam; a\nloss, não: (*a loss*), `a loss`.")
    book.replace(f"{CHAPTER}/en.md.j2", "are enough.", "are enough; a loss.")
    book.replace(f"{CHAPTER}/claims.toml", "A média perde para", "Printar a média perde para")
    assert [(*at(f), f.kind) for f in found("glossary")] == [
        ("claims.toml", 2, "glossary"),
        ("pt.md.j2", 33, "glossary"),
    ]


def test_what_nothing_cites_is_a_warning(book: Tree) -> None:
    book.record("shuffle/s0", {"max_abs_diff": 0.0})
    book.write("figures/lines.py", BARS)
    book.write("chapters/bibliography/references.bib", BIB + BIB.replace("ba2016", "ba2017"))
    findings = lint_book()
    assert [f.message for f in findings] == [
        "no page cites the work ba2017",
        "no page shows the figure lines",
        "no page, claim or figure cites the record shuffle",
    ]
    assert failing(findings) == []


def test_a_record_cited_by_its_alias_is_used(book: Tree) -> None:
    for language in ("pt", "en"):
        path = book.root / CHAPTER / f"{language}.md.j2"
        path.write_text(
            path.read_text(encoding="utf-8").replace("averages.none", "ladder.none"), "utf-8"
        )
    book.replace(f"{CHAPTER}/claims.toml", "averages.none", "ladder.none")
    text = (book.root / CHAPTER / "claims.toml").read_text(encoding="utf-8")
    book.write(f"{CHAPTER}/claims.toml", text.replace("averages.none", "ladder.none"))
    book.remove("figures/bars.py")
    assert [f for f in lint_book() if f.kind == "unused"] == []


def test_a_figure_that_is_no_python_is_a_finding(book: Tree) -> None:
    book.write("figures/bars.py", "def draw(:\n")
    assert ("bars.py", 1) in [at(finding) for finding in found("python")]


@pytest.mark.parametrize("typed", [".5", "1_000", "0x10", "010", "yes", "1.5e+3", ".inf", "+5"])
def test_a_constant_is_typed_in_plain_digits(book: Tree, typed: str) -> None:
    book.replace(f"{CHAPTER}/pt.md.j2", "{value: 2017,", f"{{value: {typed},")
    assert any(f"year is typed {typed}: digits" in finding.message for finding in lint_book())


# ------------------------------------------------------------------ the command


def test_the_command(book: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    assert engine_command.main(["lint"]) == 0
    assert "0 findings" in capsys.readouterr().out
    book.replace(f"{CHAPTER}/pt.md.j2", "bastam.", "bastam 3.")
    assert engine_command.main(["lint"]) == 1
    out = capsys.readouterr()
    assert "chapters/02-average/pt.md.j2:33: number: '3' is typed by hand" in out.err
    assert engine_command.main(["lint", "--reviewed", "02-average"]) == 0
    assert engine_command.main(["lint", "--reviewed", "nothing"]) == 1


def test_the_real_glossary_can_be_read() -> None:
    terms = lint.glossary()
    assert paths.CHAPTERS.name == "chapters"
    assert len(terms) > 60
    assert all(term.find for term in terms)


def test_panels_are_read_like_chapters(book: Tree) -> None:
    book.write("templates/widgets/dial.md.j2", '<< num("averages.head.nix", decimals=1) >>\n')
    book.write(
        "templates/widgets/dial.toml",
        """\
        [pt]
        title = "O painel"
        [pt.script]
        more = "a precisão de 64 tokens"
        [en]
        title = "The panel"
        """,
    )
    mine = [f for f in found() if f.path.startswith("templates/widgets/")]
    assert {(Path(f.path).name, f.line, f.kind) for f in mine} == {
        ("dial.md.j2", 1, "reference"),
        ("dial.toml", 1, "parity"),
        ("dial.toml", 4, "number"),
    }
