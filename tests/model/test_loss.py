"""Is the loss that never holds the logits the cross-entropy, gradients included?"""

import math

import pytest
import torch
import torch.nn.functional as F

from model import loss, perplexity
from model.language_model import Blocks, TokenOnly
from model.settings import LanguageModelSettings

SETTINGS = LanguageModelSettings(vocabulary=50, width=16, context=12, heads=2, head_width=8)


@pytest.mark.parametrize("rows", [1, 7, 64, 5000])
def test_fused_loss_equals_cross_entropy(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss, "ROWS", rows)
    torch.manual_seed(0)
    model = Blocks(SETTINGS).double()
    tokens, targets = torch.randint(50, (2, 3, 12))
    fused = loss.fused_loss(model, tokens, targets)
    (3 * fused).backward()
    found = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    plain = F.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())
    (3 * plain).backward()
    torch.testing.assert_close(fused, plain)
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(found[name], parameter.grad)


def test_fused_loss_survives_large_logits() -> None:
    model = TokenOnly(SETTINGS)
    with torch.no_grad():
        model.output.weight.mul_(1e4)
    value = loss.fused_loss(model, *torch.randint(50, (2, 3, 12)))
    value.backward()
    assert math.isfinite(value.item())
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_token_losses_equal_cross_entropy_by_position() -> None:
    model = Blocks(SETTINGS)
    tokens, targets = torch.randint(50, (2, 3, 12))
    expected = F.cross_entropy(model(tokens).transpose(1, 2), targets, reduction="none")
    torch.testing.assert_close(loss.token_losses(model, tokens, targets), expected)


def test_windows_cover_every_token_once() -> None:
    tokens = torch.arange(103)
    batches = perplexity.windows(tokens, 10)
    assert torch.equal(torch.cat([x.flatten() for x, _ in batches]), tokens[:-1])
    assert torch.equal(torch.cat([y.flatten() for _, y in batches]), tokens[1:])
    assert [x.shape for x, _ in batches] == [(10, 10), (1, 2)]


def test_perplexity_of_a_uniform_model_is_its_vocabulary() -> None:
    model = TokenOnly(SETTINGS)
    with torch.no_grad():
        model.output.weight.zero_()
        model.output.bias.zero_()
    batches = perplexity.windows(torch.randint(50, (200,)), 12)
    assert perplexity.perplexity(model, batches) == pytest.approx(50)


def test_mean_loss_counts_tokens_not_windows_and_can_look_at_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = Blocks(SETTINGS)
    tokens = torch.randint(50, (43,))
    batches = perplexity.windows(tokens, 12)
    monkeypatch.setattr(perplexity, "WINDOWS_AT_ONCE", 24)  # two windows at once
    each = [loss.token_losses(model, x, y) for x, y in batches]
    every = torch.cat([losses.flatten() for losses in each])
    assert perplexity.mean_loss(model, batches) == pytest.approx(every.mean().item(), rel=1e-6)
    last = torch.cat([losses[:, -4:].flatten() for losses in each])
    assert perplexity.mean_loss(model, batches, last=4) == pytest.approx(
        last.mean().item(), rel=1e-6
    )


def test_generation_is_seeded_and_follows_the_distribution() -> None:
    model = TokenOnly(SETTINGS)
    with torch.no_grad():
        model.output.weight.zero_()
        model.output.bias.fill_(-1e9)
        model.output.bias[[3, 8]] = torch.tensor([math.log(0.25), math.log(0.75)])
    written = [
        perplexity.generate(model, [0], 400, 12, torch.Generator().manual_seed(5)) for _ in range(2)
    ]
    assert written[0] == written[1]
    assert set(written[0]) == {3, 8}
    assert written[0].count(8) / 400 == pytest.approx(0.75, abs=0.07)
