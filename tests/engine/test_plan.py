"""Does the plan say truthfully what is to be done, and why?"""

import json

import pytest
from small_book import GPU, Tree

from engine import plan
from engine.declaration import run_spec
from engine.errors import DeclarationError
from engine.plan import Job, devices_here, duration, job_of, orphans, remaining

CPU_ONLY = frozenset({"cpu"})


def job(run: str) -> Job:
    return job_of(run_spec(run), CPU_ONLY)


def test_nothing_is_measured_yet(tree: Tree) -> None:
    jobs = plan.plan()
    assert [item.spec.id for item in jobs][:2] == ["averages/none.s0", "averages/none.s1"]
    assert {item.action for item in jobs} == {"measure"}
    assert {item.why for item in jobs} == {"no record yet"}
    assert {item.estimate_seconds for item in jobs} == {None}


def test_a_current_run(tree: Tree) -> None:
    tree.record("averages/none.s0", {"a": 1.0}, seconds=70)
    assert (job("averages/none.s0").action, job("averages/none.s0").why) == ("current", "current")
    other = job("averages/none.s1")
    assert (other.action, other.estimate_seconds) == ("measure", 70)
    assert job("averages/head.s0").estimate_seconds is None


def test_changed_code_of_a_trained_run_is_replayed(tree: Tree) -> None:
    tree.record("averages/head.s0", {"a": 1.0})
    tree.replace("model/attention.py", "1 / sqrt", "2 / sqrt")
    found = job("averages/head.s0")
    assert (found.action, found.why) == ("replay", "definition model.attention.scale changed")
    assert found.command == "python -m experiments replay --attest averages/head.s0"


def test_changed_settings_are_measured(tree: Tree) -> None:
    tree.record("averages/head.s0", {"a": 1.0}, seconds=90)
    tree.replace("experiments/averages.py", "steps=3000", "steps=2000")
    found = job("averages/head.s0")
    assert (found.action, found.why) == ("measure", "setting steps: 3000 -> 2000")
    assert found.estimate_seconds == 90
    assert found.command == "python -m experiments run averages/head.s0"


def test_a_changed_input_is_measured(tree: Tree) -> None:
    tree.record("averages/head.s0", {"a": 1.0})
    tree.replace("experiments/toy.json", "{}", "[]")
    assert job("averages/head.s0").why == "input experiments/toy.json changed"
    assert job("averages/head.s0").action == "measure"


def test_changed_code_of_an_untrained_run_is_measured(tree: Tree) -> None:
    tree.record("shuffle/s0", {"a": 1.0})
    tree.replace("experiments/shuffle.py", "0.0", "1.0")
    found = job("shuffle/s0")
    assert (found.action, found.why) == (
        "measure",
        "definition experiments.shuffle.measure changed",
    )


def test_a_run_that_became_trained(tree: Tree) -> None:
    tree.record("shuffle/s0", {"a": 1.0})
    tree.replace("experiments/shuffle.py", "0.0", "1.0")
    tree.replace("experiments/shuffle.py", "SEEDS", "TRAINED = True\nSEEDS")
    found = job("shuffle/s0")
    assert found.action == "measure"
    assert found.why.endswith("its record holds nothing to replay")


def test_times_of_a_card_are_measured_elsewhere(tree: Tree) -> None:
    tree.record("timing/all", {"a_ms": 1.0}, device=GPU)
    assert job("timing/all").action == "current"
    tree.replace("experiments/timing.py", "1.0", "2.0")
    found = job("timing/all")
    assert found.action == "elsewhere"
    assert found.why == "definition experiments.timing.measure changed; measured on cuda, not here"
    assert job_of(run_spec("timing/all"), frozenset({"cpu", "cuda"})).action == "measure"


def test_times_of_a_processor_are_measured_here(tree: Tree) -> None:
    tree.record("timing/all", {"a_ms": 1.0})
    tree.replace("experiments/timing.py", "1.0", "2.0")
    assert job("timing/all").action == "measure"


def test_times_of_a_trained_run_are_not_replayed(tree: Tree) -> None:
    tree.replace("experiments/averages.py", "NONFINITE", 'MACHINE_DEPENDENT = ("*_ms",)\nNONFINITE')
    tree.record("averages/none.s0", {"a_ms": 1.0})
    tree.replace("model/train.py", "0.5", "0.25")
    assert job("averages/none.s0").action == "measure"


@pytest.mark.parametrize("content", ["", "{}", "null", "[1]", '{"schema": 2}'])
def test_a_corrupt_record_is_due_and_nothing_else(tree: Tree, content: str) -> None:
    tree.record("shuffle/s1", {"a": 1.0})
    tree.record("shuffle/s0", {"a": 1.0}).write_text(content)
    found = job("shuffle/s0")
    assert found.action == "measure"
    assert found.why.startswith("record is corrupt: results/shuffle/s0.json")
    assert job("shuffle/s1").action == "current"
    assert len(plan.plan()) == 9


def test_a_corrupt_record_of_a_card(tree: Tree) -> None:
    path = tree.record("timing/all", {"a_ms": 1.0}, device=GPU)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"seconds": 3}))
    found = job("timing/all")
    assert found.action == "elsewhere"
    assert "edited by hand" in found.why


def test_source_that_cannot_be_read_is_due_and_nothing_else(tree: Tree) -> None:
    tree.record("averages/none.s0", {"a": 1.0})
    tree.record("shuffle/s0", {"a": 1.0})
    tree.write("model/train.py", "def train(:")
    found = job("averages/none.s0")
    assert found.action == "measure"
    assert "model/train.py:1: is not valid Python" in found.why
    assert job("shuffle/s0").action == "current"


def test_a_declaration_that_cannot_be_read(tree: Tree) -> None:
    tree.write("experiments/broken.py", "def measure(:")
    with pytest.raises(DeclarationError, match=r"experiments/broken\.py:1"):
        plan.plan()


def test_smoke_settings_have_their_own_records(tree: Tree) -> None:
    tree.record("shuffle/s0", {"a": 1.0})
    actions = {item.spec.id: item.action for item in plan.plan("smoke")}
    assert actions["shuffle/s0"] == "measure"
    tree.record("shuffle/s0", {"a": 1.0}, settings="smoke")
    assert {i.spec.id: i.action for i in plan.plan("smoke")}["shuffle/s0"] == "current"


def test_records_of_what_was_renamed(tree: Tree) -> None:
    tree.record("shuffle/s0", {"a": 1.0})
    old = tree.write("results/old/all.json", "{}")
    assert orphans() == (old,)
    tree.replace("experiments/shuffle.py", "(0, 1)", "(1, 2)")
    assert orphans() == (old, tree.root / "results/shuffle/s0.json")


def test_what_remains(tree: Tree) -> None:
    tree.record("shuffle/s0", {"a": 1.0})
    due = remaining(plan.plan())
    assert {action: len(jobs) for action, jobs in due.items()} == {"measure": 8}


def test_many_changes_are_told_shortly() -> None:
    assert plan.shortened(["a", "b", "c", "d", "e", "f"]) == "a; b; c; d; and 2 more"
    assert plan.shortened(["a"]) == "a"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "less than 1 s"), (40, "40 s"), (720, "12 min"), (12600, "3.5 h")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_processor_is_always_here() -> None:
    assert "cpu" in devices_here()
