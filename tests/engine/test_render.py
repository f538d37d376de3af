"""Does a chapter become a page whose every number can be traced, in both languages?"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import markdown
import pytest

from engine import paths, render
from engine.errors import MissingPath, RenderError
from engine.quantity import Quantity
from engine.record import Record
from engine.render import Language, Page

REAL_TEMPLATES = paths.TEMPLATES
EXTENSIONS = ["attr_list", "md_in_html", "tables", "toc", "pymdownx.superfences",
              "pymdownx.highlight", "pymdownx.arithmatex"]  # fmt: skip


def record(
    experiment: str, run: str, seed: int | None, device: str = "Xeon", **more: Any
) -> Record:
    return Record(
        path=paths.ROOT / "results" / experiment / f"{run}.json",
        experiment=experiment,
        run=run,
        row=run.split(".")[0],
        seed=seed,
        settings={},
        values={},
        units={},
        machine_dependent=(),
        nonfinite=(),
        replay=None,
        provenance={
            "digest": "ab" * 32,
            "device": {"kind": "cpu", "name": device, "threads": 2},
        },
        measured_at="2026-03-03T10:00:00Z",
        seconds=75.0,
        attestations=(),
        hash="",
        **more,
    )


def quantity(
    path: str, *values: object, unit: str = "1", device: str = "Xeon", **more: Any
) -> Quantity:
    experiment, *rest = path.split(".")
    row = rest[0]
    if len(values) == 1:
        records = (record(experiment, row, None, device),)
        return Quantity((path,), {None: values[0]}, unit, records, **more)
    records = tuple(record(experiment, f"{row}.s{i}", i, device) for i in range(len(values)))
    return Quantity((path,), dict(enumerate(values)), unit, records, **more)


class FakeBook:
    """A book that holds what a test gives it."""

    def __init__(self, *known: Quantity) -> None:
        self.known = {one.paths[0]: one for one in known}

    def get(self, path: str) -> Quantity:
        if path in self.known:
            return self.known[path]
        base, _, index = path.rpartition(".")
        if index.isdigit() and base:
            whole = self.get(base)
            values: dict[int | None, object] = {}
            for seed, value in whole.values.items():
                assert isinstance(value, tuple)
                values[seed] = cast("tuple[object, ...]", value)[int(index)]
            return Quantity((path,), values, whole.unit, whole.records)
        raise MissingPath(f"nothing lies under {path}")


BOOK = FakeBook(
    quantity("averages.mean.perplexity", 59.6, 59.8, 60.2),
    quantity("averages.none.perplexity", 29.5, 30.2, 29.9),
    replace(quantity("averages.first.perplexity", 50.0, 51.0), values={0: 50.0}),
    quantity("averages.second.perplexity", 58.0, 59.0),
    quantity("averages.mean.parameters", 263168, 263168, 263168, unit="parameter"),
    quantity("triangle.all.difference", 1.23e-7),
    quantity("toy.all.x", ((0.5, -1.5), (2.0, 0.0))),
    quantity("toy.all.sample", "To be <b>or</b>\n*not* $x$"),
    quantity("cost.n_64.time_ms", 3.14159, unit="ms", machine_dependent=True),
    quantity("gpu.n_64.time_ms", 1.5, unit="ms", machine_dependent=True, device="H200"),
    quantity("gpu.n_64.flops", 1.5, device="H200"),
    *(quantity(f"share.{name}.of", 1 / 3) for name in "abc"),
)

BIB = """@article{vaswani2017,
author={Vaswani, A and Shazeer, N and Parmar, N}, title={All}, year=2017}
@misc{other, author={Other, O}, title={Never <cited>}, year=2001}
"""


class Project:
    """A small book in a temporary folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def chapter(self, slug: str, body: str, front: str = "title: Um título\n") -> None:
        folder = self.root / "chapters" / slug
        folder.mkdir(parents=True, exist_ok=True)
        for language in ("pt", "en"):
            text = f"---\n{front}---\n{body}"
            (folder / f"{language}.md.j2").write_text(text, encoding="utf-8")

    def page(self, body: str, language: Language = "pt", front: str = "title: T\n") -> Page:
        self.chapter("02-average", body, front)
        return next(p for p in self.pages(language) if p.slug == "02-average")

    def pages(self, language: Language = "pt", serving: bool = False) -> list[Page]:
        return render.pages(language, BOOK, serving=serving)  # type: ignore[arg-type]

    def html(self, body: str, language: Language = "pt", front: str = "title: T\n") -> str:
        return html_of(self.page(body, language, front))

    def error(self, body: str, front: str = "title: T\n") -> str:
        with pytest.raises(RenderError) as caught:
            self.page(body, front=front)
        return str(caught.value)


def html_of(page: Page) -> str:
    converted = markdown.markdown(page.markdown, extensions=EXTENSIONS, extension_configs={
        "pymdownx.arithmatex": {"generic": True}})  # fmt: skip
    return render.finish(converted, page)


def details_of(html: str) -> dict[str, Any]:
    found = re.search(
        r'<script type="application/json" class="bk-numbers"[^>]*>(.*?)</script>', html
    )
    assert found
    return json.loads(found[1])


def text_of(html: str) -> str:
    without = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    return re.sub(r"<[^>]+>", "", without).strip()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name, folder in (("CHAPTERS", "chapters"), ("DRAWN", "drawn"), ("MODEL", "model")):
        monkeypatch.setattr(paths, name, tmp_path / folder)
        (tmp_path / folder).mkdir()
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    (tmp_path / "chapters" / "bibliography").mkdir()
    (tmp_path / "chapters" / "bibliography" / "references.bib").write_text(BIB, encoding="utf-8")
    (tmp_path / "model" / "m.py").write_text(
        "# listing: head\nx = 1  # (B,)\n# end: head\n", encoding="utf-8"
    )
    return Project(tmp_path)


# ---------------------------------------------------------------------------- numbers


def test_a_number_is_marked_and_told_about(project: Project) -> None:
    html = project.html('Caiu para << num("averages.mean.perplexity", decimals=1) >>.')
    (key,) = details_of(html)
    assert f'<span class="num" tabindex="0" role="button" data-n="{key}">59,9</span>.' in html
    told = details_of(html)[key]
    assert told["text"] == "59,9"
    assert told["experiment"] == "averages"
    assert told["paths"] == ["averages.mean.perplexity"]
    assert [seed["text"] for seed in told["seeds"]] == ["59,60", "59,80", "60,20"]
    assert told["low"]["text"] == "59,6"
    assert told["high"]["text"] == "60,2"
    assert told["device"] == "processador Xeon, 2 threads"
    assert told["date"] == "3 de mar. de 2026"
    assert told["duration"] == "3 min 45 s".replace(" ", "\u00a0", 1).replace("45 s", "45\u00a0s")
    assert told["record_url"][0] == "../records/averages/mean.s0.json"
    assert told["source_url"] == ["../source/experiments/averages/"]
    assert "averages/mean.s0" in told["command"][0]
    assert told["stale"] is False


def test_english_says_it_in_english(project: Project) -> None:
    html = project.html('<< num("averages.mean.perplexity", decimals=1) >>', "en")
    (told,) = details_of(html).values()
    assert told["text"] == "59.9"
    assert told["device"] == "processor Xeon, 2 threads"
    assert told["date"] == "Mar 3, 2026"
    assert told["record_url"][0] == "../../records/averages/mean.s0.json"
    assert told["source_url"] == ["../source/experiments/averages/"]


def test_inside_mathematics_the_comma_opens_no_gap(project: Project) -> None:
    body = 'A média $p = << tex("averages.mean.perplexity", decimals=1) >>$ sobe.'
    html = project.html(body)
    (key,) = details_of(html)
    assert rf"\htmlData{{n={key}}}{{59{{,}}9}}" in html
    assert f'<span class="arithmatex" tabindex="0" data-numbers="{key}">' in html
    assert rf"\htmlData{{n={key}}}{{59.9}}" in project.html(body, "en")


def test_in_attributes_and_titles_a_number_is_plain_text(project: Project) -> None:
    number = '<< num("averages.mean.perplexity", decimals=1) >>'
    html = project.html(
        f'![com {number}](x.png "t {number}")',
        front='title: Até << num("averages.mean.perplexity", decimals=1) >>\n',
    )
    assert 'alt="com 59,9"' in html
    assert 'title="t 59,9"' in html
    page = project.pages()[0]
    assert render.finish_text(page.title, page) == "Até 59,9"
    assert render.finish_text(page.meta["title"], page) == "Até 59,9"


def test_a_number_in_a_heading_and_its_entry_in_the_contents(project: Project) -> None:
    page = project.page('## Até << num("averages.mean.perplexity", decimals=1) >> { #until }\n')
    html = html_of(page)
    assert 'id="until"' in html
    assert '<span class="secno">2.1</span> Até <span class="num"' in html
    md = markdown.Markdown(extensions=EXTENSIONS)
    md.convert(page.markdown)
    name = str(cast("Any", md).toc_tokens[0]["name"])
    assert render.finish_text(name, page) == "2.1 Até 59,9"


def test_a_formula_in_a_title_gets_tex(project: Project) -> None:
    page = project.page('$p = << tex("averages.mean.perplexity", decimals=1) >>$')
    mark = re.search("\ue000.*?\ue001", page.markdown)
    assert mark
    assert render.finish_text(rf"a \(p = {mark[0]}\) {mark[0]}", page) == r"a \(p = 59{,}9\) 59,9"


def test_arithmetic_names_all_its_paths(project: Project) -> None:
    ratio = 'q("averages.mean.perplexity") / q("averages.none.perplexity")'
    html = project.html(f"<< num({ratio}, times=True, capital=True) >>")
    assert text_of(html) == "Duas vezes"
    (told,) = details_of(html).values()
    assert told["paths"] == ["averages.mean.perplexity", "averages.none.perplexity"]
    assert told["what"] == "averages.mean.perplexity ÷ averages.none.perplexity"
    assert told["experiment"] == "averages"


def test_labels_say_paths_in_words(project: Project) -> None:
    (project.root / "chapters" / "labels.toml").write_text(
        '"averages.*.perplexity" = {pt = "perplexidade, linha {0}", en = "perplexity, row {0}"}\n'
        '"*" = {pt = "valor", en = "value"}\n',
        encoding="utf-8",
    )
    html = project.html('<< num("averages.mean.perplexity", decimals=1) >>')
    assert next(iter(details_of(html).values()))["what"] == "perplexidade, linha mean"


def test_a_spread_shows_matched_digits_and_no_more(project: Project) -> None:
    html = project.html('<< num("averages.mean.perplexity", spread=True) >>')
    assert text_of(html) == "59,9\u00a0±\u00a00,3"
    error = project.error('x\n\n<< num("averages.mean.perplexity", decimals=3) >>')
    assert error.startswith("chapters/02-average/pt.md.j2:6: averages.mean.perplexity: ")
    assert "supports 1 decimals" in error


def test_one_seed_shows_no_spread_and_wants_its_digits(project: Project) -> None:
    assert text_of(project.html('<< num("triangle.all.difference", spread=True, digits=2) >>')) == (
        "1,2\u00a0×\u00a010⁻⁷".replace("⁻⁷", "−7")
    )
    assert "give digits=" in project.error('<< num("triangle.all.difference", spread=True) >>')


def test_the_number_of_seeds_is_said_in_words(project: Project) -> None:
    many = "averages.mean.perplexity"
    assert text_of(project.html(f'<< over_seeds("{many}") >>')) == "em três\u00a0sementes"
    body = f'<< over_seeds("{many}", q("{many}").seed(1), capital=True) >>'
    assert text_of(project.html(body)) == "Numa só execução"
    assert text_of(project.html(body, "en")) == "In a single run"
    assert "depends on no seed" in project.error('<< over_seeds("triangle.all.difference") >>')


def test_one_seed_alone(project: Project) -> None:
    html = project.html('<< num("averages.mean.perplexity", seed=2, decimals=3) >>')
    assert text_of(html) == "60,200"
    (told,) = details_of(html).values()
    assert [seed["seed"] for seed in told["seeds"]] == [2]
    assert "has no seed 7" in project.error(
        '<< num("averages.mean.perplexity", seed=7, decimals=3) >>'
    )


def test_lists_become_vectors_and_matrices(project: Project) -> None:
    body = '<< vector("toy.all.x.0", decimals=1) >>'
    assert text_of(project.html(body)) == "[0,5; −1,5]"
    assert text_of(project.html(body, "en")) == "[0.5, −1.5]"
    html = project.html('$<< tex_matrix("toy.all.x", decimals=1) >>$')
    assert html.count(r"\htmlData") == 4
    assert r"{2{,}0} &amp; " in html
    assert "use vector" in project.error('<< num("toy.all.x", decimals=1) >>')
    assert "is no list" in project.error('<< vector("triangle.all.difference", decimals=1) >>')


def test_text_of_a_record_is_escaped_everywhere(project: Project) -> None:
    html = project.html(
        '<< text("toy.all.sample", block=True) >>\n\n![a << text("toy.all.sample") >>](x.png)'
    )
    assert "To be &lt;b&gt;or&lt;/b&gt;\n*not* $x$</span></pre>" in html
    assert 'alt="a To be &lt;b&gt;or&lt;/b&gt; *not* $x$"' in html
    assert "<b>" not in html.replace("bk-numbers", "")
    assert "</script>" not in html.split('class="bk-numbers"')[1].rsplit("</script>", 1)[0]


def test_a_machine_with_an_evil_name_is_escaped(project: Project) -> None:
    evil = '<img src=x onerror="alert(1)">*'
    book = FakeBook(quantity("cost.n.time_ms", 1.5, unit="ms", machine_dependent=True, device=evil))
    cell = '["x", num("cost.n.time_ms", decimals=1)]'
    project.chapter(
        "02-average",
        '<< num("cost.n.time_ms", decimals=1, beside_machine=True) >>\n\n'
        + table(cell, ", beside_machine=True"),
    )
    project.chapter("ledger", "<< ledger() >>")
    for page in render.pages("pt", book):  # type: ignore[arg-type]
        html = html_of(page)
        assert "<img" not in html
        assert "&lt;img src=x" in html


def test_a_bare_value_is_not_printed(project: Project) -> None:
    assert "printed without a format" in project.error('<< q("averages.mean.perplexity") >>')
    assert "printed as it is" in project.error("<< 1 + 1 >>")


# ---------------------------------------------------------------------------- machines


def test_a_time_stands_only_as_ratio_or_beside_its_machine(project: Project) -> None:
    error = project.error('a\n\n<< num("cost.n_64.time_ms", decimals=1, unit="ms") >>')
    assert error.startswith("chapters/02-average/pt.md.j2:6: cost.n_64.time_ms belongs to")
    html = project.html(
        '<< num("cost.n_64.time_ms", decimals=1, unit="ms", beside_machine=True) >>'
    )
    assert text_of(html) == "3,1\u00a0ms (processador Xeon, 2 threads)"
    ratio = 'q("cost.n_64.time_ms") / q("cost.n_64.time_ms")'
    assert text_of(project.html(f"<< num({ratio}, decimals=1) >>")) == "1,0"
    two = 'q("cost.n_64.time_ms") / q("gpu.n_64.time_ms")'
    assert "different machines" in project.error(f"<< num({two}, decimals=1) >>")


def table(cells: str, more: str = "") -> str:
    call = f'<% call table("t", columns=["a", "b"], rows=[{cells}]{more}) %>'
    return f"{call}\nUma legenda.\n<% endcall %>\n"


def test_a_table_names_the_machine_once(project: Project) -> None:
    cell = '["x", num("cost.n_64.time_ms", decimals=1)]'
    assert "belongs to the machine" in project.error(table(cell))
    html = project.html(table(cell, ", beside_machine=True"))
    assert 'class="fig__note">Medido em: processador Xeon, 2 threads.</p>' in html


def test_a_table_of_two_machines_says_so(project: Project) -> None:
    cells = (
        '["x", num("gpu.n_64.flops", decimals=1)],'
        '["y", num("averages.mean.perplexity", decimals=1)]'
    )
    assert (
        "Esta tabela reúne medidas de mais de uma máquina: processador H200; processador Xeon."
        in (project.html(table(cells)))
    )
    assert "more than one machine" in project.html(table(cells), "en")


def test_shares_that_miss_100_are_said(project: Project) -> None:
    cells = ", ".join(f'["{name}", num("share.{name}.of", percent=0)]' for name in "abc")
    assert "não somam 100%" in project.html(table(cells))
    assert "do not add up to 100%" in project.html(table(cells), "en")
    assert "100%" not in project.html(table('["a", num("share.a.of", percent=0)]'))


# ---------------------------------------------------------------------------- blocks


def test_a_table_has_its_parts(project: Project) -> None:
    body = """<% call table("averages", columns=["linha", "p $x$", "sementes"], rows=[
  ["`mean`", num("averages.mean.perplexity", spread=True), seeds("averages.mean.perplexity")],
  ["none", num("averages.none.perplexity", spread=True), seeds("averages.none.perplexity")],
], hot=1) %>
A média *piora*: << num("averages.mean.perplexity", decimals=1) >>.
<% endcall %>
"""
    html = project.html(body)
    assert '<figure class="fig fig--t" id="table-averages">' in html
    assert "<b>Tabela 2.1.</b> A média <em>piora</em>: <span" in html
    assert '<th scope="row"><code>mean</code></th>' in html
    assert '>59,9</span> <span class="pm">±\u00a00,3</span></td>' in html
    assert '<tr class="hot">\n<th scope="row">none' in html
    assert '<th class="strip" scope="col">sementes<small>20 a 70</small></th>' in html
    assert html.count('<circle cx="') == 6
    assert "\ue000" not in html
    assert "markdown=" not in html


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ('["x"]', "row 1 has 1 cells for 2 columns"),
        ('["x", 3]', "a cell holds 3"),
        ('["x", q("averages.mean.perplexity")]', "a number comes from num"),
    ],
)
def test_a_bad_table_says_so(project: Project, cells: str, says: str) -> None:
    assert says in project.error(table(cells))


def test_a_figure_is_inlined_twice_with_its_links(project: Project) -> None:
    for width in ("wide", "narrow"):
        chart = f"<svg><title>{width}</title></svg>"
        (paths.DRAWN / f"bars.pt.{width}.svg").write_text(chart)
    (paths.DRAWN / "bars.json").write_text('{"paths": ["averages.mean.perplexity"]}')
    body = """<% set alt %>Barras até
<< num("averages.mean.perplexity", decimals=1) >> "x".<% endset %>
<% call figure("bars", alt=alt) %>
A média perde.
<% endcall %>
"""
    page = project.page(body)
    html = html_of(page)
    assert 'aria-label="Barras até 59,9 &quot;x&quot;."' in html
    assert '<svg aria-hidden="true" focusable="false"><title>wide</title></svg></div>' in html
    assert "narrow</title>" in html
    assert '<a href="../data/bars.csv">dados</a>' in html
    assert '<a href="../source/figures/bars/">código</a>' in html
    assert "medido em 3\u00a0min 45\u00a0s" in html
    assert page.figures == ("bars",)
    assert page.drawn_paths == {"averages.mean.perplexity"}


def test_a_missing_figure_names_its_command(project: Project) -> None:
    error = project.error('<% call figure("bars", alt="x") %>c<% endcall %>')
    assert "python -m figures draw bars" in error


def test_listings_with_and_without_equations(project: Project) -> None:
    html = project.html('<% call listing("model/m.py", "head") %>\nA cabeça.\n<% endcall %>\n')
    assert '<figure class="fig fig--l" id="listing-head">' in html
    assert "<b>Listagem 2.1.</b> A cabeça." in html
    assert '<a href="../source/model/m/#L2"><code>model/m.py</code></a>' in html
    assert '<span class="c1 sh"># (B,)</span>' in html
    steps = 'equations=["x_1 = 1"], rings={"x = 1": 1}'
    html = project.html(f'<% call listing("model/m.py", "head", {steps}) %>\nA.\n<% endcall %>\n')
    assert '<div class="eqcode" id="listing-head">' in html
    assert r"\(\displaystyle x_1 = 1\)" in html
    assert '<span class="mk" data-s="1"></span>' in html
    assert "steps that equations does not have" in project.error(
        '<% call listing("model/m.py", "head", rings={"x = 1": 2}) %>\nA.\n<% endcall %>\n'
    )


def test_exercises_summary_note_sides(project: Project) -> None:
    html = project.html(
        """<% call summary() %>
1. Uma.
2. Duas.
<% endcall %>

<% call note() %>À *margem*.<% endcall %>

<% set said %>“Sempre.”<% endset %>
<% set verdict %>**Em parte.** $x$<% endset %>
<< sides(source=said, source_ref=cite("vaswani2017"), measured="Não.", verdict=verdict) >>

## Exercícios { #exercises }

<% call exercise("median") %>
Quanto é $x$?
<% call answer() %>
Isto:

    codigo
<% endcall %>
<% endcall %>
"""
    )
    assert '<section class="sum">\n<h2 id="summary">Em três linhas</h2>\n<ol>' in html
    assert '<aside class="note">À <em>margem</em>.</aside>' in html
    assert '<div class="sm__s">' in html
    assert "(Vaswani et al., 2017)" in text_of(html)
    assert "<strong>Em parte.</strong>" in html
    assert '<h2 id="exercises">Exercícios</h2>' in html
    assert (
        '<div class="ex" id="exercise-median">\n<p class="ex__q"><b>2.1</b><span>Quanto é ' in html
    )
    assert "<summary>Resposta</summary>" in html
    assert "<pre>" in html.split("</summary>")[1]


def test_an_exercise_without_answer_says_so(project: Project) -> None:
    assert "needs one answer" in project.error('<% call exercise("a") %>x<% endcall %>')


# ---------------------------------------------------------------------------- links


def test_references_find_tables_before_and_after(project: Project) -> None:
    project.chapter(
        "03-next",
        'Ver << see("table", "t", chapter="02-average", capital=True) >> '
        'e << ref("02-average", "one") >>, << ref("02-average", number=True) >>.',
    )
    page = project.page(
        'Na << see("table", "t") >>, << see("section", "one") >>, '
        '<< see("equation", "mean") >>.\n\n'
        "## Uma seção { #one }\n\n"
        + table('["x", "y"]')
        + "\n$$\n\\bar x = \\frac1n \\label{mean}\n$$\n",
        front="title: A média & tal\n",
    )
    html = html_of(page)
    assert '<a href="#table-t">tabela\u00a02.1</a>' in html
    assert '<a href="#one">seção\u00a02.1</a>' in html
    assert '<a href="#equation-mean">equação\u00a0(2.1)</a>' in html
    assert r"\frac1n \tag{2.1}" in html
    assert '<div class="eq" id="equation-mean">' in html
    other = html_of(next(p for p in project.pages() if p.slug == "03-next"))
    assert '<a href="02-average.md#table-t">Tabela\u00a02.1</a>' in other
    assert '<a href="02-average.md#one">A média &amp; tal</a>' in other
    assert '<a href="02-average.md">capítulo\u00a02</a>' in other


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ('<< see("table", "none") >>', ":5: there is no table 'none' in 02-average"),
        ('<< ref("02-averag") >>', "no chapter '02-averag' (did you mean 02-average?)"),
        ('<< cite("vaswani2071") >>', "did you mean vaswani2017?"),
        ('<< const("yeer") >>', "did you mean year?"),
        ('\n<< num("no.such.path", decimals=1) >>', ":6: nothing lies under no.such.path"),
        ("\n\n<< nothing >>", ":7: 'nothing' is undefined"),
        ("<< num( >>", ":5: "),
        ("<% if x %>", ":5: "),
        ('<< num("averages.mean.perplexity") >>', ":5: averages.mean.perplexity: a number needs"),
        (
            '<< num("averages.mean.perplexity", decimal=1) >>',
            "unexpected keyword argument 'decimal'",
        ),
        (
            '<< num("averages.mean.parameters", integer=True, unit="ms") >>',
            "measured in 'parameter'",
        ),
        ("# Título\n", ":5: a chapter's title stands in its front matter"),
        ("## Sem âncora\n", ":5: the heading 'Sem âncora' needs an anchor"),
        ("## A { #a }\n\n## B { #a }\n", ":7: the anchor #a stands twice"),
        (table('["x", "y"]') * 2, "table 't' stands twice"),
        ('<< widget("none") >>', "no panel 'none'"),
        ('<% call table("t", columns=["a"], rows=[["x"]]) %><% endcall %>', "needs a caption"),
    ],
)
def test_mistakes_name_file_and_line(project: Project, body: str, says: str) -> None:
    error = project.error(body, front="title: T\nconstants: {year: {value: 2017, why: w}}\n")
    assert error.startswith("chapters/02-average/pt.md.j2:")
    assert says in error
    assert "\n" not in error


# ---------------------------------------------------------------------------- claims

CLAIM = """
[worse]
pt = "A média fica em << num('averages.mean.perplexity', decimals=1) >>, *pior*."
en = "The mean stays at << num('averages.mean.perplexity', decimals=1) >>, *worse*."
source = "vaswani2017"
expected = "{expected}"
ratio = {{of = ["averages.mean.perplexity", "averages.none.perplexity"], at_least = {least}}}
"""


def with_claim(project: Project, expected: str, least: float, language: Language = "pt") -> Page:
    project.chapter("02-average", '<< claim("worse") >>\n\n<< see("claim", "worse") >>')
    file = project.root / "chapters" / "02-average" / "claims.toml"
    file.write_text(CLAIM.format(expected=expected, least=least), encoding="utf-8")
    return next(p for p in project.pages(language) if p.slug == "02-average")


def test_a_claim_that_holds(project: Project) -> None:
    page = with_claim(project, "holds", 1.5)
    html = html_of(page)
    assert '<div class="claim" data-state="holds" id="claim-worse">' in html
    assert "Afirmação 2.1" in html
    assert "Sustenta-se</span>" in html
    assert 'A média fica em <span class="num"' in html
    assert "<em>pior</em>" in html
    assert "(Vaswani et al., 2017)" in text_of(html)
    said = "Critério: <code>averages.*.perplexity</code> (<code>mean</code> / <code>none</code>): "
    assert said + "no mínimo 1,5, em cada semente." in html
    assert "Medido: 2,00\u00a0±\u00a00,02, em três\u00a0sementes." in text_of(html)
    assert 'aria-label="O que foi medido cai dentro da faixa do critério"' in html
    assert '<a href="#claim-worse">afirmação\u00a02.1</a>' in html
    assert [(c.claim, c.state, c.expected) for c in page.claims] == [("worse", "holds", "holds")]
    assert "Criterion: " in html_of(with_claim(project, "holds", 1.5, "en"))


def test_a_claim_over_fewer_seeds_than_its_spread_says_which_are_compared(
    project: Project,
) -> None:
    text = CLAIM.format(expected="holds", least=1).replace(".none.", ".first.")
    project.chapter("02-average", '<< claim("worse") >>')
    file = project.root / "chapters" / "02-average" / "claims.toml"
    alone = 'between = {of = "averages.first.perplexity", at_most = 60}\n'
    both = 'less = ["averages.first.perplexity", "averages.mean.perplexity"]\n'
    two = 'less = ["averages.second.perplexity", "averages.mean.perplexity"]\n'
    for predicate, said in (
        (both, "comparados em uma semente em comum; ± em três sementes."),
        (two, "comparados em duas sementes em comum; ± em duas / três sementes."),
        (alone, "numa só semente: sem dispersão."),
    ):
        file.write_text(text[: text.index("ratio =")] + predicate, encoding="utf-8")
        page = next(page for page in project.pages("pt") if page.slug == "02-average")
        html = text_of(html_of(page)).replace("\u00a0", " ")
        assert said in html
        assert ("em cada semente" in html) == (predicate == two)


def test_a_tolerance_is_drawn_from_the_smallest_value_on(project: Project) -> None:
    text = CLAIM.format(expected="holds", least=1)
    project.chapter("02-average", '<< claim("worse") >>')
    file = project.root / "chapters" / "02-average" / "claims.toml"
    of = '["averages.mean.perplexity", "averages.none.perplexity"]'
    bands: list[float] = []
    for tolerance, holds in (("relative = 1.5", True), ("relative = 0.5", False)):
        text = text.replace('"holds"', '"holds"' if holds else '"not_reproduced"')
        predicate = f"same = {{of = {of}, {tolerance}}}\n"
        file.write_text(text[: text.index("ratio =")] + predicate, encoding="utf-8")
        html = html_of(next(page for page in project.pages("pt") if page.slug == "02-average"))
        assert ("cai dentro da faixa" if holds else "cai fora da faixa") in html
        low, high = map(float, re.findall(r'd="M([\d.]+) 2H([\d.]+)v22', html)[0])
        small, large = sorted(map(float, re.findall(r'<circle cx="([\d.]+)" cy="14"', html)))
        assert low == small
        assert (large <= high) is holds
        bands.append((high - low) / (large - small))
    assert bands == pytest.approx([1.5, 0.5], rel=0.05)  # one value is about twice the other


def test_a_claim_that_was_not_reproduced(project: Project) -> None:
    html = html_of(with_claim(project, "not_reproduced", 3))
    assert '<div class="claim claim--fails" data-state="not_reproduced"' in html
    assert "Não se reproduziu</span>" in html
    assert 'stroke="var(--fails)"' in html
    assert "unexpected" not in html


def test_a_claim_with_another_outcome_than_the_text_expects_says_so(project: Project) -> None:
    page = with_claim(project, "holds", 3)
    html = html_of(page)
    assert 'class="claim claim--fails claim--unexpected"' in html
    assert "Não se sustenta</span>" in html
    assert "O texto conta com outro desfecho (sustenta-se)" in html
    assert page.claims[0].state == "not_reproduced"


def test_a_claim_that_there_is_not(project: Project) -> None:
    assert "no claim 'none' in claims.toml" in project.error('<< claim("none") >>')


# ---------------------------------------------------------------------------- the whole book


def test_pages_are_in_reading_order_with_their_front_matter(project: Project) -> None:
    number = '<< num("averages.mean.perplexity", decimals=1) >>'
    front = (
        f"title: T {number}\nquestion: Até {number}?\nneeds: [01-first]\nafter: Sabe {number}.\n"
    )
    project.chapter("ledger", "<< ledger() >>", "title: Livro-razão\norder: 1\n")
    project.chapter("bibliography", "<< bibliography() >>", "title: Obras\norder: 2\n")
    project.chapter("index", "<< contents() >>", "title: Livro\n")
    project.chapter("02-average", f'{number} << cite("vaswani2017") >>', front)
    project.chapter("01-first", "x", "title: Primeiro\n")
    pages = project.pages()
    order = ["index", "01-first", "02-average", "ledger", "bibliography"]
    assert [page.slug for page in pages] == order
    page = pages[2]
    assert render.finish_text(page.meta["question"], page) == "Até 59,9?"
    assert page.meta["chapter"] == 2
    need = {"name": "1 Primeiro", "slug": "01-first", "url": "01-first/", "number": 1}
    assert page.meta["needs"] == [need]
    assert page.meta["measured"] == (
        "Um número, de um experimento; tempo de medida: 3\u00a0min 45\u00a0s."
    )
    assert pages[1].meta["measured"] == ""
    assert page.url == "02-average/"
    assert page.src_uri == "02-average.md"
    home = html_of(pages[0])
    assert '<span class="secno">2</span> <a href="02-average.md">T 59,9</a>' in home
    assert '<span class="contents__q">Até 59,9?</span>' in home
    works = html_of(pages[4])
    assert (
        '<li id="vaswani2017">Vaswani, A; Shazeer, N; Parmar, N (2017). <cite>All</cite>.' in works
    )
    assert 'Citado em <a href="02-average.md">T 59,9</a>' in works
    assert "Never" not in works
    book = html_of(pages[3])
    assert "<code>averages.mean.perplexity</code>" in book
    assert '<a href="../records/averages/mean.s0.json">averages/mean.s0</a>' in book
    assert '<a href="../02-average/">2</a>' in book
    assert "<p><div" not in book
    csv = pages[3].assets["ledger/ledger.csv"].splitlines()
    assert csv[0].startswith("path,seed,value,unit,record")
    assert csv[1].startswith("averages.mean.perplexity,0,59.6,1,averages/mean.s0,cpu Xeon,2026")
    assert len(csv) == 4


def test_the_same_template_gives_the_same_keys_whatever_was_measured(project: Project) -> None:
    body = '<< num("averages.mean.perplexity", decimals=1) >>'
    before = details_of(project.html(body)).keys()
    book = FakeBook(quantity("averages.mean.perplexity", 1.01, 1.03, 1.35))
    page = render.pages("pt", book)[0]  # type: ignore[arg-type]
    assert details_of(html_of(page)).keys() == before


def test_while_serving_mistakes_are_said_on_their_page(project: Project) -> None:
    project.chapter("02-average", '<< num("no.such", decimals=1) >> e << see("table", "x") >>')
    project.chapter("03-next", "Bom.")
    bad, good = project.pages(serving=True)
    assert [mistake.line for mistake in bad.mistakes] == [4, 4]
    html = html_of(bad)
    assert '<div class="bk-problem" role="alert" data-search-exclude>' in html
    assert "nothing lies under no.such" in html
    assert "⚠ e" in html
    assert good.mistakes == ()
    with pytest.raises(RenderError, match=r"\(and 1 more mistakes\)$"):
        project.pages()


def test_a_stale_number_is_marked_while_serving(project: Project) -> None:
    book = FakeBook(quantity("averages.mean.perplexity", 1.0, stale=True))
    project.chapter("02-average", '<< num("averages.mean.perplexity", decimals=1) >>')
    html = html_of(render.pages("pt", book, serving=True)[0])  # type: ignore[arg-type]
    assert 'class="num num--stale"' in html
    assert next(iter(details_of(html).values()))["stale"] is True


@pytest.mark.parametrize(
    ("front", "says"),
    [
        ("title: T\nauthor: me\n", "pt.md.j2:3: front matter: author is not one of"),
        ("question: x\n", "title is missing"),
        ("title: 3\n", "title is text"),
        ("title: T\nneeds: 02\n", "needs is a list"),
        ("title: T\nneeds: [nothing]\n", "pt.md.j2:3: needs: there is no chapter 'nothing'"),
        ("title: T\nconstants: {a: {value: 1}}\n", "a needs a value and a reason"),
        ("title: [\n", "front matter: "),
        ('title: << num("no.such", decimals=1) >>\n', "pt.md.j2:2: nothing lies under no.such"),
    ],
)
def test_bad_front_matter(project: Project, front: str, says: str) -> None:
    assert says in project.error("x", front=front)


def test_a_missing_translation_is_named(project: Project) -> None:
    project.chapter("02-average", "x")
    (project.root / "chapters" / "02-average" / "en.md.j2").unlink()
    assert project.pages("pt")
    with pytest.raises(RenderError, match=r"02-average/en\.md\.j2 is missing"):
        project.pages("en")


def test_tex_and_code_keep_their_braces(project: Project) -> None:
    html = project.html("${{x}}$ e $a_{%}$\n\n```python\nx = f'{{y}}' # {% z %}\n```\n")
    assert r"\({{x}}\)" in html
    assert r"\(a_{%}\)" in html
    assert "{{y}}' # {% z %}" in re.sub("<[^>]+>", "", html)


def test_headings_and_labels_in_code_are_left_alone(project: Project) -> None:
    page = project.page("```python\n# a comment\n## another\n```\n\n## Real { #real }\n")
    assert "# a comment\n## another" in page.markdown
    assert 'secno">2.1' in page.markdown


def test_constants_are_typed_with_a_reason(project: Project) -> None:
    front = "title: T\nconstants:\n  year: {value: 2017, why: w}\n  rate: {value: 0.25, why: w}\n"
    front += "  exact: {value: 0.50, why: w}\n  small: {value: 0.00001, why: w}\n"
    html = project.html(
        '<< const("year") >> e << const("rate") >> e $<< const("rate") >>$, '
        '<< const("exact") >>, << const("small") >>',
        front=front,
    )
    assert text_of(html) == r"2017 e 0,25 e \(0{,}25\), 0,50, 0,00001"
    assert "bk-numbers" not in html


def test_a_panel_is_a_template_with_the_same_functions(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project.root / "templates"
    (folder / "widgets").mkdir(parents=True)
    for name in ("shapes.md.j2", "words.toml"):
        (folder / name).write_text((REAL_TEMPLATES / name).read_text(encoding="utf-8"))
    (folder / "widgets" / "dice.md.j2").write_text(
        '<div class="panel" id="<< anchor >>"><< label >> '
        '<< num("averages.mean.perplexity", decimals=1) >></div>'
    )
    monkeypatch.setattr(paths, "TEMPLATES", folder)
    html = project.html('<< widget("dice") >>')
    assert '<div class="panel" id="panel-dice">Painel 2.1 <span class="num"' in html


def test_preview_shows_numbers_and_mistakes(project: Project) -> None:
    project.chapter("02-average", 'Até << num("averages.mean.perplexity", decimals=1) >>.')
    text, mistakes = render.preview("02-average", "pt", BOOK)  # type: ignore[arg-type]
    assert "Até 59,9." in text
    assert mistakes == []
    rings = 'equations=["a"], rings={"x = 1": 1}'
    project.chapter(
        "02-average", f'<% call listing("model/m.py", "head", {rings}) %>A.<% endcall %>'
    )
    text, mistakes = render.preview("02-average", "pt", BOOK)  # type: ignore[arg-type]
    assert "x = 1  # (B,)  (1)\n" in text
    assert mistakes == []
    with pytest.raises(RenderError, match="there are: 02-average"):
        render.preview("03-none", "pt", BOOK)  # type: ignore[arg-type]


# ---------------------------------------------------------------------------- symbols

SYMBOLS = """
[sizes]
pt = "Tamanhos."
en = "Sizes."
[[sizes.symbols]]
tex = "x, x_t"
pt = "uma largura"
en = "a width"
code = ["model/m.py:x"]
where = ["02-average#scale", "02-average"]
"""


def with_symbols(project: Project, symbols: str = SYMBOLS) -> str:
    folder = project.root / "chapters" / "02-average"
    folder.mkdir(exist_ok=True)
    (folder / "notation.toml").write_text(symbols, encoding="utf-8")
    return '## Escala { #scale }\n\n<< notation("sizes") >>\n'


def test_a_group_of_symbols_links_each_name_to_its_line(project: Project) -> None:
    html = project.html(with_symbols(project))
    assert '<th scope="row"><span class="arithmatex">\\(x, x_t\\)</span></th>' in html
    assert "<td>uma largura</td>" in html
    assert re.search(r'<td><a href="[^"]*source/model/m/#L2"><code>x</code></a></td>', html)
    assert (
        '<a href="#scale">seção\u00a02.1</a>, <a href="02-average.md">capítulo\u00a02</a>' in html
    )
    assert "formato" not in html
    assert "a width" in project.html(with_symbols(project), "en")


def test_few_names_of_code_stand_with_the_words(project: Project) -> None:
    more = (
        '[[sizes.symbols]]\ntex = "a"\npt = "outra"\nen = "other"\nshape = "(a), (b)"\nwhere = []\n'
    )
    html = project.html(with_symbols(project, SYMBOLS + 4 * more))
    assert re.search(r"<td>uma largura \(<a [^>]*><code>x</code></a>\)</td>", html)
    assert "no código" not in html
    a, b = (f'<span class="arithmatex">\\({name}\\)</span>' for name in ("(a)", "(b)"))
    assert f"<td>{a}, {b}</td>" in html


@pytest.mark.parametrize(
    ("symbols", "said"),
    [
        (SYMBOLS.replace("m.py:x", "m.py:y"), "model/m.py: the name y does not stand there"),
        (SYMBOLS.replace("m.py:x", "n.py:x"), "model/n.py: cannot be read"),
        (SYMBOLS.replace("sizes", "size"), "has no group 'sizes' (did you mean size?)"),
        (SYMBOLS.replace("#scale", "#scales"), "there is no section 'scales' in 02-average"),
        (SYMBOLS.replace("[sizes]", "[sizes"), "notation.toml: "),
    ],
)
def test_what_the_notation_names_must_be_there(project: Project, symbols: str, said: str) -> None:
    assert said in project.error(with_symbols(project, symbols))
