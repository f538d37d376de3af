"""Are values found under their paths, and does arithmetic keep seeds, units and machines apart?"""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_book import CPU, GPU, Tree

from engine.errors import MissingPath, MissingRecord, QuantityError, RecordError, StaleRecord
from engine.quantity import Book, Quantity, exp, log, sqrt


def q(values: dict[int | None, Any], unit: str = "1", name: str = "a", **more: Any) -> Quantity:
    return Quantity((name,), values, unit, **more)


@pytest.fixture
def filled(tree: Tree) -> Tree:
    for seed, value in enumerate([59.0, 60.0, 61.0]):
        values = {"perplexity": value, "parameters": 1024, "curve": [[1.0, value], [2.0, 3.0]]}
        tree.record(f"averages/none.s{seed}", values | {"text": f"word {seed}", "same": "word"})
    for seed, value in enumerate([30.0, 20.0]):
        tree.record(f"averages/head.s{seed}", {"perplexity": value, "deep": {"er": True}})
    tree.record("averages/bigram", {"perplexity": 120.0})
    tree.record("timing/all", {"a_ms": 2.0, "b_ms": 4.0, "bytes": 100})
    return tree


# finding


def test_a_value_of_several_seeds(filled: Tree) -> None:
    found = Book().get("averages.none.perplexity")
    assert found.values == {0: 59.0, 1: 60.0, 2: 61.0}
    assert (found.mean, found.std, found.n, found.unit) == (60.0, 1.0, 3, "perplexity")
    assert found.paths == ("averages.none.perplexity",)
    assert found.expression == "averages.none.perplexity"
    assert [record.id for record in found.records] == [f"averages/none.s{n}" for n in (0, 1, 2)]
    assert not found.stale
    assert not found.is_deterministic


def test_a_count_stays_whole(filled: Tree) -> None:
    found = Book().get("averages.none.parameters")
    assert (found.mean, type(found.mean), found.std) == (1024, int, 0.0)


def test_a_deterministic_value(filled: Tree) -> None:
    found = Book().get("averages.bigram.perplexity")
    assert (found.values, found.mean, found.std) == ({None: 120.0}, 120.0, None)
    assert found.is_deterministic


def test_strings_and_lists_pass_through(filled: Tree) -> None:
    book = Book()
    assert book.get("averages.none.same").value == "word"
    assert book.get("averages.none.text").values[1] == "word 1"
    assert book.get("averages.head.deep.er").value is True
    with pytest.raises(QuantityError, match="is a string, not a number"):
        _ = book.get("averages.none.text").mean


@pytest.mark.parametrize(
    ("path", "value"),
    [("curve.0.1", 60.0), ("curve.1", (2.0, 3.0)), ("curve.1.0", 2.0)],
)
def test_indices_into_lists(filled: Tree, path: str, value: object) -> None:
    assert Book().get(f"averages.none.{path}").value == value


def test_an_alias(filled: Tree) -> None:
    book = Book()
    assert book.get("ladder.none.perplexity").paths == ("averages.none.perplexity",)
    assert book.cited == {"averages.none.perplexity"}


def test_an_alias_to_an_alias_and_in_a_circle(filled: Tree) -> None:
    filled.replace(
        "experiments/averages.py",
        '{"ladder.none": "averages.none"}',
        '{"b": "ladder", "ladder": "averages", "averages": "b"}',
    )
    assert Book().get("b.none.perplexity").mean == 60.0


def test_what_lies_in_the_experiment_comes_before_an_alias(filled: Tree) -> None:
    """`ladder.none.parameters` may be an alias while `ladder.none.added` is the ladder's own."""
    filled.write(
        "experiments/ladder.py",
        '"""What does a rung add?"""\nfrom model.settings import LanguageModelSettings\n'
        "FULL = LanguageModelSettings()\ndef measure(settings, run): ...\n",
    )
    filled.record("ladder/all", {"none": {"added": 0}})
    book = Book()
    assert book.get("ladder.none.added").value == 0
    assert book.get("ladder.none.parameters").value == 1024


def test_the_tree_below_a_path(filled: Tree) -> None:
    assert list(Book().tree("averages.head")) == ["perplexity", "deep.er"]
    assert Book().tree("ladder.none")["perplexity"].mean == 60.0
    with pytest.raises(MissingPath):
        Book().tree("averages.gone")


def test_all_paths(filled: Tree) -> None:
    found = list(Book().paths())
    assert "averages.none.curve" in found
    assert "timing.a_ms" in found
    assert len(found) == len(set(found)) == 11


def test_the_runs_behind_a_path(filled: Tree) -> None:
    book = Book()
    runs = [run.id for run in book.runs("averages.head.perplexity")]
    assert runs == ["averages/head.s0", "averages/head.s1"]
    assert [run.id for run in book.runs("timing.a_ms")] == ["timing/all"]
    with pytest.raises(MissingPath):
        book.runs("gone.a")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("averages.none.perplexty", r"did you mean averages\.none\.perplexity"),
        ("averages.nome.perplexity", r"did you mean averages\.none\.perplexity"),
        ("averges.none.perplexity", r"no experiment 'averges' \(did you mean averages"),
        ("ladder.none.perplexty", r"did you mean averages\.none\.perplexity"),
        ("averages.none", r"is a group of values, not one of them: perplexity, parameters, curve"),
        ("averages.none.curve.2", "nothing lies under"),
        ("averages.none.curve.0.0.0", "nothing lies under"),
        ("averages.none.perplexity.0", "nothing lies under"),
        ("averages.none.curve.-1", "is no path"),
        ("averages..none", "is no path"),
        ("../averages", "is no path"),
        ("", "is no path"),
        ("shuffle", "no record: python -m experiments run shuffle/s0"),
    ],
)
def test_paths_that_lead_nowhere(filled: Tree, path: str, message: str) -> None:
    with pytest.raises(MissingPath, match=message):
        Book().get(path)


# records that are not as they should be


def test_a_bad_record_stops_only_what_depends_on_it(filled: Tree) -> None:
    (filled.root / "results/averages/none.s1.json").write_text("{}")
    book = Book()
    with pytest.raises(RecordError, match=r"none\.s1"):
        book.get("averages.none.perplexity")
    assert book.get("averages.head.perplexity").mean == 25.0


def test_a_bad_experiment_stops_only_what_depends_on_it(filled: Tree) -> None:
    filled.write("experiments/broken.py", "def measure(:")
    assert Book().get("ladder.none.perplexity").mean == 60.0
    assert "averages.bigram.perplexity" in list(Book().paths())


def test_a_missing_record(filled: Tree) -> None:
    with pytest.raises(MissingRecord, match="run shuffle/s0"):
        Book().get("shuffle.max_abs_diff")


def test_a_value_that_one_seed_lacks(filled: Tree) -> None:
    filled.record("averages/none.s1", {"parameters": 1024})
    with pytest.raises(RecordError, match=r"averages/none\.s1 lacks perplexity.*run averages"):
        Book().get("averages.none.perplexity")


def test_a_stale_record(filled: Tree) -> None:
    filled.replace("model/attention.py", "1 / sqrt", "2 / sqrt")
    with pytest.raises(StaleRecord, match=r"averages/head\.s0 is out of date"):
        Book().get("averages.head.perplexity")
    book = Book(allow_stale=True)
    assert book.get("averages.head.perplexity").stale
    assert not book.get("averages.none.perplexity").stale
    assert (book.get("averages.none.perplexity") / book.get("averages.head.perplexity")).stale


def test_even_while_serving_a_corrupt_record_is_none(filled: Tree) -> None:
    (filled.root / "results/averages/none.s1.json").write_text("{}")
    with pytest.raises(RecordError):
        Book(allow_stale=True).get("averages.none.perplexity")


def test_the_unit_is_what_the_experiment_says_now(filled: Tree) -> None:
    filled.replace("experiments/averages.py", '"perplexity"', '"points"')
    assert Book().get("averages.none.perplexity").unit == "points"


# machines


def test_times_belong_to_a_machine(filled: Tree) -> None:
    book = Book()
    a, b, size = (book.get(f"timing.{name}") for name in ("a_ms", "b_ms", "bytes"))
    assert a.machine_dependent
    assert not size.machine_dependent
    ratio = b / a
    assert (ratio.mean, ratio.unit, ratio.machine_dependent) == (2.0, "1", False)
    assert (a * 2).machine_dependent
    assert (a + b).machine_dependent
    assert (a / size).machine_dependent


def test_times_of_two_machines_are_not_compared() -> None:
    class Fake:
        def __init__(self, device: dict[str, Any]) -> None:
            self.device, self.id = device, f"on {device['kind']}"

    def on(device: dict[str, Any], is_bound: bool) -> Quantity:
        fake: Any = Fake(device)
        return q({None: 1.0}, "ms", records=(fake,), machine_dependent=is_bound)

    with pytest.raises(QuantityError, match=r"different machines.*A processor.*A card"):
        _ = on(CPU, True) / on(GPU, True)
    with pytest.raises(QuantityError, match="different machines"):
        _ = on(CPU, True) / on(CPU | {"threads": 2}, True)
    assert (on(CPU, False) / on(GPU, False)).mean == 1.0
    assert (on(CPU, True) / on(GPU, False)).machine_dependent


# arithmetic


def test_arithmetic_is_paired_by_seed() -> None:
    a, b = q({0: 10.0, 1: 20.0, 2: 40.0}, name="a"), q({1: 2.0, 2: 4.0, 5: 8.0}, name="b")
    assert (a / b).values == {1: 10.0, 2: 10.0}
    assert (a / b).std == 0.0
    assert (a - b).values == {1: 18.0, 2: 36.0}
    assert (a + b).paths == ("a", "b")


def test_what_depends_on_no_seed_goes_with_any() -> None:
    a, b = q({0: 10.0, 1: 20.0}), q({None: 10.0})
    assert (a / b).values == {0: 1.0, 1: 2.0}
    assert (b / a).values == {0: 1.0, 1: 0.5}
    assert (b * b).values == {None: 100.0}


def test_no_seed_in_common() -> None:
    with pytest.raises(QuantityError, match="a and b have no seed in common"):
        _ = q({0: 1.0}, name="a") / q({1: 1.0}, name="b")


def test_numbers_on_either_side() -> None:
    a = q({0: 4.0}, "ms")
    results = [a + 1, 1 + a, a - 1, 1 - a, a * 2, 2 * a, a / 2, 2 / a, a**2, -a, abs(-a)]
    assert [result.mean for result in results] == [5, 5, 3, -3, 8, 8, 2, 0.5, 16, -4, 4]
    assert [result.unit for result in results] == [
        "ms", "ms", "ms", "ms", "ms", "ms", "ms", "1/ms", "ms^2", "ms", "ms",
    ]  # fmt: skip
    assert (2 ** q({0: 3})).mean == 8


def test_functions() -> None:
    a = q({0: 4.0})
    assert (log(a).mean, exp(a).mean, sqrt(a).mean) == (math.log(4), math.exp(4), 2.0)
    assert sqrt(q({0: 4.0}, "ms")).unit == "ms^0.5"
    assert log(a).expression == "log(a)"


def test_units() -> None:
    a, b, c = q({0: 1.0}, "ms"), q({0: 1.0}, "MB"), q({0: 1.0})
    assert [(a * b).unit, (a / b).unit, (a / a).unit, (a * c).unit, (c / a).unit, (a - a).unit] == [
        "ms·MB", "ms/MB", "1", "ms", "1/ms", "ms",
    ]  # fmt: skip
    with pytest.raises(QuantityError, match="'ms' and 'MB' do not add"):
        _ = a + b


def test_expressions_say_how_a_number_was_made() -> None:
    a, b = q({0: 4.0}, name="x.a"), q({0: 2.0}, name="x.b")
    assert ((a - b) / a).expression == "(x.a - x.b) / x.a"
    assert (-(a / b)).expression == "-(x.a / x.b)"
    assert (1 - a).expression == "1 - x.a"


@pytest.mark.parametrize(
    "make",
    [
        lambda a: a / 0,
        lambda a: log(a - a),
        lambda a: sqrt(-a),
        lambda a: (-a) ** 0.5,
        lambda a: exp(a * 1000),
        lambda a: (a * 1e308) ** 2,
        lambda a: a + "x",
        lambda a: a + True,
        lambda a: a * q({0: "x"}),
        lambda a: -q({0: (1, 2)}),
        lambda a: a + q({0: True}),
    ],
)
def test_arithmetic_that_has_no_result(make: Any) -> None:
    with pytest.raises(QuantityError):
        make(q({0: 4.0}))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_the_mean_lies_between(numbers: list[float]) -> None:
    found = q(dict(enumerate(numbers)))
    assert math.isnan(found.mean) or min(numbers) <= found.mean <= max(numbers)
    assert (found.std is None) == (len(numbers) == 1)
    assert found.std is None or found.std >= 0 or math.isnan(found.std)


def test_one_seed_alone() -> None:
    found = q({0: 4.0, 1: 5.0})
    assert found.seed(1).values == {1: 5.0}
    assert found.seed(1).std is None
    with pytest.raises(QuantityError, match="has no seed 2; it has: 0, 1"):
        found.seed(2)


def test_nan_passes_through() -> None:
    assert math.isnan(q({None: math.nan}).mean)
    assert math.isnan(q({0: math.nan, 1: 1.0}).mean)
    assert math.isnan(q({0: math.inf, 1: -math.inf}).mean)
