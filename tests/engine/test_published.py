"""Can a reader be sent to a definition, and to a line, of a source file?"""

from __future__ import annotations

import re

from engine import published

SOURCE = '''"""Why?"""

FULL = 1


@decorated
class Head:
    """x < y"""

    def forward(self):
        return "<b>"
'''


def test_definitions_have_their_names_and_lines() -> None:
    names = published.definitions(SOURCE)
    assert names == {3: ["FULL"], 6: ["Head"], 10: ["Head.forward"]}


def test_each_line_and_each_definition_is_an_anchor_and_the_text_is_whole() -> None:
    page = published.code_page(SOURCE)
    assert re.findall(r'id="(L\d+)"', page) == [f"L{n}" for n in range(1, 12)]
    assert '<a id="Head.forward"></a>' in page
    assert "<b>" not in page
    text = re.sub(r"<[^>]*>", "", page).replace("&lt;", "<").replace("&gt;", ">")
    assert text.replace("&quot;", '"').replace("&#39;", "'").strip() == SOURCE.strip()


def test_every_record_and_source_of_the_repository_has_an_address() -> None:
    sources = dict(published.sources())
    assert sources["source/engine/published"].name == "published.py"
    assert "source/engine" in sources
    assert all(address.startswith(("records/", "data/")) for address, _ in published.files())
