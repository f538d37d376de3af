# ruff: noqa: E501
"""Is each claim decided at its edge, and its criterion said in both languages?"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_book import GPU, Tree

from engine.claims import Claim, Outcome, all_claims, check_claim, check_claims, load_claims
from engine.errors import ClaimError, MissingPath
from engine.quantity import Book

HEAD = 'pt = "Uma afirmação."\nen = "A claim."\nexpected = "holds"\n'


def load(tree: Tree, text: str) -> Claim:
    tree.write("chapters/02-average/claims.toml", f"[c]\n{HEAD}{text}\n")
    return load_claims(tree.root / "chapters/02-average")["c"]


def outcome(tree: Tree, text: str) -> Outcome:
    return check_claim(load(tree, text), Book())


@pytest.fixture
def filled(tree: Tree) -> Tree:
    for seed, value in enumerate([50.0, 60.0, 70.0]):
        values = {"perplexity": value, "words": "a", "parameters": 10, "x": value - 49}
        tree.record(f"averages/none.s{seed}", values)
    for seed, value in enumerate([51.0, 80.0]):
        tree.record(f"averages/head.s{seed}", {"perplexity": value, "parameters": 10, "list": [1, [2.0]]})  # fmt: skip
    tree.record("averages/bigram", {"perplexity": 65.0, "zero": 0, "odd": {"nan": float("nan")}, "flag": True})  # fmt: skip
    tree.record("timing/all", {"a_ms": 1.0, "b_ms": 2.0})
    return tree


A, B, C = "averages.none.perplexity", "averages.head.perplexity", "averages.bigram.perplexity"


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        # A and B share seeds 0 and 1: (50, 51) and (60, 80)
        (f'less = ["{A}", "{B}"]', True),
        (f'less = ["{B}", "{A}"]', False),
        (f'less = {{of = ["{A}", "{B}"]}}', True),
        (f'less = ["{A}", "{A}"]', False),
        (f'less = ["{A}", "{C}"]', False),  # not in seed 2
        ('less = ["averages.bigram.zero", "averages.none.x", "averages.none.parameters"]', False),
        (f'ratio = {{of = ["{B}", "{A}"], at_least = 1.02}}', True),
        (f'ratio = {{of = ["{B}", "{A}"], at_least = 1.0200001}}', False),
        (f'ratio = {{of = ["{B}", "{A}"], at_most = 1.3334}}', True),
        (f'ratio = {{of = ["{B}", "{A}"], at_most = 1.3333}}', False),
        (f'ratio = {{of = ["{B}", "{A}"], at_least = 1, at_most = 2}}', True),
        (f'difference = {{of = ["{B}", "{A}"], at_least = 1, at_most = 20}}', True),
        (f'difference = {{of = ["{B}", "{A}"], at_least = 1.1}}', False),
        (f'difference = {{of = ["{B}", "{A}"], at_most = 19.9}}', False),
        (f'between = {{of = "{C}", at_least = 65, at_most = 65}}', True),
        (f'between = {{of = ["{A}"], at_least = 50, at_most = 69}}', False),
        (f'same = {{of = ["{A}", "{A}"], relative = 0}}', True),
        (f'same = {{of = ["{A}", "{B}"], absolute = 20}}', True),
        (f'same = {{of = ["{A}", "{B}"], absolute = 19}}', False),
        (f'same = {{of = ["{A}", "{B}"], relative = 0.3334}}', True),
        (f'same = {{of = ["{A}", "{B}"], relative = 0.33}}', False),
        (f'flat = {{of = ["{A}", "{B}", "{C}"], relative = 0.34}}', True),
        (f'flat = {{of = ["{A}", "{B}", "{C}"], relative = 0.3}}', False),
        ('equal = {of = ["averages.none.parameters", "averages.head.parameters"]}', True),
        ('equal = ["averages.none.parameters", "averages.none.x"]', False),
        ('equal = {of = ["averages.none.parameters"], to = 10}', True),
        ('equal = {of = ["averages.none.parameters"], to = 10.0}', True),
        ('equal = {of = "averages.none.parameters", to = 11}', False),
        ('equal = {of = "averages.none.words", to = "a"}', True),
        ('equal = {of = "averages.none.words", to = "b"}', False),
        ('equal = {of = "averages.head.list", to = [1, [2.0]]}', True),
        ('equal = {of = "averages.head.list", to = [1, [2.5]]}', False),
        ('equal = {of = "averages.bigram.flag", to = true}', True),
        ('equal = {of = "averages.bigram.flag", to = 1}', False),
        ('equal = {of = "averages.bigram.zero", to = 0}', True),
        ('between = {of = "averages.bigram.odd.nan", at_least = 0}', False),  # NaN is nowhere
        ('same = {of = ["averages.bigram.odd.nan", "averages.bigram.odd.nan"], absolute = 9}', False),
        (f'less = ["{A}", "{B}"]\nalso = [{{between = {{of = "{C}", at_most = 66}}}}]', True),
        (f'less = ["{A}", "{B}"]\nalso = [{{between = {{of = "{C}", at_most = 64}}}}]', False),
        ('ratio = {of = ["timing.b_ms", "timing.a_ms"], at_least = 2}', True),
    ],
)  # fmt: skip
def test_at_the_edge(filled: Tree, text: str, holds: bool) -> None:
    found = outcome(filled, text)
    assert found.state == ("holds" if holds else "not_reproduced")
    assert found.as_expected == holds


def test_seed_by_seed(filled: Tree) -> None:
    found = outcome(filled, f'less = ["{A}", "{B}"]')
    assert [(item.seed, item.values, item.holds) for item in found.details] == [
        (0, (50.0, 51.0), True),
        (1, (60.0, 80.0), True),
    ]
    assert found.parts[0].several
    assert [quantity.expression for quantity in found.measured] == [A, B]


def test_a_ratio_is_measured_as_one_quantity(filled: Tree) -> None:
    (measured,) = outcome(filled, f'ratio = {{of = ["{B}", "{A}"], at_least = 1}}').measured
    assert measured.values == {0: 51 / 50, 1: 80 / 60}


def test_a_truth_is_said_in_the_language_of_the_page(filled: Tree) -> None:
    found = outcome(filled, 'equal = {of = "averages.bigram.flag", to = true}')
    assert "sim" in found.criterion("pt")
    assert "yes" in found.criterion("en")
    assert "True" not in found.criterion("pt") + found.criterion("en")


def test_one_seed_shows_no_spread(filled: Tree) -> None:
    filled.replace("experiments/averages.py", '"head": (0, 1)', '"head": (0,)')
    (one,) = outcome(filled, f'less = ["{A}", "{B}"]').parts
    (without,) = outcome(filled, f'between = {{of = "{C}", at_least = 0}}').parts
    assert [(part.seeded, part.several) for part in (one, without)] == [
        (True, False),
        (False, False),
    ]


def test_not_reproduced_may_be_expected(filled: Tree) -> None:
    filled.write("chapters/a/claims.toml", f'[c]\n{HEAD.replace("holds", "not_reproduced")}less = ["{B}", "{A}"]')  # fmt: skip
    found = check_claim(load_claims(filled.root / "chapters/a")["c"], Book())
    assert (found.state, found.expected, found.as_expected) == ("not_reproduced",) * 2 + (True,)


def test_the_complaint_names_claim_criterion_and_values(filled: Tree) -> None:
    assert outcome(filled, f'less = ["{B}", "{A}"]').complaint() == (
        f"chapters/02-average/claims.toml [c]: expected holds, found not_reproduced: {B} < {A},"
        " in every seed; measured in seed 0 51.0, 50.0"
    )


def test_times_of_two_machines_are_refused(filled: Tree) -> None:
    filled.write(
        "experiments/faster.py",
        (filled.root / "experiments/timing.py").read_text(encoding="utf-8"),
    )
    filled.record("faster/all", {"a_ms": 1.0}, device=GPU)
    with pytest.raises(ClaimError, match=r"claims\.toml \[c\]: .*different machines"):
        outcome(filled, 'less = ["faster.a_ms", "timing.a_ms"]')
    with pytest.raises(ClaimError, match="different machines"):
        outcome(filled, 'equal = ["faster.a_ms", "timing.a_ms"]')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'less = ["{A}", "averages.none.words"]', "different units|a string, not a number"),
        ('less = ["averages.none.words", "averages.none.words"]', "a string, not a number"),
        (f'same = {{of = ["{A}", "timing.a_ms"], absolute = 1}}', "different units"),
        (f'difference = {{of = ["{A}", "timing.a_ms"], at_least = 1}}', "different units"),
        ('ratio = {of = ["averages.none.x", "averages.bigram.zero"], at_least = 1}', "cannot be computed"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared(filled: Tree, text: str, message: str) -> None:
    with pytest.raises(ClaimError, match=message):
        outcome(filled, text)


def test_a_claim_about_nothing(filled: Tree) -> None:
    with pytest.raises(MissingPath):
        outcome(filled, 'less = ["averages.none.gone", "averages.none.x"]')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "exactly one of .* found none"),
        ('less = ["a", "b"]\nequal = ["a", "b"]', "found less and equal"),
        ('lesser = ["a", "b"]', "'lesser' is unknown"),
        ('less = ["a"]', "less over 1 paths"),
        ("less = 3", "less needs of"),
        ("less = [1, 2]", "less needs of"),
        ('less = {of = ["a", "b"], at_least = 1}', "less has no 'at_least'"),
        ('ratio = {of = ["a", "b"]}', "needs at_least or at_most"),
        ('ratio = {of = ["a", "b", "c"], at_least = 1}', "ratio over 3 paths"),
        ('ratio = {of = ["a", "b"], at_least = 2, at_most = 1}', "at_least is above at_most"),
        ('ratio = {of = ["a", "b"], at_least = "x"}', "at_least must be a number"),
        ('ratio = {of = ["a", "b"], at_least = true}', "at_least must be a number"),
        ('ratio = {of = ["a", "b"], at_least = nan}', "at_least must be a number"),
        ('same = {of = ["a", "b"]}', "names its tolerance"),
        ('same = {of = ["a", "b"], relative = 1, absolute = 1}', "names its tolerance"),
        ('same = {of = ["a", "b"], relative = -1}', "must not be negative"),
        ('equal = ["a"]', "equal needs two paths"),
        ('between = {at_least = 1}', "between needs of"),
        ('less = ["a", "b"]\nalso = {}', "also must be a list"),
        ('less = ["a", "b"]\nalso = [{}]', "found none"),
        ('less = ["a", "b"]\nalso = ["a"]', "found none"),
        ('less = ["a", "b"]\nsource = 3', "source must be a string"),
    ],
)  # fmt: skip
def test_malformed_claims(tree: Tree, text: str, message: str) -> None:
    with pytest.raises(ClaimError, match=message) as caught:
        load(tree, text)
    assert str(caught.value).startswith("chapters/02-average/claims.toml [c]: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[c\n", r"claims\.toml: "),
        ("[c]\n[c]\n", r"claims\.toml: "),
        ("c = 3", "a claim is a table"),
        ('["a b"]\n' + HEAD, "letters, digits and _"),
        ('[c]\npt = "a"\nexpected = "holds"', "statement en"),
        ('[c]\npt = " "\nen = "a"\nexpected = "holds"', "statement pt"),
        ('[c]\npt = "a"\nen = "a"', "expected must be one of"),
        ('[c]\npt = "a"\nen = "a"\nexpected = "maybe"', "expected must be one of"),
    ],
)
def test_malformed_files(tree: Tree, text: str, message: str) -> None:
    path = tree.write("chapters/a/claims.toml", text)
    with pytest.raises(ClaimError, match=message):
        load_claims(path.parent)


def test_a_file_that_is_not_text(tree: Tree) -> None:
    path = tree.write("chapters/a/claims.toml", "")
    path.write_bytes(b"\xff")
    with pytest.raises(ClaimError, match=r"chapters/a/claims\.toml"):
        load_claims(path.parent)


def test_a_chapter_without_claims(tree: Tree) -> None:
    assert load_claims(tree.root / "chapters" / "none") == {}


def test_all_claims(filled: Tree) -> None:
    for name in ("b", "a"):
        filled.write(f"chapters/{name}/claims.toml", f'[{name}]\n{HEAD}less = ["{A}", "{B}"]')
    assert [claim.id for claim in all_claims()] == ["a", "b"]
    assert [found.state for found in check_claims(Book())] == ["holds", "holds"]
    assert all_claims()[0].paths == (A, B)
    assert all_claims()[0].statement("pt") == "Uma afirmação."


@pytest.mark.parametrize(
    ("text", "pt", "en"),
    [
        ('less = ["a", "b"]', "a < b", "a < b"),
        (
            'ratio = {of = ["a", "b"], at_least = 1.5, at_most = 10000}',
            "a / b: no mínimo 1,5 e no máximo 10.000",
            "a / b: at least 1.5 and at most 10,000",
        ),
        ('difference = {of = ["a", "b"], at_least = -0.25}', "a − b: no mínimo −0,25", "a − b: at least −0.25"),
        ('between = {of = "a", at_most = 1e-7}', "a: no máximo 1 × 10⁻⁷", "a: at most 1 × 10⁻⁷"),
        ('between = {of = "a", at_most = 0}', "a: no máximo 0", "a: at most 0"),
        ('same = {of = ["a", "b"], relative = 0.02}', "a e b: diferem em no máximo 2%", "a and b: differ by at most 2%"),
        ('same = {of = ["a", "b"], absolute = 0.005}', "a e b: diferem em no máximo 0,005", "a and b: differ by at most 0.005"),
        (
            'flat = {of = ["a", "b", "c"], relative = 0.125}',
            "a, b e c: o maior passa do menor em no máximo 12,5%",
            "a, b and c: the largest exceeds the smallest by at most 12.5%",
        ),
        ('equal = ["a", "b"]', "a = b exatamente", "a = b exactly"),
        ('equal = {of = "a", to = 0.5}', "a = 0,5 exatamente", "a = 0.5 exactly"),
        ('equal = {of = "a", to = [1.5, 2]}', "a = [1,5; 2] exatamente", "a = [1.5, 2] exactly"),
        ('equal = {of = "a", to = "x"}', "a = x exatamente", "a = x exactly"),
        ('equal = {of = "a", to = false}', "a = não", "a = no"),
    ],
)  # fmt: skip
def test_the_criterion_in_words(tree: Tree, text: str, pt: str, en: str) -> None:
    claim = load(tree, text)
    assert plain(claim.criterion("pt", seeded=False)) == pt
    assert plain(claim.criterion("en", seeded=False)) == en
    assert plain(claim.criterion("pt")) == f"{pt}, em cada semente"
    assert plain(claim.criterion("en")) == f"{en}, in every seed"


def plain(text: str) -> str:
    return text.replace("\u00a0", " ").replace("\u202f", " ").replace(" %", "%")


def test_names_may_be_put_for_paths(tree: Tree) -> None:
    claim = load(tree, 'less = ["a", "b"]\nalso = [{equal = ["b", "c"]}]')
    assert claim.criterion("en", str.upper, seeded=False) == "A < B; B = C exactly"


def test_the_names_may_be_put_inside_what_they_have_in_common(tree: Tree) -> None:
    claim = load(tree, 'ratio = {of = ["a", "b"], at_least = 2}\nalso = [{equal = ["b", "c"]}]')
    said = [
        item.criterion("en", seeded=False, whole="mean ({}), scaled".format)
        for item in claim.predicates
    ]
    assert said == ["mean (a / b), scaled: at least 2", "mean (b = c exactly), scaled"]


def test_seeds_are_named_where_there_are_any(filled: Tree) -> None:
    found = outcome(filled, f'less = ["{A}", "{B}"]\nalso = [{{between = {{of = "{C}", at_least = 1}}}}]')  # fmt: skip
    assert found.criterion("en") == f"{A} < {B}, in every seed; {C}: at least 1"
    filled.replace("experiments/averages.py", '"head": (0, 1)', '"head": (0,)')
    assert outcome(filled, f'less = ["{A}", "{B}"]').criterion("en") == f"{A} < {B}"


@given(st.floats(min_value=-1e30, max_value=1e30, allow_nan=False))
def test_any_bound_can_be_said(bound: float) -> None:
    from engine.claims import Predicate

    predicate = Predicate("between", ("a",), at_least=bound)
    assert predicate.criterion("pt")
    assert predicate.criterion("en")


def test_where_a_claim_stands(tree: Tree) -> None:
    claim = load(tree, 'less = ["a", "b"]')
    assert claim.where == "chapters/02-average/claims.toml [c]"
    assert isinstance(claim.path, Path)
