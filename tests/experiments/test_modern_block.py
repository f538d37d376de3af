"""Does the listing of chapter 20 print what the book shows, and are its sizes those published?"""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from experiments import modern_block
from model.arithmetic import LLAMA3, ModernShape

RECORD: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "results" / "modern_block" / "all.json").read_text("utf-8")
)["values"]


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
def test_the_program_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_module("experiments.modern_block", run_name="__main__")
    printed = capsys.readouterr().out
    assert printed == RECORD["trace"] + "\n"
    shapes = {line[:9].strip(): line[9:].split(" × ") for line in printed.splitlines()}
    assert {name: list(map(int, shape)) for name, shape in shapes.items()} == RECORD["shapes"]


def test_the_shapes_are_those_that_the_chapter_names() -> None:
    shapes = RECORD["shapes"]
    assert (shapes["q"], shapes["weights"], shapes["hidden"]) == ([2, 5, 4], [2, 5, 5], [5, 21])
    assert shapes["k"] == shapes["v"] == [1, 5, 4]
    assert RECORD["max_abs_diff"] < 1e-12 < 1 < RECORD["mean_abs_output"]


def test_two_heads_of_keys_are_the_modules_block_too() -> None:
    settings = modern_block.Settings(kv_heads=2)
    x, w = modern_block.drawn(settings)
    stages = modern_block.modern_block(x, w, 4)
    assert list(stages["k"].shape) == [2, 5, 4]
    assert modern_block.against_the_modules(settings, stages, w)["max_abs_diff"] < 1e-12


# The parameters that the released checkpoints are said to have, to the last one.
PUBLISHED = {"8B": 8030261248, "70B": 70553706496, "405B": 405853388800}


@pytest.mark.parametrize("name", PUBLISHED)
def test_llama_3_has_as_many_parameters_as_published(name: str) -> None:
    found = RECORD[f"llama3_{name}"]
    assert found["total"] == found["counted"] == PUBLISHED[name]
    shape = LLAMA3[name]
    assert (found["width"], found["hidden_width"]) == (shape.width, shape.hidden)


def test_formula_and_count_agree_at_shapes_that_nobody_published() -> None:
    for kv_heads in (1, 3, 6):
        shape = ModernShape(48, 2, 6, 101, kv_heads, 77)
        found = modern_block.published_model(shape, 0)
        assert found["total"] == found["counted"]


def test_the_sizes_of_the_source() -> None:
    large = RECORD["d_4096"]
    assert (large["attention"], large["mlp"], large["block"]) == (41943040, 135266304, 177217536)
    assert RECORD["blocks_32"] == 32 * large["block"]
    assert RECORD["tiny"]["block"] == RECORD["tiny"]["counted"]
