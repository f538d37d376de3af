"""Do seeds trained as one batch of models end where each ends alone?"""

from pathlib import Path

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
