"""Do seeds trained as one batch of models end where each ends alone?"""

from contextlib import nullcontext
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import Generator

from model import train_together as together
from model.language_model import Blocks, LanguageModel, MeanOnly
from model.train import train
from tests.model.test_train import SETTINGS, draw, watch

KINDS: list[type[LanguageModel]] = [Blocks, MeanOnly]


def fresh(kind: type[LanguageModel], seed: int) -> tuple[LanguageModel, Generator]:
    torch.manual_seed(seed)
    return kind(SETTINGS), Generator().manual_seed(seed)


@pytest.mark.parametrize("kind", KINDS)
def test_the_batch_equals_the_single_seeds_to_float32_accuracy(kind: type[LanguageModel]) -> None:
    alone = []
    for seed in range(3):
        model, generator = fresh(kind, seed)
        alone.append((model, train(model, draw, SETTINGS, generator=generator, watch=watch)))
    pairs = [fresh(kind, seed) for seed in range(3)]
    models = [model for model, _ in pairs]
    trainings = together.train_together(
        models,
        [draw] * 3,
        SETTINGS,
        generators=[generator for _, generator in pairs],
        watches=[watch] * 3,
    )
    for (model, expected), batched, found in zip(alone, models, trainings, strict=True):
        assert found.losses == pytest.approx(expected.losses, rel=1e-5)
        assert [p["step"] for p in found.curve] == [p["step"] for p in expected.curve]
        assert found.curve[-1]["norm"] == pytest.approx(expected.curve[-1]["norm"], rel=1e-5)
        for mine, theirs in zip(batched.parameters(), model.parameters(), strict=True):
            torch.testing.assert_close(mine, theirs, atol=2e-4, rtol=1e-3)


def test_a_stopped_batch_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(checkpoint: Path | None, stop: int | None = None) -> list[list[float]]:
        pairs = [fresh(Blocks, seed) for seed in range(2)]

        def report(step: int, steps: int, loss: float, seconds: float) -> None:
            if step == stop:
                raise KeyboardInterrupt

        trainings = together.train_together(
            [model for model, _ in pairs],
            [draw] * 2,
            SETTINGS,
            generators=[generator for _, generator in pairs],
            watches=[watch] * 2,
            checkpoint=checkpoint,
            report=report,
        )
        return [training.losses for training in trainings]

    monkeypatch.setattr(together, "SAVE_EVERY", 0.0)
    checkpoint = tmp_path / "both.pt"
    with pytest.raises(KeyboardInterrupt):
        run(checkpoint, stop=9)
    assert checkpoint.exists()
    assert run(checkpoint) == run(None)


def test_the_warm_up_of_a_resumed_batch_undoes_its_own_steps_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What CUDA alone goes through, with streams that do nothing."""

    def stack() -> together.Stack:
        return together.Stack([fresh(Blocks, seed)[0] for seed in range(2)], SETTINGS)

    monkeypatch.setattr(
        torch.cuda, "Stream", lambda: SimpleNamespace(wait_stream=lambda other: None)
    )
    monkeypatch.setattr(torch.cuda, "current_stream", torch.cuda.Stream)
    monkeypatch.setattr(torch.cuda, "stream", nullcontext)
    trained = stack()
    generators = [Generator().manual_seed(seed) for seed in range(2)]
    for _ in range(3):
        trained.step([draw(generator) for generator in generators], 0.1)
    saved = deepcopy(trained.state())

    resumed = stack()
    rate = torch.tensor(0.0)
    resumed.optimizer.param_groups[0]["lr"] = rate
    resumed.load(saved)
    assert resumed.optimizer.param_groups[0]["lr"] is rate
    rate.fill_(0.1)
    resumed.warm_up()
    moments = resumed.state()["optimizer"]["state"]
    torch.testing.assert_close(moments, saved["optimizer"]["state"], rtol=0, atol=0)
    for name, value in resumed.parameters.items():
        torch.testing.assert_close(value, saved["parameters"][name], rtol=0, atol=0)

    new = stack()
    new.warm_up()
    moments = new.state()["optimizer"]["state"]
    assert moments
    assert not any(m.any() for of_one in moments.values() for m in of_one.values())
