"""Is a change of the code that matters noticed, and does one that does not matter cost nothing?

`mutations.toml` changes every function of model/ that a record depends on. For each change: the
digests of the runs that depend on it move (so that they are replayed or measured), and a unit test
or a replay fails. Harmless changes, of comments, layout and names of locals, move no digest at all.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine import paths
from engine.declaration import declaration, experiments
from engine.plan import plan
from engine.provenance import fingerprint
from engine.record import Record, read_record
from model.settings import LanguageModelSettings
from tests.attack.tally import Tally

HERE = Path(__file__).parent
FOLDERS = ("engine", "model", "experiments", "benchmarks", "results", "chapters")
PARTS = 2  # of the table, each with a tree of its own, so that two cores have work
FIRST = {  # the tests that know a module best
    "attention": ["test_attention", "test_blocks"],
    "block": ["test_blocks"],
    "language_model": ["test_blocks"],
    "loss": ["test_loss"],
    "perplexity": ["test_loss"],
    "position": ["test_position", "test_modern"],
    "norm": ["test_blocks"],
    "modern": ["test_modern"],
    "arithmetic": ["test_blocks"],
    "tokenizer": ["test_tokenizer"],
    "train": ["test_train"],
    "settings": ["test_blocks"],
}
NOTHING_TO_GET_WRONG = {
    "model.language_model.LanguageModel.features": "raises: each rung has its own",
    "model.modern.SwappedBlocks.swap": "raises: each of them has its own",
}


@dataclass(frozen=True)
class Mutation:
    """One change: `before` is replaced by `after` inside the definition `of`.

    What is known to notice it is named so that it is tried first: `runs` that are replayed, before
    any test, or `tests`.
    """

    of: str
    what: str
    before: str
    after: str
    runs: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        return self.of.split(".")[1]

    @property
    def file(self) -> str:
        return f"model/{self.module}.py"

    def applied(self) -> str:
        """The module's text with the change in it."""
        text = (paths.ROOT / self.file).read_text(encoding="utf-8")
        start, end = extent(text, self.of.split(".")[2:])
        inside = text[start:end]
        assert inside.count(self.before) == 1, f"{self.of}: {self.before!r} stands there not once"
        changed = text[:start] + inside.replace(self.before, self.after) + text[end:]
        ast.parse(changed)
        return changed


def mutations() -> list[Mutation]:
    table: list[dict[str, Any]] = tomllib.loads(
        (HERE / "mutations.toml").read_text(encoding="utf-8")
    )["mutation"]
    return [
        Mutation(**{k: tuple(v) if isinstance(v, list) else v for k, v in one.items()})  # type: ignore[arg-type]
        for one in table
    ]


def extent(text: str, names: list[str]) -> tuple[int, int]:
    """Where a definition begins and ends in its module's text."""
    body: list[ast.stmt] = ast.parse(text).body
    node: ast.stmt | None = None
    for name in names:
        node = next(item for item in body if name in defined(item))
        body = getattr(node, "body", [])
    assert node is not None
    assert node.end_lineno is not None
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts[node.lineno - 1], starts[node.end_lineno]


def defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def records() -> list[Record]:
    return [read_record(path) for path in sorted((paths.ROOT / "results").glob("*/*.json"))]


def functions_behind(every: list[Record]) -> set[str]:
    """Every function of model/ that a record depends on, by its whole name."""
    names = {name for record in every for name in record.definitions if name.startswith("model.")}
    found: set[str] = set()
    for name in names:
        text = (paths.ROOT / f"model/{name.split('.')[1]}.py").read_text(encoding="utf-8")
        start, _ = extent(text, name.split(".")[2:])
        if text[start:].lstrip().startswith(("def ", "@staticmethod")):
            found.add(name)
    return found


def test_every_function_that_a_record_depends_on_is_attacked() -> None:
    attacked = {mutation.of for mutation in mutations()}
    assert functions_behind(records()) - attacked - set(NOTHING_TO_GET_WRONG) == set()
    assert len({(m.of, m.before, m.after) for m in mutations()}) == len(mutations())


# ---------------------------------------------------------------------------- what notices


def grow(tree: Path) -> Path:
    """A copy of everything that the unit tests of model/ and a replay read."""
    without = shutil.ignore_patterns("__pycache__")
    for name in FOLDERS:
        shutil.copytree(paths.ROOT / name, tree / name, ignore=without)
    for name in ("model", "experiments", "attack"):
        shutil.copytree(paths.ROOT / "tests" / name, tree / "tests" / name, ignore=without)
    for name in ("tests/__init__.py", "tests/conftest.py", "pyproject.toml"):
        shutil.copy(paths.ROOT / name, tree / name)
    return tree


def job(mutation: Mutation | None, every: list[Record]) -> dict[str, Any]:
    """What `mutant.py` is to try; without a mutation the tree as it is, which everything passes."""
    folder = paths.ROOT / "tests" / "model"
    files = [f"tests/model/{path.name}" for path in sorted(folder.glob("test_*.py"))]
    if mutation is None:
        text = (paths.ROOT / "model/attention.py").read_text(encoding="utf-8")
        first, runs = files[:0], every_run(mutations())
        file = "model/attention.py"
    else:
        known = [f"tests/model/{name}.py" for name in FIRST.get(mutation.module, [])]
        first = [*mutation.tests, *(name for name in known if name in files)]
        file, text, runs = mutation.file, mutation.applied(), list(mutation.runs)
        if not runs:
            of = [r for r in every if mutation.of in r.definitions and not r.machine_dependent]
            short = [r for r in of if r.replay is not None or r.seconds < 20]
            runs = [r.id for r in sorted(short, key=lambda r: (r.replay is not None, r.seconds))]
    assert set(runs) <= {record.id for record in every}, f"{file}: {runs}"
    groups = [first, [name for name in files if name not in first]]
    tests = [[*group, "-k", "not killed"] for group in groups if group]
    if mutation and mutation.module == "train":  # processes of their own: what takes longest
        tests.append(["tests/model/test_train.py", "-k", "killed"])
    return {
        "file": file,
        "text": text,
        "tests": tests,
        "runs": runs[:3] if mutation else runs,
        "replay_first": bool(mutation and mutation.runs),
    }


def every_run(of: list[Mutation]) -> list[str]:
    return list(dict.fromkeys(run for mutation in of for run in mutation.runs))


def try_jobs(tree: Path, jobs: list[dict[str, Any]]) -> list[str]:
    data = [str(paths.ROOT / "data"), str(paths.ROOT.parent / "shared" / "data")]
    found = next((folder for folder in data if Path(folder).is_dir()), "")
    done = subprocess.run(
        [sys.executable, str(HERE / "mutant.py"), str(tree)],
        cwd=paths.ROOT,
        env={
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            **{"OMP_NUM_THREADS": "1", "MEDIDA_DATA": found, "MEDIDA_SETTINGS": "full"},
        },
        input=json.dumps(jobs),
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.corpus
@pytest.mark.parametrize("part", range(PARTS))
def test_a_change_that_matters_is_noticed(
    part: int, tmp_path: Path, tally: Callable[[str], Tally]
) -> None:
    every = records()
    tree = grow(tmp_path / "tree")
    some = mutations()[part::PARTS]
    jobs = [job(mutation, every) for mutation in some]
    outcomes = try_jobs(tree, jobs)
    noticed = tally(f"code.mutated_{part}")
    for mutation, outcome in zip(some, outcomes, strict=True):
        noticed.count(outcome, f"{mutation.of}: {mutation.what}")


@pytest.mark.corpus
def test_the_tree_as_it_is_passes_all_that_notices_a_change(tmp_path: Path) -> None:
    assert try_jobs(grow(tmp_path / "tree"), [job(None, records())]) == [""]


# ---------------------------------------------------------------------------- digests


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sources where the engine looks for them."""
    for name in ("model", "experiments"):
        shutil.copytree(paths.ROOT / name, tmp_path / name)
        monkeypatch.setattr(paths, name.upper(), tmp_path / name)
    monkeypatch.setattr(paths, "RESULTS", paths.ROOT / "results")
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    return tmp_path


def test_a_change_that_matters_moves_the_digests_of_what_depends_on_it_and_no_other(
    tree: Path, tally: Callable[[str], Tally]
) -> None:
    specs = [declaration(name).runs[-1] for name in experiments() if declaration(name).runs]
    before = {spec.id: fingerprint(spec) for spec in specs}
    changed = {mutation.of: (mutation, mutation.applied()) for mutation in mutations()}
    moved, still = tally("code.digest_moved"), tally("still.digest")
    for mutation, text in changed.values():
        path = tree / mutation.file
        whole = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        for spec in specs:
            reaches = mutation.of in before[spec.id].definitions
            now = spec
            # Settings count by the values of the run; by their text where its code makes some.
            if mutation.module == "settings":
                now = declaration(spec.experiment).runs[-1]
                own = importlib.import_module(f"experiments.{spec.experiment}").Settings
                inherits = issubclass(own, LanguageModelSettings)
                reaches = now.settings != spec.settings or (reaches and not inherits)
            differs = fingerprint(now).digest != before[spec.id].digest
            tally_ = moved if reaches else still
            tally_.count(differs == reaches, f"{mutation.of} ({mutation.what}): {spec.id}")
        path.write_text(whole, encoding="utf-8")


class Renamed(ast.NodeTransformer):
    """Every local name of every function is another one."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        inner = [n for n in ast.walk(node) if isinstance(n, ast.FunctionDef | ast.Lambda)]
        stored = {
            n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        declared = {
            name
            for n in ast.walk(node)
            if isinstance(n, ast.Global | ast.Nonlocal)
            for name in n.names
        }
        if len(inner) > 1:  # names that an inner function shares are left as they are
            return node
        given = {n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)}  # part of a call
        names = {name: f"{name}_renamed" for name in stored - declared - given}
        for n in ast.walk(node):
            if isinstance(n, ast.Name) and n.id in names:
                n.id = names[n.id]
        return node


def without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (
            node is not tree and ast.get_docstring(node, clean=False) is not None
        ):
            node.body[0] = ast.Expr(ast.Constant("Another sentence."))
    return tree


def relaid(text: str) -> str:
    """Comments gone, everything laid out anew, docstrings others; and a comment at each end."""
    tree = without_docstrings(ast.parse(text))
    return f"# one\n{ast.unparse(tree)}\n\n\n# another\n"


def renamed(text: str) -> str:
    return ast.unparse(ast.fix_missing_locations(Renamed().visit(ast.parse(text))))


HARMLESS: dict[str, Callable[[str], str]] = {"relaid": relaid, "renamed": renamed}


@pytest.mark.parametrize("how", HARMLESS)
def test_a_harmless_change_costs_no_measurement(
    how: str, tree: Path, tally: Callable[[str], Tally]
) -> None:
    due = {job.spec.id: job.action for job in plan()}
    files = sorted(tree.glob("model/*.py"))
    for path in files:
        text = path.read_text(encoding="utf-8")
        changed = HARMLESS[how](text)
        assert changed != text or not text.strip("\n")
        path.write_text(changed, encoding="utf-8")
    for path in [p for p in tree.glob("experiments/*.py") if p.stem in experiments()]:
        path.write_text(relaid(path.read_text(encoding="utf-8")), encoding="utf-8")
    still = tally(f"still.{how}")
    for job_ in plan():
        still.count(job_.action == due[job_.spec.id], f"{job_.spec.id}: {job_.why}")
