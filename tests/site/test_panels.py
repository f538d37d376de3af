"""Do the panels compute what the book measured, and can everyone use them?

`panels` is a small book of two chapters around the real panels, with the real records; what the
page computes is held against those, and against engine/number.py.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.site import tree
from tests.site.conftest import Site, free_port, serving
from tests.site.tree import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("panels")]

RECORDS = ("block_panel", "dot_variance", "saturation", "softmax_jacobian")
CHAPTERS = {
    "index": {"pt": "[bloco](17-block.md)", "en": "[block](17-block.md)"},
    "05-why-divide": {"pt": '<< widget("scale-slider") >>', "en": '<< widget("scale-slider") >>'},
    "17-block": {"pt": '<< widget("block-panel") >>', "en": '<< widget("block-panel") >>'},
}


def grow(folder: Path) -> Path:
    tree.plant(folder, "experiments", "model")
    for name in RECORDS:
        shutil.copytree(ROOT / "results" / name, folder / "results" / name)
    for slug, texts in CHAPTERS.items():
        for language, text in texts.items():
            chapter = folder / "chapters" / slug / f"{language}.md.j2"
            chapter.parent.mkdir(parents=True, exist_ok=True)
            chapter.write_text(f"---\ntitle: {slug}\nquestion: Q?\n---\n\n{text}\n")
    shutil.copy2(ROOT / "chapters" / "labels.toml", folder / "chapters" / "labels.toml")
    return folder


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """In this file `read` opens pages of this book."""
    book, port = grow(tmp_path_factory.mktemp("panels")), free_port()
    url = f"http://127.0.0.1:{port}/"
    built = tree.mkdocs(book, "build", "--strict", SITE_URL=url)
    assert built.returncode == 0, built.stdout + built.stderr
    with serving(book / "build" / "site", port):
        yield Site(book, book / "build" / "site", url)
