"""Are the lengths and the rescalings of chapter 08 what their names say, without training?"""

import math

import pytest
import torch
from torch import Tensor

from experiments import positions
from experiments.session import Run
from model.perplexity import windows
from model.position import PositionSettings, RotaryAttention, RotaryPositions

SETTINGS = positions.Settings(
    vocabulary=50, width=16, context=8, heads=2, head_width=8, lengths=(8, 32), last=8
)
TEXT = torch.randint(50, (200,), generator=torch.Generator().manual_seed(1))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run that finds random tokens in the place of the corpus."""

    class Corpus:
        validation = TEXT

    monkeypatch.setattr(positions.material, "corpus_tokens", lambda vocabulary: Corpus())
    return Run("positions/rope.s0", 0, torch.device("cpu"))


def model() -> RotaryPositions:
    torch.manual_seed(0)
    return RotaryPositions(SETTINGS)


def perplexity(made: RotaryPositions, n: int, last: int | None = None) -> float:
    """Target by target, from the probabilities."""
    losses: list[float] = []
    for inputs, targets in windows(TEXT, n)[: 1 if last else None]:
        kept = slice(-last if last else None, None)
        chances = made(inputs).softmax(-1)[:, kept]
        losses += gathered(chances, targets[:, kept])
    return math.exp(math.fsum(losses) / len(losses))


def gathered(chances: Tensor, targets: Tensor) -> list[float]:
    found = chances.gather(-1, targets[..., None]).double()
    return (-found.log()).flatten().tolist()


def test_every_length_scores_the_same_text_and_the_end_of_each_window(run: Run) -> None:
    made = model()
    with torch.no_grad():
        found = positions.by_length(made, SETTINGS, run)
        assert set(found) == {"length_8", "length_32"}
        for n in (8, 32):
            whole, last = found[f"length_{n}"].values()
            assert whole == pytest.approx(perplexity(made, n), rel=1e-5)
            assert last == pytest.approx(perplexity(made, n, last=8), rel=1e-5)


def test_rescaled_rope_is_the_papers_and_leaves_the_model_as_it_was(run: Run) -> None:
    made = model()
    with torch.no_grad():
        found = positions.rescaled_rope(made, SETTINGS, run)
        plain = positions.by_length(made, SETTINGS, run)
    (layer,) = [one for one in made.modules() if isinstance(one, RotaryAttention)]
    assert (layer.base, layer.stretch) == (10000.0, 1.0)
    assert found["interpolated"]["length_8"] == found["ntk"]["length_8"] == plain["length_8"]
    with torch.no_grad():
        for kind, stretch, base in (
            ("interpolated", 4.0, 10000.0),  # places divided by 32 / 8 (Chen et al. 2023)
            ("ntk", 1.0, 10000.0 * 4 ** (8 / 6)),  # the slowest pair turns a fourth as fast
        ):
            layer.stretch, layer.base = stretch, base
            whole, last = found[kind]["length_32"].values()
            assert whole == pytest.approx(perplexity(made, 32), rel=1e-5)
            assert last == pytest.approx(perplexity(made, 32, last=8), rel=1e-5)
            assert whole != pytest.approx(plain["length_32"]["validation_perplexity"], rel=1e-6)


def test_the_settings_of_the_book_are_those_of_its_contract() -> None:
    assert isinstance(positions.FULL, PositionSettings)
    assert (positions.FULL.context, positions.FULL.table_rows) == (64, 256)
    assert positions.FULL.lengths == (64, 128, 256)
    assert positions.FULL.last == 64
