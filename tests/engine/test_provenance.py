# ruff: noqa: E501
"""What makes a record stale, and does a replay show that it touched what changed?"""

import runpy
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from small_book import Tree

from engine import provenance
from engine.declaration import run_spec
from engine.errors import DeclarationError, SourceError
from engine.provenance import CallTrace, difference, fingerprint, uncovered
from engine.record import Record, read_record


def digests() -> dict[str, str]:
    runs = ("averages/none.s0", "averages/head.s0", "averages/bigram", "timing/all", "shuffle/s0")
    return {run: fingerprint(run_spec(run)).digest for run in runs}


def changed_by(change: Callable[[], object]) -> set[str]:
    before = digests()
    change()
    after = digests()
    return {run for run in before if before[run] != after[run]}


TRAINED = {"averages/none.s0", "averages/head.s0"}
AVERAGES = TRAINED | {"averages/bigram"}


@pytest.mark.parametrize(
    ("file", "before", "after", "stale"),
    [
        # a definition that one row's settings name, and what that reaches
        ("model/attention.py", "return 1 / sqrt(width)", "return 2 / sqrt(width)", {"averages/head.s0"}),
        ("model/attention.py", "-1e9", "-1e4", {"averages/head.s0"}),
        ("model/attention.py", "bias = False", "bias = True", {"averages/head.s0"}),
        ("model/attention.py", "from math import sqrt", "from cmath import sqrt", {"averages/head.s0"}),
        ("model/attention.py", "pass", "return 3", {"averages/head.s0"}),  # any method of a class
        ("model/attention.py", "return 1\n", "return 2\n", set()),  # a neighbour that nothing reaches
        ("model/rungs.py", "return x", "return -x", TRAINED),  # a base class
        ("model/rungs.py", "flag = 1", "flag = 2", set()),
        # what all of them call
        ("model/train.py", "return 0.5", "return 0.25", AVERAGES),
        ("experiments/averages.py", "{\"a\": train", "{\"b\": train", AVERAGES),
        # words
        ("model/attention.py", "# (3,)", "# three", set()),
        ("model/attention.py", "One over the root.", "The root, inverted.", set()),
        ("model/attention.py", "scores", "values", set()),
        ("model/attention.py", "x: float", "x: int", set()),
        ("experiments/averages.py", "More words.", "Other words.", set()),
        # settings
        ("experiments/averages.py", "steps=3000", "steps=2000", AVERAGES),
        ("experiments/averages.py", '"width": 64', '"width": 32', {"averages/head.s0"}),
        ("experiments/averages.py", "steps=6", "steps=7", set()),
        ("model/settings.py", "width: int = 128", "width: int = 256", {"averages/none.s0", "averages/bigram"}),
        ("model/settings.py", "steps: int = 3000", "steps: int = 2000", set()),  # FULL overrides it
        ("model/settings.py", "self.width * 4", "self.width * 3", AVERAGES),  # a method of settings
        ("model/settings.py", "kinds: ClassVar[int] = 2", "kinds: ClassVar[int] = 3", AVERAGES),
        # declarations that decide no value
        ("experiments/averages.py", '"*_ms": "ms"', '"*_ms": "s"', set()),
        ("experiments/averages.py", "(0, 1, 2)", "(0, 1, 2, 3)", set()),
        ("experiments/averages.py", '"bigram": {}', '"bigram": {}, "more": {}', set()),
        # inputs
        ("experiments/toy.json", "{}", "{ }", AVERAGES),
        ("model/corpus.py", "86c4e6aa", "00000000", AVERAGES),
        ("model/corpus.py", "sha256()", "md5()", set()),  # through the harness alone
        # the harness
        ("experiments/session.py", "return corpus.load()", 'return "a"', set()),
        # others
        ("experiments/timing.py", "1.0", "2.0", {"timing/all"}),
        ("experiments/timing.py", "THREADS = 2", "THREADS = 1", set()),
        ("experiments/shuffle.py", "n: int = 8", "n: int = 9", {"shuffle/s0"}),
    ],
)  # fmt: skip
def test_what_becomes_stale(
    tree: Tree, file: str, before: str, after: str, stale: set[str]
) -> None:
    assert changed_by(lambda: tree.replace(file, before, after)) == stale


def test_times_never_matter(tree: Tree) -> None:
    assert not changed_by(lambda: [path.touch() for path in tree.root.rglob("*")])


def test_seeds_differ(tree: Tree) -> None:
    spec = run_spec("averages/none.s0")
    assert fingerprint(spec).digest != fingerprint(run_spec("averages/none.s1")).digest


def test_pieces_are_named_by_method(tree: Tree) -> None:
    definitions = fingerprint(run_spec("averages/head.s0")).definitions
    assert {
        "model.attention.Head",
        "model.attention.Head.forward",
        "model.attention.Head.__init__",
        "model.attention.NEGATIVE",
        "model.attention.scale",
        "model.rungs.TokenOnly.forward",
        "model.rungs.WithHead.forward",
        "model.train.rate",
        "model.settings.LanguageModelSettings.wide",
        "experiments.averages.measure",
    } <= set(definitions)
    assert not any("session" in name or "corpus" in name for name in definitions)
    assert "model.attention.elsewhere" not in definitions


def test_the_digest_follows_from_what_a_record_holds(tree: Tree) -> None:
    spec = run_spec("averages/head.s0")
    found = fingerprint(spec)
    again = provenance.digest_of(spec.settings, spec.seed, found.definitions, found.inputs)
    assert again == found.digest


def test_a_method_of_an_annotated_parameter(tree: Tree) -> None:
    """Only the methods that are named are reached, and those that they name in turn."""
    tree.write(
        "model/tool.py",
        """
        class Tool:
            def used(self): return self.helper()
            def helper(self): return 1
            def apart(self): return 2
        class Sharper(Tool):
            pass
        """,
    )
    tree.replace("experiments/shuffle.py", "from dataclasses", "from model.tool import Sharper\nfrom dataclasses")  # fmt: skip
    tree.replace("experiments/shuffle.py", "run: object)", 'run: "Sharper | None")')
    tree.replace("experiments/shuffle.py", '{"max_abs_diff": 0.0}', "run.used()")
    definitions = fingerprint(run_spec("shuffle/s0")).definitions
    assert {name for name in definitions if "tool" in name} == {
        "model.tool.Tool.used",
        "model.tool.Tool.helper",
    }


def test_a_module_used_whole_is_reached_whole(tree: Tree) -> None:
    tree.replace("experiments/shuffle.py", "from dataclasses", "from model import attention\nfrom dataclasses")  # fmt: skip
    tree.replace("experiments/shuffle.py", '{"max_abs_diff": 0.0}', "vars(attention)")
    assert "model.attention.elsewhere" in fingerprint(run_spec("shuffle/s0")).definitions


def test_bare_statements_of_reached_modules_count(tree: Tree) -> None:
    def change() -> None:
        tree.replace("model/attention.py", "NEGATIVE =", "import gc\ngc.disable()\nNEGATIVE =")

    assert changed_by(change) == TRAINED  # importing model.rungs imports model.attention
    assert "model.attention.<module>" in fingerprint(run_spec("averages/head.s0")).definitions


def test_a_settings_class_named_in_code_counts_with_its_fields(tree: Tree) -> None:
    tree.replace("experiments/shuffle.py", '{"max_abs_diff": 0.0}', "Settings(n=1)")
    before = fingerprint(run_spec("shuffle/s0")).definitions["experiments.shuffle.Settings"]
    tree.replace("experiments/shuffle.py", "FULL = Settings()", "FULL = Settings(n=8)")
    tree.replace("experiments/shuffle.py", "n: int = 8", "n: int = 9")
    after = fingerprint(run_spec("shuffle/s0")).definitions["experiments.shuffle.Settings"]
    assert before != after


def test_a_setting_that_names_nothing(tree: Tree) -> None:
    tree.replace("experiments/averages.py", "model.rungs:WithHead", "model.rungs:Gone")
    with pytest.raises(SourceError, match=r"called model\.rungs\.Gone .*averages/head\.s0"):
        fingerprint(run_spec("averages/head.s0"))
    fingerprint(run_spec("averages/none.s0"))  # the other rows stand


@pytest.mark.parametrize("name", ["experiments/gone.json", "../secret", "/etc/hostname"])
def test_an_input_that_is_not_there(tree: Tree, name: str) -> None:
    tree.replace("experiments/averages.py", "experiments/toy.json", name)
    with pytest.raises(DeclarationError, match="the input"):
        fingerprint(run_spec("averages/none.s0"))


def test_a_corpus_without_its_hash(tree: Tree) -> None:
    tree.replace("model/corpus.py", "SHA256 =", "OTHER =")
    with pytest.raises(DeclarationError, match=r"model/corpus\.py: SHA256"):
        fingerprint(run_spec("averages/none.s0"))


# what changed, in words


def recorded(tree: Tree, run: str = "averages/head.s0") -> Record:
    return read_record(tree.record(run, {"perplexity": 1.0}))


def test_the_difference_in_words(tree: Tree) -> None:
    record = recorded(tree)
    tree.replace("experiments/averages.py", "steps=3000", "steps=2000")
    tree.replace("model/settings.py", "tied: bool = False", "untied: bool = True")
    tree.replace("model/attention.py", "1 / sqrt(width)", "width")
    tree.replace("model/attention.py", "x * scale", "x + other")
    tree.write("model/attention.py", (tree.root / "model/attention.py").read_text() + "other = max")
    tree.replace("experiments/toy.json", "{}", "[]")
    assert difference(record, run_spec("averages/head.s0")) == [
        "setting steps: 3000 -> 2000",
        "setting tied removed (was false)",
        "setting untied added (true)",
        "input experiments/toy.json changed",
        "definition model.attention.Head.forward changed",
        "definition model.attention.other newly reached",
        "definition model.attention.scale no longer reached",
    ]


def test_no_difference(tree: Tree) -> None:
    assert difference(recorded(tree), run_spec("averages/head.s0")) == []


# what a replay has touched


HEAD = "model.attention.Head"
CALLED = {
    "experiments.averages.measure",
    "model.train.train",
    "model.train.rate",
    "model.rungs.WithHead.forward",
    f"{HEAD}.__init__",
    f"{HEAD}.forward",
    "model.attention.scale",
}


@pytest.mark.parametrize(
    ("file", "before", "after", "called", "missed"),
    [
        ("model/attention.py", "1 / sqrt", "2 / sqrt", CALLED, ()),
        ("model/attention.py", "1 / sqrt", "2 / sqrt", CALLED - {"model.attention.scale"}, ("model.attention.scale",)),
        ("model/attention.py", "pass", "return 3", CALLED, (f"{HEAD}.unused",)),
        ("model/attention.py", "bias = False", "bias = True", CALLED, ()),  # a class, by a method
        ("model/attention.py", "bias = False", "bias = True", {"model.train.train"}, (HEAD,)),
        ("model/attention.py", "-1e9", "-1e4", CALLED, ()),  # a constant, by who refers to it
        ("model/attention.py", "-1e9", "-1e4", CALLED - {f"{HEAD}.forward"}, ("model.attention.NEGATIVE",)),
        ("model/attention.py", "    def unused(self) -> None:\n        pass\n", "", CALLED, (f"{HEAD}.unused",)),
        ("model/attention.py", "x * scale(self.width)", "x", CALLED, ()),  # scale is gone, forward called
        ("model/attention.py", "x * scale(self.width)", "x", CALLED - {f"{HEAD}.forward"}, (f"{HEAD}.forward",)),
        ("model/attention.py", "import sqrt", "import sqrt\nprint(1)", CALLED, ("model.attention.<module>",)),
        ("model/attention.py", "# (3,)", "# three", set(), ()),
    ],
)  # fmt: skip
def test_what_a_replay_has_not_touched(
    tree: Tree, file: str, before: str, after: str, called: set[str], missed: tuple[str, ...]
) -> None:
    record = recorded(tree)
    tree.replace(file, before, after)
    assert uncovered(record, run_spec("averages/head.s0"), called) == missed


def test_a_new_function_must_be_called(tree: Tree) -> None:
    record = recorded(tree)
    tree.replace("model/train.py", "* rate(step)", "* rate(step) * more(step)")
    tree.write("model/train.py", (tree.root / "model/train.py").read_text() + "def more(step): return 1\n")  # fmt: skip
    spec = run_spec("averages/head.s0")
    assert uncovered(record, spec, CALLED) == ("model.train.more",)
    assert uncovered(record, spec, CALLED | {"model.train.more"}) == ()


def test_a_class_without_methods_that_the_settings_name(tree: Tree) -> None:
    """The harness makes it; its base's methods speak for it."""
    tree.replace("experiments/averages.py", "model.rungs:WithHead", "model.rungs:Bare")
    record = recorded(tree)
    tree.replace("model/rungs.py", "flag = 1", "flag = 2")
    spec = run_spec("averages/head.s0")
    assert uncovered(record, spec, {"model.rungs.TokenOnly.forward"}) == ()
    assert uncovered(record, spec, CALLED) == ("model.rungs.Bare",)


# the trace


def program(tree: Tree) -> Path:
    return tree.write(
        "model/called.py",
        """
        class A:
            def method(self):
                return [inner() for inner in (lambda: 1,)]
            def never(self):
                return 0
            class B:
                def deep(self):
                    return 1
        def outer():
            def nested():
                return 1
            return nested()
        def generator():
            yield 1
        def threaded():
            return 1
        """,
    )


def test_the_trace_names_what_was_called(tree: Tree) -> None:
    names = runpy.run_path(str(program(tree)))
    with CallTrace() as trace:
        names["A"]().method()
        names["A"].B().deep()
        names["outer"]()
        list(names["generator"]())
        thread = threading.Thread(target=names["threaded"])
        thread.start()
        thread.join()
    names["A"]().never()
    assert trace.called == {
        "model.called.A.method",
        "model.called.A.B.deep",
        "model.called.outer",
        "model.called.generator",
        "model.called.threaded",
    }


def test_the_trace_leaves_a_profiler_as_it_was(tree: Tree) -> None:
    def other(frame: object, event: str, argument: object) -> None: ...

    sys.setprofile(other)
    try:
        with CallTrace():
            pass
        assert sys.getprofile() is other
    finally:
        sys.setprofile(None)


def test_the_trace_ends_with_an_exception(tree: Tree) -> None:
    with pytest.raises(ZeroDivisionError), CallTrace():
        _ = 1 / 0
    assert sys.getprofile() is None


def test_the_machine_and_the_versions() -> None:
    machine = provenance.machine("cuda", 3, "A card")
    assert machine == {"kind": "cuda", "name": "A card", "threads": 3}
    assert provenance.machine()["name"]
    versions = provenance.versions(("pytest", "no-such-package"))
    assert set(versions) == {"python", "pytest"}


def test_reading_the_book_needs_neither_torch_nor_numpy() -> None:
    """The core must start fast: `get`, `why` and `plan` are typed by hand, and Snakemake waits."""
    program = (
        "import sys; import engine.plan, engine.quantity, engine.record, engine.__main__;"
        "print([m for m in ('torch', 'numpy', 'babel', 'jinja2', 'mkdocs') if m in sys.modules])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
