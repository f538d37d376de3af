"""Does the build give both editions, whole, and does it stop at what is broken?"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from engine import links
from tests.site import tree
from tests.site.conftest import Site

pytestmark = pytest.mark.xdist_group("site")

EDITIONS = {"": "pt-BR", "en/": "en"}
QUOTED = re.compile(r"<(pre|code|script|style|template|annotation)\b.*?</\1>", re.DOTALL)


def page(site: Site, address: str) -> str:
    return (site.folder / address / "index.html").read_text(encoding="utf-8")


def text_of(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", QUOTED.sub("", markup)))


@pytest.mark.parametrize(("edition", "language"), EDITIONS.items())
def test_every_page_names_its_language(site: Site, edition: str, language: str) -> None:
    for address in ("", "02-average/", "notation/", "source/model/listed/"):
        assert f'<html lang="{language}"' in page(site, edition + address)


def test_both_editions_have_the_same_pages(site: Site) -> None:
    def pages(folder: Path) -> set[str]:
        found = {p.parent.relative_to(folder).as_posix() for p in folder.rglob("index.html")}
        return {address for address in found if address.split("/")[0] != "en"}

    assert pages(site.folder) == pages(site.folder / "en")
    assert {"02-average", "05-why-divide", "notation"} <= pages(site.folder)


def test_no_mark_and_no_bracket_of_a_template_survives(site: Site) -> None:
    for path in site.folder.rglob("*.html"):
        markup = path.read_text(encoding="utf-8")
        assert not re.search("[\ue000-\uf8ff]", markup), path
        shown = text_of(markup)
        for bracket in ("{{", "}}", "<<", "<%", "{%"):
            assert bracket not in shown, (path, bracket)
    for path in site.folder.rglob("search_index.json"):
        assert not re.search("[\ue000-\uf8ff]", path.read_text(encoding="utf-8"))


def test_a_number_stands_in_title_heading_contents_and_alternative_text(site: Site) -> None:
    portuguese, english = page(site, "02-average"), page(site, "en/02-average")
    assert "<title>2 A média e 59,710 ± 0,010 · Atenção, medida</title>" in portuguese
    assert "<title>2 The average and 59.710 ± 0.010 · Attention, Measured</title>" in english
    contents = portuguese[portuguese.index('class="md-nav md-nav--secondary"') :]
    assert "2.1 O que a média promete, 12,5%" in text_of(contents)
    assert 'aria-label="Barras: 59,7 e 157,0."' in portuguese
    assert 'aria-label="Bars: 59.7 and 157.0."' in english
    assert "Quanto mede 21?" in text_of(page(site, ""))


def test_a_formula_is_right_without_script_and_its_source_is_clean(site: Site) -> None:
    portuguese, english = page(site, "02-average"), page(site, "en/02-average")
    assert "<mn>59,71</mn>" in portuguese
    assert "<mn>59.71</mn>" in english
    assert re.search(r'class="enclosing num" data-n="\w+"', portuguese)
    for annotation in re.findall(r"<annotation.*?</annotation>", portuguese, re.DOTALL):
        assert "htmlData" not in annotation
    assert 'class="katex-tag"' in portuguese
    assert r"\(" not in text_of(portuguese)


def test_every_number_leads_to_its_record_and_source(site: Site) -> None:
    portuguese = page(site, "02-average")
    details = re.search(
        r'<template class="bk-numbers"[^>]*>(.*?)</template>', portuguese, re.DOTALL
    )
    assert details
    numbers = json.loads(details[1])
    used = set(re.findall(r'data-n="(\w+)"', portuguese))
    assert used
    assert used <= set(numbers)
    assert "<script type" not in details[0]
    record = json.loads((site.folder / "records/toy/none.s1.json").read_text(encoding="utf-8"))
    assert record["values"]["perplexity"] == pytest.approx(59.71)
    source = page(site, "source/experiments/toy")
    assert 'id="measure"' in source
    assert 'id="L10"' in source
    assert (site.folder / "data/toy_rows.csv").is_file()
    assert not (site.folder / "en/records").exists()


def test_the_two_indexes_of_search_do_not_mix(site: Site) -> None:
    def index(edition: str) -> str:
        return (site.folder / edition / "search/search_index.json").read_text(encoding="utf-8")

    portuguese, english = index(""), index("en")
    assert "59,71" in portuguese
    assert "59.71" in english
    assert "59,71" not in english
    assert "Attention begins" not in portuguese
    assert "atenção começa" not in english
    for text in (portuguese, english):
        assert "record_url" not in text
        assert "htmlData" not in text
        assert '"location":"source/' not in text


def test_search_sees_apart_what_the_eye_sees_apart(site: Site) -> None:
    index = json.loads((site.folder / "search/search_index.json").read_text(encoding="utf-8"))
    words = {word for entry in index["docs"] for word in text_of(entry["text"]).split()}
    assert {"só", "1.115.394", "59,710", "2.1", "Troque", "símbolo", "formato"} <= words


def test_nothing_is_asked_of_another_host_and_every_link_leads_somewhere(site: Site) -> None:
    assert list(links.broken(site.folder)) == []


def test_licences_are_named(site: Site) -> None:
    for edition in EDITIONS:
        shown = text_of(page(site, edition + "02-average"))
        assert "CC-BY-4.0" in shown
        assert "MIT" in shown


def test_a_page_says_no_address_of_a_machine_that_only_builds_it(site: Site) -> None:
    assert 'rel="canonical"' not in page(site, "02-average")


WARNED = {
    "pt": ("[x](06-nowhere.md)", '<a href="../records/toy/none.s9.json">x</a>'),
    "en": ("[x](05-why-divide.md#nowhere)", '<img src="https://example.org/x.png" alt="x">'),
}
NAMED = ("06-nowhere.md", "none.s9.json", "#nowhere", "example.org")


def test_links_that_lead_nowhere_fail_the_build_each_with_its_line(damaged: Path) -> None:
    for language, texts in WARNED.items():
        add(damaged, language, "\n\n".join(texts))
    built = tree.mkdocs(damaged, "build", "--strict")
    assert built.returncode != 0
    lines = (built.stdout + built.stderr).splitlines()
    for name in NAMED:
        assert any("WARNING" in line and name in line for line in lines), (name, lines)


STOPPED = {
    "a path that no record has": ("pt", '<< num("toy.none.nothing", decimals=1) >>', "toy.none"),
    "an unknown name": ("en", "<< nothing >>", "nothing"),
    "a formula": ("pt", r"$\nothing{x}$", r"\nothing"),
}


@pytest.mark.parametrize("what", STOPPED)
def test_what_cannot_be_shown_stops_the_build_in_one_line(damaged: Path, what: str) -> None:
    language, text, named = STOPPED[what]
    add(damaged, language, text)
    built = tree.mkdocs(damaged, "build", "--strict")
    assert built.returncode != 0
    said = built.stdout + built.stderr
    assert sum(named in line for line in said.splitlines()) == 1, said
    assert "Traceback" not in said, said


def add(book: Path, language: str, text: str) -> None:
    """Write `text` before the first section of chapter 02."""
    chapter = book / "chapters/02-average" / f"{language}.md.j2"
    written = chapter.read_text(encoding="utf-8")
    chapter.write_text(written.replace("\n## ", f"\n{text}\n\n## ", 1), encoding="utf-8")


def test_smoke_settings_have_a_site_of_their_own_and_a_published_one_names_its_address(
    damaged: Path,
) -> None:
    smoke = {"MEDIDA_SETTINGS": "smoke", "SITE_URL": "https://example.org/book/"}
    for command in (["write_records.py"], ["-m", "figures", "draw", "toy_rows"]):
        done = tree.run(damaged, [tree.PYTHON, *command], **smoke)
        assert done.returncode == 0, done.stderr
    built = tree.mkdocs(damaged, "build", "--strict", **smoke)
    assert built.returncode == 0, built.stderr
    assert not (damaged / "build/site").exists()
    shown = (damaged / "build/smoke/site/en/02-average/index.html").read_text(encoding="utf-8")
    assert '<link rel="canonical" href="https://example.org/book/en/02-average/">' in shown
