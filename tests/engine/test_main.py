"""Does each command answer in one clear line, with status 0 or 1?"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from small_book import Tree

from engine import __main__ as command
from engine import paths
from engine.errors import MedidaError

COMMANDS = ["get", "check", "lint", "why", "verify", "plan", "preview"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, list[str]]:
    """Status, standard output, and the lines of standard error."""
    try:
        status = command.main(arguments)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    out, err = capsys.readouterr()
    return status, out, err.splitlines()


@pytest.fixture
def filled(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> Tree:
    monkeypatch.setattr(command, "lint_findings", list)
    for seed in (0, 1, 2):
        tree.record(f"averages/none.s{seed}", {"perplexity": 59.1 + seed, "text": f"ó {seed}"})
    for seed in (0, 1):
        tree.record(f"averages/head.s{seed}", {"perplexity": 1 / 3, "list": [1, [0.1]]})
        tree.record(f"shuffle/s{seed}", {"max_abs_diff": 1e-7})
    tree.record("averages/bigram", {"perplexity": 120.0})
    tree.record("timing/all", {"a_ms": 1.0}, seconds=7200)
    return tree


CLAIM = '[c]\npt = "a"\nen = "a"\nexpected = "holds"\nless = ["averages.{}.perplexity", "averages.{}.perplexity"]\n'  # noqa: E501


# get


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["averages.none.perplexity"], "60.1"),
        (["averages.none.perplexity", "--all"], "[59.1, 60.1, 61.1]"),
        (["averages.head.perplexity"], "0.3333333333333333"),
        (["shuffle.max_abs_diff"], "1e-07"),
        (["averages.head.list"], "[1, [0.1]]"),
        (["averages.head.list.1.0"], "0.1"),
        (["averages.bigram.perplexity", "--all"], "[120.0]"),
        (["averages.none.text", "--all"], '["ó 0", "ó 1", "ó 2"]'),
        (["ladder.none.perplexity"], "60.1"),
    ],
)
def test_get(
    filled: Tree, capsys: pytest.CaptureFixture[str], arguments: list[str], printed: str
) -> None:
    assert run(capsys, "get", *arguments) == (0, printed + "\n", [])


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("averages.none.perplexty", "did you mean averages.none.perplexity"),
        ("averages.none.text", "--all prints each"),
        ("averages", "a group of values"),
        ("", "is no path"),
        ("a b", "is no path"),
        ("é.x", "is no path"),
    ],
)
def test_get_nothing(
    filled: Tree, capsys: pytest.CaptureFixture[str], path: str, message: str
) -> None:
    status, out, (line,) = run(capsys, "get", path)
    assert (status, out) == (1, "")
    assert message in line


# check


def test_check(filled: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    filled.write("chapters/a/claims.toml", CLAIM.format("head", "none"))
    status, out, errors = run(capsys, "check")
    assert (status, errors) == (0, [])
    assert out == "9 records are valid and current\n1 claims are as the chapters expect\n"


def test_check_names_every_problem(filled: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    filled.write("chapters/a/claims.toml", CLAIM.format("none", "head"))
    filled.write("chapters/b/claims.toml", "[c\n")
    filled.write("chapters/d/claims.toml", CLAIM.format("none", "gone"))
    filled.write("results/old/all.json", "{}")
    filled.write("results/shuffle/s7.json", "{}")
    filled.replace("experiments/timing.py", '"ms"', '"s"')
    filled.remove("results/shuffle/s1.json")
    (filled.root / "results/averages/bigram.json").write_text("{}")
    status, out, errors = run(capsys, "check")
    assert status == 1
    assert out.startswith("6 records are valid and current\n0 claims")
    for part in (
        "shuffle/s1 has not been measured yet: python -m experiments run shuffle/s1",
        "results/averages/bigram.json: ",
        "timing/all: the record gives a_ms in 'ms', experiments/timing.py in 's'",
        "results/old/all.json: belongs to no declared run (renamed?); git rm results/old/all.json",
        "results/shuffle/s7.json: SEEDS in experiments/shuffle.py does not name its seed; add it",
        "chapters/a/claims.toml [c]: expected holds, found not_reproduced",
        "chapters/b/claims.toml: ",
        "chapters/d/claims.toml [c]: nothing lies under averages.gone.perplexity",
    ):
        assert sum(part in line for line in errors) == 1, part
    assert len(errors) == 8


def test_check_under_smoke_settings_lets_claims_come_out_either_way(
    filled: Tree, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.write("chapters/a/claims.toml", CLAIM.format("none", "head"))
    monkeypatch.setattr(paths, "SETTINGS", "smoke")
    monkeypatch.setattr(paths, "RESULTS", filled.root / "build/smoke/results")
    for name in ("none.s0", "none.s1", "none.s2", "head.s0", "head.s1", "bigram"):
        filled.record(f"averages/{name}", {"perplexity": 1.0})
    for name in ("shuffle/s0", "shuffle/s1", "timing/all"):
        filled.record(name, {"a": 1.0})
    assert run(capsys, "check")[0] == 0
    filled.write("chapters/a/claims.toml", CLAIM.format("none", "gone"))
    assert run(capsys, "check")[0] == 1


def test_check_includes_the_lint(
    filled: Tree, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "lint_findings", lambda: ["chapters/a/pt.md.j2:3: a digit"])
    status, out, errors = run(capsys, "check")
    assert (status, errors) == (1, ["chapters/a/pt.md.j2:3: a digit"])
    assert out.startswith("9 records are valid and current")
    assert run(capsys, "lint") == (1, "", ["chapters/a/pt.md.j2:3: a digit"])


def test_a_lint_that_stops_hides_nothing(
    filled: Tree, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop() -> list[str]:
        raise MedidaError("no chapter can be read")

    monkeypatch.setattr(command, "lint_findings", stop)
    filled.remove("results/shuffle/s1.json")
    status, _, errors = run(capsys, "check")
    assert (status, len(errors), errors[-1]) == (1, 2, "no chapter can be read")


def test_check_goes_on_past_a_broken_experiment(
    filled: Tree, capsys: pytest.CaptureFixture[str]
) -> None:
    filled.write("experiments/broken.py", "def measure(:")
    status, out, (line,) = run(capsys, "check")
    assert (status, out.splitlines()[0]) == (1, "9 records are valid and current")
    assert line.startswith("experiments/broken.py:1: is not valid Python")


# why


def test_why(filled: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    filled.replace("model/attention.py", "1 / sqrt", "2 / sqrt")
    filled.remove("results/averages/none.s2.json")
    status, out, errors = run(capsys, "why", "averages")
    assert (status, errors) == (0, [])
    lines = out.splitlines()
    assert "averages/none.s0: current" in lines
    assert "averages/none.s2: no record yet; python -m experiments run averages/none.s2" in lines
    assert (
        "averages/head.s0: definition model.attention.scale changed;"
        " python -m experiments replay --attest averages/head.s0" in lines
    )
    assert sum("measured 20" in line and "A processor (cpu) in 2 s" in line for line in lines) == 5


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("averages/head.s1", ["averages/head.s1"]),
        ("averages.head.perplexity", ["averages/head.s0", "averages/head.s1"]),
        ("ladder.none.perplexity", [f"averages/none.s{n}" for n in (0, 1, 2)]),
        ("timing", ["timing/all"]),
    ],
)
def test_why_of_what(
    filled: Tree, capsys: pytest.CaptureFixture[str], name: str, runs: list[str]
) -> None:
    status, out, _ = run(capsys, "why", name)
    found = [line.split(":")[0] for line in out.splitlines() if not line.startswith(" ")]
    assert (status, found) == (0, runs)


@pytest.mark.parametrize("name", ["averges", "averages/gone.s0", "gone.a.b", "../x", "", "a/b/c"])
def test_why_of_nothing(filled: Tree, capsys: pytest.CaptureFixture[str], name: str) -> None:
    status, out, errors = run(capsys, "why", name)
    assert (status, out, len(errors)) == (1, "", 1)


# plan


def test_plan(filled: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "plan") == (0, "9 runs: all current\n", [])
    filled.replace("model/train.py", "0.5", "0.25")
    filled.replace("experiments/timing.py", "n: int = 8", "n: int = 9")
    filled.remove("results/shuffle")
    status, out, errors = run(capsys, "plan")
    assert (status, errors) == (0, [])
    lines = out.splitlines()
    assert "replay averages/none.s0: definition model.train.rate changed" in lines
    assert "measure timing/all (about 2.0 h): setting n: 8 -> 9" in lines
    assert lines[-1] == (
        "9 runs: replay 5, measure 4; measuring takes about 2.0 h on one core"
        " and 2 of unknown length"
    )


def test_plan_of_a_book_that_was_never_measured(
    tree: Tree, capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(capsys, "plan")[1]
    assert out.splitlines()[-1] == "9 runs: measure 9; how long it takes is not known yet"


# verify


def test_verify(filled: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "verify") == (0, "9 of 9 records are valid and current\n", [])
    filled.replace("model/attention.py", "1 / sqrt", "2 / sqrt")
    status, out, errors = run(capsys, "verify")
    assert (status, out, len(errors)) == (1, "7 of 9 records are valid and current\n", 2)
    assert run(capsys, "verify", "averages/none.s0")[0] == 0


@pytest.mark.parametrize("fails", [False, True])
def test_verify_by_replay_runs_the_experiments(
    filled: Tree, capsys: pytest.CaptureFixture[str], fails: bool
) -> None:
    """Through the command line alone: a stand-in notes what it was asked."""
    filled.write(
        "experiments/__main__.py",
        f"""
        import os, pathlib, sys
        pathlib.Path(f"asked.{{os.getpid()}}").write_text(" ".join(sys.argv[1:]))
        if "timing/all" in sys.argv:
            print("timing/all: not replayed; it is too long")
            sys.exit({int(fails)})
        """,
    )
    status, out, errors = run(capsys, "verify", "--replay", "--jobs", "2")
    asked = [path.read_text().split() for path in filled.root.glob("asked.*")]
    assert {words[0] for words in asked} == {"replay"}
    assert sorted(name for words in asked for name in words[1:]) == sorted(
        spec.id for spec in (job.spec for job in command.plan())
    )
    assert status == int(fails)
    assert errors == (["1 of 3 groups of replays did not agree"] if fails else [])
    assert ("8 runs replayed, all agree\n" in out) is not fails
    assert out.endswith("timing/all: not replayed; it is too long\n")


@pytest.mark.parametrize("more", ["--replay", "averages/none.s0"])
def test_a_site_is_verified_alone(
    filled: Tree, capsys: pytest.CaptureFixture[str], more: str
) -> None:
    status, _, errors = run(capsys, "verify", more, "--site")
    assert (status, errors) == (
        1,
        ["verify --site compares a site, and takes no runs and no --replay"],
    )


# usage and accidents


@pytest.mark.parametrize("name", COMMANDS)
def test_help(capsys: pytest.CaptureFixture[str], name: str) -> None:
    status, out, errors = run(capsys, name, "--help")
    assert (status, errors) == (0, [])
    assert out.startswith(f"usage: python -m engine {name}")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["gt"],
        ["get"],
        ["get", "a", "b"],
        ["get", "a", "--every"],
        ["why"],
        ["verify", "--jobs"],
        ["verify", "--jobs", "0"],
        ["verify", "--jobs", "-1"],
        ["verify", "--jobs", "x"],
        ["plan", "x"],
    ],
)
def test_wrong_usage(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    status, out, errors = run(capsys, *arguments)
    assert (status, out, len(errors)) == (1, "", 1)
    assert errors[0].endswith("(see --help)")


@pytest.mark.parametrize(
    "accident",
    [
        MedidaError("one\n  line"),
        KeyboardInterrupt(),
        PermissionError(13, "Permission denied", "results/a.json"),
        OSError("odd"),
    ],
)
def test_accidents(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, accident: BaseException
) -> None:
    def fail(options: Any) -> int:
        raise accident

    monkeypatch.setitem(command._COMMANDS, "plan", fail)  # pyright: ignore[reportPrivateUsage]
    status, out, errors = run(capsys, "plan")
    assert (status, out, len(errors)) == (1, "", 1)


def test_settings_that_there_are_not() -> None:
    done = whole("plan", settings="Full")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "there are no settings 'Full': MEDIDA_SETTINGS is full or smoke\n"


def test_a_reader_that_goes_away() -> None:
    program = f"{sys.executable} -m engine plan | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", program], cwd=Path(__file__).parents[2], capture_output=True, check=False
    )
    assert done.returncode in (0, 1)
    assert b"Traceback" not in done.stderr


def whole(*arguments: str, settings: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [sys.executable, "-m", "engine", *arguments],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"MEDIDA_SETTINGS": settings},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_get_prints_is_json(filled: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(run(capsys, "get", "averages.head.perplexity")[1]) == 1 / 3
