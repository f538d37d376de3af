"""Does `mkdocs serve` alone show both languages, and every change of what a page is made from?"""

from __future__ import annotations

import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.site import tree
from tests.site.conftest import free_port

pytestmark = pytest.mark.xdist_group("site")

PATIENCE = 300  # seconds, on a machine that does other things too


class Server:
    """`mkdocs serve` in a tree, with what it said."""

    def __init__(self, book: Path, said: Path) -> None:
        self.book, self.said = book, said
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/"
        with said.open("w") as out:
            self.process = subprocess.Popen(
                [tree.PYTHON, "-m", "mkdocs", "serve", "--dev-addr", f"127.0.0.1:{port}"],
                cwd=book,
                env=tree.env(book),
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def page(self, address: str) -> str:
        """The page without the places where a line may end, which are no part of what it says."""
        try:
            with urllib.request.urlopen(self.url + address, timeout=PATIENCE) as answer:
                return str(answer.read().decode()).replace("<wbr>", "")
        except urllib.error.HTTPError as answer:
            return str(answer.read().decode())
        except OSError:
            return ""

    def until(self, address: str, right: Callable[[str], bool]) -> str:
        start = time.monotonic()
        while not right(shown := self.page(address)):
            assert self.process.poll() is None, self.said.read_text()
            assert time.monotonic() - start < PATIENCE, (shown[-2000:], self.said.read_text())
            time.sleep(0.3)
        return shown


@pytest.fixture(scope="module")
def server(book: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("served")
    grown = folder / "book"
    tree.run(folder, ["cp", "-a", str(book), str(grown)])
    started = Server(grown, folder / "said")
    yield started
    started.process.terminate()
    started.process.wait(timeout=PATIENCE)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_both_languages_are_served_by_one_command(server: Server) -> None:
    assert "A atenção começa" in server.until("02-average/", lambda page: "começa" in page)
    assert "Attention begins" in server.page("en/02-average/")
    assert "This page does not exist" in server.page("en/nowhere/")


def test_a_changed_chapter_template_and_figure_are_shown(server: Server) -> None:
    server.until("02-average/", lambda page: "começa" in page)
    edit(server.book / "chapters/02-average/en.md.j2", "Attention begins", "Attention resumes")
    server.until("en/02-average/", lambda page: "Attention resumes" in page)
    edit(server.book / "templates/words.toml", "Sustenta-se", "Fica de pé")
    server.until("02-average/", lambda page: "Fica de pé" in page)
    edit(server.book / "figures/toy_rows.py", '"pt": "média"', '"pt": "soma"')
    server.until("02-average/", lambda page: ">soma<" in page)


def test_a_mistake_is_shown_in_its_page_and_the_server_goes_on(server: Server) -> None:
    server.until("02-average/", lambda page: "começa" in page)
    chapter = server.book / "chapters/02-average/pt.md.j2"
    edit(chapter, "A atenção começa", "<< nothing_of_the_kind >> A atenção começa")
    shown = server.until("02-average/", lambda page: "nothing_of_the_kind" in page)
    assert "bk-problem" in shown
    assert "pt.md.j2" in shown
    assert "bk-problem" not in server.until("05-why-divide/", bool)
    edit(chapter, "<< nothing_of_the_kind >> ", "")
    server.until("02-average/", lambda page: "começa" in page and "bk-problem" not in page)
    edit(chapter, "A soma de $x_1$", r"A soma de $\nothing$")
    server.until("02-average/", lambda page: "bk-problem" in page and "KaTeX" in page)
    edit(chapter, r"A soma de $\nothing$", "A soma de $x_1$")
    server.until("02-average/", lambda page: "começa" in page and "bk-problem" not in page)


def test_a_stale_record_is_marked_and_a_new_one_shown(server: Server) -> None:
    server.until("02-average/", lambda page: "59,71<" in page)
    edit(server.book / "experiments/toy.py", "59.71", "58.31")
    server.until("02-average/", lambda page: "num--stale" in page)
    tree.python(server.book, "write_records.py")
    server.until("02-average/", lambda page: "58,31<" in page and "num--stale" not in page)
