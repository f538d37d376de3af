"""Are works cited as their BibTeX says, in both languages?"""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bibliography import Entry, read_bibliography
from engine.errors import RenderError

SOURCE = r"""
@inproceedings{vaswani2017,
  author = {Vaswani, Ashish and Noam Shazeer and Niki Parmar},
  title = {Attention is All You Need}, booktitle = {NeurIPS}, year = {2017}, pages = {5998--6008},
  eprint = {1706.03762}}
@article{two, author = {Ba, Jimmy and {van den Oord}, A{\"a}ron}, title = {Norms {\&} <such>},
  journal = {J}, volume = {3}, number = {4}, year = 2016, url = {https://x.org/a_b}}
@misc{team, author = {{Meta AI}}, title = {Llama 3}, year = {2024}, url = {javascript:alert(1)}}
"""


def read(tmp_path: Path, source: str = SOURCE) -> dict[str, Entry]:
    path = tmp_path / "references.bib"
    path.write_text(source, encoding="utf-8")
    return read_bibliography(path)


def test_short_forms(tmp_path: Path) -> None:
    works = read(tmp_path)
    assert works["vaswani2017"].short("pt") == "Vaswani et al."
    assert works["two"].short("pt") == "Ba e van den Oord"
    assert works["two"].short("en") == "Ba and van den Oord"
    assert works["team"].short("en") == "Meta AI"
    assert list(works) == ["two", "team", "vaswani2017"]


def test_the_line_is_escaped_and_links_only_to_the_web(tmp_path: Path) -> None:
    works = read(tmp_path)
    line = works["two"].line("pt")
    assert "<cite>Norms &amp; &lt;such&gt;</cite>" in line
    assert "van den Oord, Aäron" in line
    assert 'href="https://x.org/a_b"' in line
    assert "J 3(4)." in line
    assert "Em NeurIPS, 5998–6008." in works["vaswani2017"].line("pt")
    assert "https://arxiv.org/abs/1706.03762" in works["vaswani2017"].line("en")
    assert "href" not in works["team"].line("en")


def test_the_list_is_by_family_given_name_and_year(tmp_path: Path) -> None:
    people = ["Yang, Zhilin", "Yang, Greg", "Öz, B", "Oz, A", "Yang, Greg and Hu, E"]
    works = read(
        tmp_path,
        "\n".join(
            f"@misc{{k{i}, author={{{who}}}, title={{T}}, year={{{2020 - i}}}}}"
            for i, who in enumerate(people)
        ),
    )
    assert list(works) == ["k3", "k2", "k1", "k4", "k0"]


def test_works_that_a_sentence_would_not_tell_apart_get_letters(tmp_path: Path) -> None:
    he = "author={He, K and Zhang, X and Ren, S}, year={2016}"
    other = "author={He, K and Zhang, X and Ren, S}, year={2017}"
    works = read(
        tmp_path,
        f"@misc{{b, {he}, title={{Identity}}}}\n@misc{{a, {he}, title={{Deep}}}}\n"
        f"@misc{{c, {other}, title={{Later}}}}",
    )
    assert [(key, work.year) for key, work in works.items()] == [
        ("a", "2016a"),
        ("b", "2016b"),
        ("c", "2017"),
    ]
    assert "(2016a)." in works["a"].line("en")


@pytest.mark.parametrize("end", ["?", "!"])
def test_a_title_that_ends_by_itself_gets_no_full_stop(tmp_path: Path, end: str) -> None:
    works = read(tmp_path, f"@misc{{a, author={{A, B}}, title={{Really{end}}}, year={{2020}}}}")
    assert works["a"].line("pt").endswith(f"<cite>Really{end}</cite>")


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("@misc{a, title={x}}", "a has no year"),
        ("@misc{a, title={x}, year=1}\n@misc{a, title={y}, year=2}", ":2: a key is given twice"),
        ("@misc{a, title={x}", "bad BibTeX"),
    ],
)
def test_a_bad_file_is_one_clear_line(tmp_path: Path, source: str, says: str) -> None:
    with pytest.raises(RenderError, match=says):
        read(tmp_path, source)


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(RenderError, match=r"none\.bib: cannot be read"):
        read_bibliography(tmp_path / "none.bib")
