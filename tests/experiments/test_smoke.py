"""Does every experiment run, in seconds, and record what its declaration says?

One row after another at smoke settings, in a copy of the tree; a trained row is replayed too.
"""

from pathlib import Path

import pytest

from engine import record
from engine.declaration import Declaration, RunSpec, declaration, experiments
from tests.experiments.command import call
from tests.experiments.test_runner import copy as copy  # the fixture
from tests.experiments.test_runner import recorded


def one_seed_of_every_row(declared: Declaration) -> list[RunSpec]:
    chosen: dict[str, RunSpec] = {}
    for spec in declared.runs:
        chosen.setdefault(spec.row, spec)
    return list(chosen.values())


@pytest.mark.parametrize("experiment", experiments())
def test_experiment_runs_at_smoke_settings(experiment: str, copy: Path) -> None:
    declared = declaration(experiment, "smoke")
    assert declared.question.endswith("?"), "the docstring's first line is the question"
    specs = one_seed_of_every_row(declared)
    assert specs
    call(copy, "run", *(spec.id for spec in specs))
    for spec in specs:
        found = recorded(copy, spec.id)
        assert found["settings"] == record.plain(spec.settings)
        assert (found["replay"] is not None) == spec.trained
        assert found["values"]
    trained = [spec.id for spec in specs if spec.trained]
    if trained:
        done = call(copy, "replay", *trained)
        assert done.stderr.count("agrees within") == len(trained)
