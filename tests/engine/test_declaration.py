# ruff: noqa: E501
"""Are the literals of an experiment read as what they say, and refused where they say nonsense?"""

import pytest
from small_book import Tree

from engine import paths
from engine.declaration import declaration, experiments, run_spec
from engine.errors import DeclarationError, MissingPath, SettingsError


def test_which_modules_are_experiments(tree: Tree) -> None:
    tree.write("experiments/helper.py", "x = 1")
    tree.write("experiments/_private.py", "def measure(): pass")
    tree.write("experiments/broken.py", "def measure(:")
    assert experiments() == ("averages", "broken", "shuffle", "timing")


def test_runs_of_rows_and_seeds(tree: Tree) -> None:
    declared = declaration("averages")
    assert [run.id for run in declared.runs] == [
        "averages/none.s0",
        "averages/none.s1",
        "averages/none.s2",
        "averages/head.s0",
        "averages/head.s1",
        "averages/bigram",
    ]
    assert declared.question == "Does the mean help?"
    assert [run.trained for run in declared.runs] == [True] * 5 + [False]
    assert declared.inputs == ("corpus", "experiments/toy.json")
    assert declared.settings_class == "experiments.averages.Settings"


def test_a_run_without_rows_or_seeds(tree: Tree) -> None:
    (run,) = declaration("timing").runs
    assert (run.name, run.id, run.prefix) == ("all", "timing/all", "timing")
    assert (run.threads, run.device, run.seed) == (2, "cpu", None)
    assert run.path == tree.root / "results/timing/all.json"


def test_seeds_without_rows(tree: Tree) -> None:
    assert [run.name for run in declaration("shuffle").runs] == ["s0", "s1"]


def test_settings_inherit_and_rows_override(tree: Tree) -> None:
    assert run_spec("averages/head.s0").settings == {
        "model": "model.rungs:WithHead",
        "width": 64,
        "steps": 3000,
        "rate": 1e-3,
        "tied": False,
        "windows": (64, 128),
        "smoothing": 1.0,
    }


def test_a_whole_number_becomes_the_float_it_is_asked_to_be(tree: Tree) -> None:
    assert type(run_spec("averages/bigram").settings["smoothing"]) is float


def test_smoke_settings(tree: Tree) -> None:
    head = run_spec("averages/head.s0", "smoke")
    assert (head.settings["steps"], head.settings["width"]) == (6, 4)
    assert run_spec("averages/none.s0", "smoke").settings["width"] == 16
    assert run_spec("timing/all", "smoke").settings == {"n": 8}
    assert head.path == tree.root / "build/smoke/results/averages/head.s0.json"
    assert head.command == "python -m experiments run averages/head.s0 --settings smoke"
    assert run_spec("averages/head.s0").command == "python -m experiments run averages/head.s0"


def test_rows_that_wait_are_no_part_of_the_book_yet(tree: Tree) -> None:
    tree.write("experiments/averages.py", (tree.root / "experiments/averages.py").read_text() + 'WAITING = ("head",)\n')  # fmt: skip
    names = {run.row for run in declaration("averages").runs}
    assert names == {"none", "bigram"}
    assert "head" in {run.row for run in declaration("averages", "smoke").runs}
    assert "head" in {run.row for run in declaration("averages", include_waiting=True).runs}
    assert run_spec("averages/head.s0").row == "head"


def test_a_row_may_have_no_name(tree: Tree) -> None:
    tree.replace("experiments/averages.py", '"bigram": {}', '"": {}')
    assert declaration("averages").runs[-1].id == "averages/all"


def test_units_by_the_last_part(tree: Tree) -> None:
    declared = declaration("averages")
    assert declared.unit("a.train_perplexity") == "perplexity"
    assert declared.unit("perplexity.a") == "1"
    assert declaration("timing").is_machine_dependent("n_8.total_ms")
    assert not declaration("timing").is_machine_dependent("ratio")
    assert declared.may_be_nonfinite("odd.a")
    assert not declared.may_be_nonfinite("even.odd.a")


def test_the_environment_names_the_settings(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "SETTINGS", "smoke")
    assert run_spec("averages/none.s0").settings["steps"] == 6
    monkeypatch.setattr(paths, "SETTINGS", "Full")
    with pytest.raises(SettingsError, match="there are no settings 'Full'"):
        declaration("averages")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("averages/nane.s0", r"no run 'nane\.s0' \(did you mean none\.s0"),
        ("averges/none.s0", r"no experiment 'averges' \(did you mean averages"),
        ("averages", "EXPERIMENT/RUN"),
        ("../averages/none.s0", "no experiment"),
        ("session/all", "no experiment 'session'"),
        ("/", "no experiment"),
        ("", "is no run"),
    ],
)
def test_names_that_mean_nothing(tree: Tree, name: str, message: str) -> None:
    with pytest.raises(MissingPath, match=message):
        run_spec(name)


HEAD = '"""Why?"""\nfrom dataclasses import dataclass, field\nfrom typing import Literal\n@dataclass\nclass Settings:\n'
TAIL = "\ndef measure(settings, run): ...\n"


@pytest.mark.parametrize(
    ("fields", "literals", "message"),
    [
        ("n: int = 1", "", "FULL is missing"),
        ("n: int = 1", "FULL = 3", "a call with keywords"),
        ("n: int = 1", "FULL = Settings(3)", "a call with keywords"),
        ("n: int = 1", "FULL = Settings(**{})", "no \\*\\*"),
        ("n: int = 1", "FULL = Settings(m=3)", r"no setting 'm' \(did you mean n|no setting 'm'"),
        ("n: int = 1", "FULL = Settings(n=1.5)", "n must be int, not 1.5"),
        ("n: int = 1", "FULL = Settings(n=True)", "n must be int, not True"),
        ("n: int = 1", "FULL = Settings(n=f())", "must be a literal"),
        ("n: int", "FULL = Settings()", "FULL lacks the setting n"),
        ("n: int = x", "FULL = Settings()", "the default of n must be a literal"),
        ("n: int = 'a'", "FULL = Settings()", "the default: n must be int"),
        ("n: float = 1e999", "FULL = Settings()", "n must be float"),
        ("n: list[int] = 1", "FULL = Settings()", "not one that settings may have"),
        ("n: tuple[int, ...] = (1, 'a')", "FULL = Settings()", "n must be tuple"),
        ("n: Literal['a', 'b'] = 'c'", "FULL = Settings()", "n must be Literal"),
        ("n: int = 1", "FULL = Settngs()", "nothing in this repository is called"),
        ("n: int = 1", "FULL = dataclass()", "is no class of this repository"),
        ("n: int = 1", "FULL = Settings()\nFULL = Settings()", "FULL is given twice"),
        ("n: int = 1", "FULL = Settings()\nSMOKE = Settings(n='a')", "SMOKE: n must be int"),
        ("n: int = 1", "FULL = Settings()\nROWS = ['a']", "ROWS must be a dictionary"),
        ("n: int = 1", "FULL = Settings()\nROWS = {'a-b': {}}", "letters, digits and _"),
        ("n: int = 1", "FULL = Settings()\nROWS = {'../a': {}}", "letters, digits and _"),
        ("n: int = 1", "FULL = Settings()\nROWS = {'a': 1}", "row 'a' must be a dictionary"),
        ("n: int = 1", "FULL = Settings()\nROWS = {'a': {'m': 1}}", "row 'a': .* has no setting"),
        ("n: int = 1", "FULL = Settings()\nROWS = {'a': {'n': 'x'}}", "row 'a': n must be int"),
        ("n: int = 1", "FULL = Settings()\nROWS = {'a': {}, 'A': {}}", "two runs"),
        ("n: int = 1", "FULL = Settings()\nSMOKE_ROWS = {'a': {}}", "which ROWS has not"),
        ("n: int = 1", "FULL = Settings()\nSEEDS = 3", "SEEDS must be a tuple"),
        ("n: int = 1", "FULL = Settings()\nSEEDS = (-1,)", "SEEDS must be a tuple"),
        ("n: int = 1", "FULL = Settings()\nSEEDS = (True,)", "SEEDS must be a tuple"),
        ("n: int = 1", "FULL = Settings()\nSEEDS = (0, 0)", "a seed twice"),
        ("n: int = 1", "FULL = Settings()\nSEEDS = {'a': (0,)}", "which ROWS has not"),
        ("n: int = 1", "FULL = Settings()\nTRAINED = ('a',)", "which ROWS has not"),
        ("n: int = 1", "FULL = Settings()\nTRAINED = 'a'", r"write \('a',\)"),
        ("n: int = 1", "FULL = Settings()\nINPUTS = ('corpus')", r"write \('corpus',\)"),
        ("n: int = 1", "FULL = Settings()\nUNITS = {'a': 1}", "UNITS must be a dictionary"),
        ("n: int = 1", "FULL = Settings()\nALIASES = {'a b': 'c'}", "is no path"),
        ("n: int = 1", "FULL = Settings()\nTHREADS = 0", "THREADS must be"),
        ("n: int = 1", "FULL = Settings()\nDEVICE = 'gpu'", "DEVICE must be"),
        ("n: int = 1", "FULL = Settings()\nROWS = {r: {} for r in 'ab'}", "must be a literal"),
    ],
)
def test_nonsense_is_refused_with_file_and_line(
    tree: Tree, fields: str, literals: str, message: str
) -> None:
    tree.write("experiments/odd.py", f"{HEAD}    {fields}\n{literals}{TAIL}")
    with pytest.raises(DeclarationError, match=message) as caught:
        declaration("odd", "smoke" if "SMOKE =" in literals else "full")
    assert str(caught.value).startswith("experiments/odd.py:")


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ("n: int | None = None", None),
        ("n: 'int' = 3", 3),
        ("n: Literal['a', 'b'] = 'b'", "b"),
        ("n: tuple[int, float] = (1, 2)", (1, 2.0)),
        ("n: tuple[tuple[int, ...], ...] = ((1,), ())", ((1,), ())),
        ("n: float = field(default=2)", 2.0),
        ("n: bool = False", False),
        ("n: str = 'é'", "é"),
        ("n: tuple = (1, 'a')", (1, "a")),
    ],
)
def test_types_that_settings_may_have(tree: Tree, fields: str, value: object) -> None:
    tree.write("experiments/odd.py", f"{HEAD}    {fields}\nFULL = Settings(){TAIL}")
    (run,) = declaration("odd").runs
    assert run.settings == {"n": value}
    assert type(run.settings["n"]) is type(value)


def test_a_settings_class_must_be_a_dataclass(tree: Tree) -> None:
    tree.write("experiments/odd.py", f'"""Why?"""\nclass Settings:\n    n: int = 1\nFULL = Settings(){TAIL}')  # fmt: skip
    with pytest.raises(DeclarationError, match="must be a dataclass"):
        declaration("odd")


def test_a_module_opens_with_its_question(tree: Tree) -> None:
    tree.write("experiments/odd.py", f"{HEAD}    n: int = 1\nFULL = Settings(){TAIL}".replace('"""Why?"""', ""))  # fmt: skip
    with pytest.raises(DeclarationError, match="must open with the question"):
        declaration("odd")


def test_the_settings_class_may_be_imported_as_it_is(tree: Tree) -> None:
    tree.write(
        "experiments/odd.py",
        f'"""Why?"""\nfrom model import settings as s\nFULL = s.LanguageModelSettings(){TAIL}',
    )
    assert declaration("odd").settings_class == "model.settings.LanguageModelSettings"
