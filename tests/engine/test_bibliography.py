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
