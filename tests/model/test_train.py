"""Does the loop train as it says, go on where it was killed, and agree with a plain loop?"""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Generator, Tensor

from benchmarks.plain import PlainModel, copy_weights, plain_step
from model import train as loop
from model.language_model import Blocks, LanguageModel
from model.settings import LanguageModelSettings
from model.train import CheckpointError, Training, learning_rate, load_checkpoint, train

SETTINGS = LanguageModelSettings(
    vocabulary=60, width=16, context=16, heads=2, head_width=8, batch=4, steps=24, curve_points=6
)
TEXT = torch.arange(500) * 7 % 60  # each token says which comes next


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """A run has one thread; with another number its sums are rounded otherwise."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def draw(generator: Generator) -> tuple[Tensor, Tensor]:
    starts = torch.randint(480, (4,), generator=generator)
    window = TEXT[starts[:, None] + torch.arange(17)]
    return window[:, :-1], window[:, 1:]


def watch(model: LanguageModel) -> dict[str, float]:
    return {"norm": model.output.weight.norm().item()}


def fresh(seed: int = 3) -> tuple[Blocks, Generator]:
    torch.manual_seed(seed)
    return Blocks(SETTINGS), Generator().manual_seed(seed)


def trained(**options: object) -> tuple[Blocks, Training]:
    model, generator = fresh()
    settings = options.pop("settings", SETTINGS)
    training = train(model, draw, settings, generator=generator, watch=watch, **options)  # type: ignore[arg-type]
    return model, training


def assert_same_bits(one: Blocks, other: Blocks) -> None:
    for mine, theirs in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_curve_and_losses_are_whole() -> None:
    _, training = trained()
    assert len(training.losses) == 24
    assert [point["step"] for point in training.curve] == [0, 4, 8, 12, 16, 20, 24]
    means = [sum(training.losses[i : i + 4]) / 4 for i in range(0, 24, 4)]
    assert [point["train_loss"] for point in training.curve[1:]] == pytest.approx(means)
    assert training.losses[-1] < training.losses[0]


def test_a_curve_of_the_common_settings_has_fifty_points_and_more() -> None:
    for steps in (1000, 1500, 3000):
        settings = LanguageModelSettings(steps=steps)
        points = [step for step in range(1, steps + 1) if loop.is_on_curve(step, settings)]
        assert len(points) >= 50
        assert points[-1] == steps


def test_the_same_seed_gives_the_same_bits_and_another_does_not() -> None:
    one, first = trained()
    other, second = trained()
    assert_same_bits(one, other)
    assert first.losses == second.losses
    model, generator = fresh(4)
    assert train(model, draw, SETTINGS, generator=generator, watch=watch).losses != first.losses


def test_watching_does_not_disturb() -> None:
    quiet = train(*_plain(), SETTINGS, generator=Generator().manual_seed(3), watch=lambda _: {})
    assert quiet.losses == trained()[1].losses


def _plain() -> tuple[Blocks, loop.Draw]:
    return fresh()[0], draw


def test_short_training_saves_drops_and_resumes_with_the_same_losses(tmp_path: Path) -> None:
    checkpoint = tmp_path / "short.pt"
    _, short = trained(short=True, checkpoint=checkpoint)
    assert checkpoint.exists()
    assert short.losses == trained()[1].losses[: loop.FIRST_STEPS]


def test_warmup_rises_in_equal_parts_and_stays() -> None:
    settings = LanguageModelSettings(warmup=4, learning_rate=0.8)
    rates = [learning_rate(step, settings) for step in range(7)]
    assert rates == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8, 0.8, 0.8])
    assert learning_rate(0, replace(settings, warmup=0)) == 0.8


def test_warmup_reaches_the_optimizer() -> None:
    slow, _ = trained(settings=replace(SETTINGS, warmup=1000, steps=1))
    start, _ = fresh()
    moved = (slow.output.bias - start.output.bias).abs().max().item()
    assert 0 < moved < 2 * SETTINGS.learning_rate / 1000


CHILD = """
import sys, time
import torch
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.model import test_train as t
from model import train as loop
loop.SAVE_EVERY = 0.0
model, generator = t.fresh()
steps = 0
def slow(generator):
    global steps
    steps += 1
    time.sleep(0.02 if steps < t.SETTINGS.steps else 600)  # the last step waits to be killed
    return t.draw(generator)
training = loop.train(model, slow, t.SETTINGS, generator=generator, watch=t.watch,
                      checkpoint=Path({checkpoint!r}))
"""


@pytest.mark.parametrize("delay", [0.0, 0.06, 0.15, 0.31])
def test_a_killed_run_ends_with_the_same_bits(tmp_path: Path, delay: float) -> None:
    checkpoint = tmp_path / "run.pt"
    root = str(Path(__file__).parents[2])
    code = textwrap.dedent(CHILD).format(root=root, checkpoint=str(checkpoint))
    child = subprocess.Popen(
        [sys.executable, "-c", code], env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    while not checkpoint.exists() and child.poll() is None:
        time.sleep(0.005)
    time.sleep(delay)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert child.returncode == -signal.SIGKILL, "the run ended before it was killed"
    whole, expected = trained()
    resumed, training = trained(checkpoint=checkpoint)
    assert_same_bits(whole, resumed)
    assert training.losses == expected.losses
    assert training.curve == expected.curve


def test_a_checkpoint_is_loaded_without_pickled_code(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (os.system, (f"touch {tmp_path / 'sprung'}",))

    path = tmp_path / "trap.pt"
    torch.save({"training": Trap()}, path)
    model, generator = fresh()
    with pytest.raises(CheckpointError, match=r"trap\.pt.*remove it"):
        load_checkpoint(path, model, torch.optim.AdamW(model.parameters()), generator)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("damage", ["empty", "short", "text"])
def test_a_bad_checkpoint_is_one_clear_line(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "run.pt"
    trained(short=True, checkpoint=path)
    content = path.read_bytes()
    path.write_bytes(
        {"empty": b"", "short": content[: len(content) // 2], "text": b"hello"}[damage]
    )
    model, generator = fresh()
    with pytest.raises(CheckpointError, match=r"run\.pt") as caught:
        load_checkpoint(path, model, torch.optim.AdamW(model.parameters()), generator)
    assert "\n" not in str(caught.value)


def test_losses_agree_with_the_plain_loop_over_fifty_steps() -> None:
    settings = LanguageModelSettings(width=64, head_width=16, context=64, batch=8, steps=50)
    text = torch.randint(1024, (5000,), generator=Generator().manual_seed(1))

    def windows(generator: Generator) -> tuple[Tensor, Tensor]:
        starts = torch.randint(4900, (8,), generator=generator)
        window = text[starts[:, None] + torch.arange(65)]
        return window[:, :-1], window[:, 1:]

    torch.manual_seed(0)
    ours, plain = Blocks(settings), PlainModel(settings)
    copy_weights(ours, plain)
    found = train(
        ours, windows, settings, generator=Generator().manual_seed(2), watch=lambda _: {}
    ).losses
    optimizer = torch.optim.AdamW(plain.parameters(), lr=1e-3, weight_decay=0.01, fused=True)
    generator = Generator().manual_seed(2)
    expected = [plain_step(plain, optimizer, *windows(generator)).item() for _ in range(50)]
    assert found == pytest.approx(expected, abs=1e-4)
