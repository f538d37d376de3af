"""Do imports run one way?

errors, paths <- provenance <- record <- claims, plan <- render <- lint, site, with number feeding
claims and render. The model imports neither engine nor experiments; experiments import both;
figures import the engine only; the engine reaches experiments only by running them; chapters import
nothing.
"""

import ast
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OWN = ("engine", "model", "experiments", "figures", "tests", "chapters", "templates")

# The arrows of the core: a module imports nothing of the engine but what stands before it.
LAYERS = (
    {"errors", "paths"},
    {"source", "number"},
    {"declaration"},
    {"provenance"},
    {"record"},
    {"quantity"},
    {"claims", "plan"},
)
CORE = {name for layer in LAYERS for name in layer}
RENDER_AND_ABOVE = {"render", "lint", "site", "__main__"}

# What each package may import beside itself, the standard library aside.
ALLOWED = {
    "model": {"torch", "tokenizers"},
    "experiments": {"engine", "model", "torch", "tokenizers", "numpy"},
}
FORBIDDEN = {
    "engine": {"model", "experiments", "figures", "tests"}
    | {"torch", "transformers", "tokenizers", "numpy", "altair", "vl_convert"},
    "figures": {"model", "experiments", "tests", "torch", "transformers", "tokenizers"},
}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[str]:
    """Every module that is imported when this one runs, anywhere in it; for a type checker alone
    does not count."""
    package = dotted(path) if path.name == "__init__.py" else dotted(path).rpartition(".")[0]
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting.extend(node.orelse)
            continue
        waiting.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1]
            source = ".".join([*base, node.module or ""] if node.level else [node.module or ""])
            source = source.rstrip(".")
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                yield inner if is_module(inner) else source


def is_module(name: str) -> bool:
    base = ROOT.joinpath(*name.split("."))
    return base.with_suffix(".py").is_file() or (base / "__init__.py").is_file()


def tops(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports(path)}


def engine_imports(path: Path) -> set[str]:
    return {
        name.split(".")[1] if "." in name else "__init__"
        for name in imports(path)
        if name.split(".")[0] == "engine"
    }


def test_there_is_something_to_judge() -> None:
    for package in ("engine", "model", "experiments", "figures"):
        assert len(modules(package)) > 3
    assert {path.stem for path in modules("engine")} >= CORE


@pytest.mark.parametrize("path", modules("engine"), ids=dotted)
def test_the_engine_knows_no_torch_and_no_experiment(path: Path) -> None:
    assert not tops(path) & FORBIDDEN["engine"]


@pytest.mark.parametrize("name", sorted(CORE))
def test_the_core_imports_one_way(name: str) -> None:
    depth = next(index for index, layer in enumerate(LAYERS) if name in layer)
    before = {other for layer in LAYERS[:depth] for other in layer}
    assert engine_imports(ROOT / "engine" / f"{name}.py") <= before


def test_the_engine_has_no_circle() -> None:
    graph = {path.stem: engine_imports(path) for path in modules("engine")}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"imports in a circle: {' -> '.join(error.args[1])}")
    assert set(order) >= CORE


def test_nothing_below_the_pages_imports_them() -> None:
    for path in modules("engine"):
        if path.stem not in RENDER_AND_ABOVE:
            assert not engine_imports(path) & {"lint", "site", "__main__"}, path.name
    assert not engine_imports(ROOT / "engine/render.py") & {"lint", "site", "__main__"}


@pytest.mark.parametrize("path", modules("model"), ids=dotted)
def test_the_model_knows_torch_and_itself(path: Path) -> None:
    assert outside(path, "model") <= ALLOWED["model"]


@pytest.mark.parametrize("path", modules("experiments"), ids=dotted)
def test_experiments_import_engine_and_model(path: Path) -> None:
    assert outside(path, "experiments") <= ALLOWED["experiments"]


@pytest.mark.parametrize("path", modules("figures"), ids=dotted)
def test_figures_import_the_engine_only(path: Path) -> None:
    assert not tops(path) & FORBIDDEN["figures"]


def outside(path: Path, own: str) -> set[str]:
    return tops(path) - set(sys.stdlib_module_names) - {own}


def test_chapters_and_templates_import_nothing() -> None:
    assert not modules("chapters")
    assert not modules("templates")


def test_a_backward_arrow_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge itself, on a file of every way to import."""
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    for name in ("engine/__init__.py", "engine/render.py", "engine/record.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    path = tmp_path / "engine" / "record.py"
    for text in (
        "import engine.render",
        "from engine import render",
        "from engine.render import page",
        "from . import render",
        "from .render import page",
        "def f():\n    from engine import render as r",
        "try:\n    pass\nfinally:\n    import engine.render as r",
    ):
        path.write_text(text)
        assert "render" in engine_imports(path), text
    path.write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import engine.render")
    assert not engine_imports(path)
    path.write_text("import torch.nn as nn")
    assert tops(path) == {"torch"}
