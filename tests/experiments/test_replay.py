"""Do the records that are expensive to measure still come from this code?

One seed of every trained row repeats its first steps and every value at the fifth; every untrained
run that took less than a minute is measured again and compared.
"""

import pytest

from engine.declaration import RunSpec, declaration, experiments
from experiments import runner


def one_seed_of_every_row() -> list[RunSpec]:
    chosen: dict[tuple[str, str], RunSpec] = {}
    for experiment in experiments():
        for spec in declaration(experiment, "full").runs:
            chosen.setdefault((spec.experiment, spec.row), spec)
    return list(chosen.values())


@pytest.mark.corpus
@pytest.mark.replay
@pytest.mark.parametrize("spec", one_seed_of_every_row(), ids=lambda spec: spec.id)
def test_replay(spec: RunSpec, capfd: pytest.CaptureFixture[str]) -> None:
    agrees = runner.replay_run(spec, "cpu", attest=False)
    assert agrees, capfd.readouterr().err
