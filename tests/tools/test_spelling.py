"""Does the dictionary check see prose, all of it, and nothing else?"""

import pytest

from tools.spelling import Dictionary, main, prose, unknown


@pytest.fixture(scope="module")
def dictionary() -> Dictionary:
    return Dictionary()


CHAPTER = """---
title: A médiaa
needs: [xyzzy]
---
<# qqqq #>
## O pesso da máscara { #wwww .plain }

A perda cai de << num("averages.xyzzy", decimals=2) >> a um; veja [o capítulo](xyzzy.md).
A *causal mask* em `xyzzy` e $\\mathrm{xyzzy}$, com GPT e <span lang="en">layer norm</span>.

<% call table("xyzzy", columns=["linha", "parâmettros"], rows=[["só o tokem", num("xyzzy.b")]]) %>
Legemda da tabela.
<% endcall %>

```python
xyzzy = 1
```

$$
xyzzy
$$
Ela olha-o; pré-treinamento, autoatenção.
"""


def test_each_planted_word_is_found_in_its_line_and_nothing_else(dictionary: Dictionary) -> None:
    assert list(unknown(prose(CHAPTER), dictionary)) == [
        (2, "médiaa"),
        (6, "pesso"),
        (11, "parâmettros"),
        (11, "tokem"),
        (12, "Legemda"),
    ]


def test_of_claims_the_portuguese_statement_alone_is_read(dictionary: Dictionary) -> None:
    claims = (
        '[a]\npt = "A média é piorr."\nen = "The mean is worse."\n'
        '"x.*" = {pt = "perrda", en = "loss"}\n'
    )
    assert list(unknown(prose(claims, toml=True), dictionary)) == [(2, "piorr"), (4, "perrda")]
    words = (
        '[pt]\nof = "a medidda"\nlist = ["passo", "passus"]\n'
        "[pt.more]\nxyzzy = 'a fonnte {xyzzy}'\n[en]\nof = \"the measure\"\n"
    )
    found = [(2, "medidda"), (3, "passus"), (5, "fonnte")]
    assert list(unknown(prose(words, toml=True), dictionary)) == found


def test_an_unknown_word_fails_with_its_place(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path_factory.mktemp("chapter") / "pt.md.j2"
    path.write_text("Uma frase.\nOutra frasse.\n", "utf-8")
    assert main([str(path)]) == 1
    assert "pt.md.j2:2: frasse: not in the Portuguese dictionary" in capsys.readouterr().out
    path.write_text("Uma frase.\nOutra frase.\n", "utf-8")
    assert main([str(path)]) == 0
