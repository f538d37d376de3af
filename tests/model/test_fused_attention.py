"""Does the fused kernel compute what the listings say, also when a listing is edited?"""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from model import fused_attention, language_model, modern, position
from model.attention import Attention, causal_mask, causal_softmax

SETTINGS = modern.ModernSettings(vocabulary=60, width=16, context=12, heads=4, head_width=4)
PLACED = position.PositionSettings(
    vocabulary=60, width=16, context=12, heads=4, head_width=4, table_rows=12
)
CPU = torch.device("cpu")
Head = Callable[[Tensor, Tensor, Tensor], Tensor]


def later(scores: Tensor) -> Tensor:
    return scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)


def filled_in_place(scores: Tensor) -> Tensor:
    scores.masked_fill_(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
    return scores


def assigned(scores: Tensor) -> Tensor:
    scores = scores * 1
    scores[..., 0] = 0.25
    return scores


def centred(scores: Tensor) -> Tensor:
    return scores - scores.mean(-1, keepdim=True)


EDITS: dict[str, Head] = {
    "as listed": lambda q, k, v: causal_softmax(q @ k.mT * 0.5) @ v,
    "not divided": lambda q, k, v: causal_softmax(q @ k.mT) @ v,
    "divided": lambda q, k, v: causal_softmax(q @ k.mT / 3) @ v,
    "divided twice": lambda q, k, v: causal_softmax(0.5 * (q @ k.mT) / 3) @ v,
    "mask off by one": lambda q, k, v: (
        (q @ k.mT + torch.full((6, 6), -math.inf).triu(2)).softmax(-1) @ v
    ),
    "no mask": lambda q, k, v: (q @ k.mT * 0.5).softmax(-1) @ v,
    "mask before scale": lambda q, k, v: ((q @ k.mT + causal_mask(6)) * 0.5).softmax(-1) @ v,
    "two masks": lambda q, k, v: (
        (q @ k.mT + causal_mask(6) - causal_mask(6).clamp(-1)).softmax(-1) @ v
    ),
    "a mask by head": lambda q, k, v: (
        (q @ k.mT + torch.arange(3.0)[:, None, None] * torch.eye(6)).softmax(-1) @ v
    ),
    "mask on the left": lambda q, k, v: (causal_mask(6) + q @ k.mT).softmax(-1) @ v,
    "filled": lambda q, k, v: later(q @ k.mT).softmax(-1) @ v,
    "over queries": lambda q, k, v: (q @ k.mT).softmax(-2) @ v,
    "squashed scores": lambda q, k, v: torch.tanh(q @ k.mT).softmax(-1) @ v,
    "negated": lambda q, k, v: (-(q @ k.mT)).softmax(-1) @ v,
    "softmax by function": lambda q, k, v: torch.softmax(q @ k.mT, -1) @ v,
    "weights scaled": lambda q, k, v: (causal_softmax(q @ k.mT) * 2) @ v,
    "weights renormalised": lambda q, k, v: torch.relu(causal_softmax(q @ k.mT) - 0.1) @ v,
    "one row": lambda q, k, v: causal_softmax(q @ k.mT)[..., 2:3, :] @ v,
    "filled in place": lambda q, k, v: filled_in_place(q @ k.mT).softmax(-1) @ v,
    "assigned": lambda q, k, v: assigned(q @ k.mT).softmax(-1) @ v,
    "weights dropped": lambda q, k, v: assigned(causal_softmax(q @ k.mT)) @ v,
    "centred": lambda q, k, v: centred(q @ k.mT).softmax(-1) @ v,
    "scores alone": lambda q, k, v: (q @ k.mT).transpose(-1, -2) @ v,
    "products alone": lambda q, k, v: q @ (k.mT @ v),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_head_is_computed_as_edited(edit: str) -> None:
    torch.manual_seed(0)
    inputs = [torch.randn(2, 3, 6, 4, requires_grad=True) for _ in range(3)]

    def gradients() -> list[Tensor]:
        out = EDITS[edit](*inputs)
        (out * torch.linspace(-1, 2, out.numel()).view_as(out)).sum().backward()
        found = [out.detach(), *(x.grad for x in inputs if x.grad is not None)]
        for x in inputs:
            x.grad = None
        return found

    plain = gradients()
    with fused_attention.fused_attention(CPU):
        fused = gradients()
    for mine, theirs in zip(fused, plain, strict=True):
        torch.testing.assert_close(mine, theirs)


def kernel_calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    calls: list[str] = []
    kernel = torch.nn.functional.scaled_dot_product_attention

    def spy(*args: Tensor, **options: object) -> Tensor:
        calls.append("causal" if options["is_causal"] else "masked")
        return kernel(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(fused_attention.F, "scaled_dot_product_attention", spy)
    return calls


@pytest.mark.parametrize("edit", ["as listed", "not divided", "divided", "no mask"])
def test_the_listing_and_its_near_variants_reach_the_kernel(
    edit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = kernel_calls(monkeypatch)
    with fused_attention.fused_attention(CPU):
        EDITS[edit](*torch.randn(3, 2, 3, 6, 4))
    assert calls == ["masked" if edit == "no mask" else "causal"]


def test_the_attention_of_the_book_reaches_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = kernel_calls(monkeypatch)
    attention, x = Attention(SETTINGS), torch.randn(2, 12, 16)
    plain = attention(x)
    assert calls == []
    with fused_attention.fused_attention(CPU):
        torch.testing.assert_close(attention(x), plain)
    assert calls == ["causal"]


MODELS = [
    (module, name)
    for module in (language_model, position, modern)
    for name, kind in vars(module).items()
    if isinstance(kind, type)
    and issubclass(kind, language_model.LanguageModel)
    and kind
    not in (language_model.LanguageModel, language_model.WithPositions, modern.SwappedBlocks)
    and kind.__module__ == module.__name__
]


@pytest.mark.parametrize(("module", "name"), MODELS, ids=[name for _, name in MODELS])
def test_every_model_of_the_book_gives_the_same_features_and_gradients(
    module: object, name: str
) -> None:
    torch.manual_seed(0)
    model = getattr(module, name)(SETTINGS if module is not position else PLACED)
    tokens = torch.randint(60, (2, 12))

    def gradients() -> list[Tensor]:
        model.zero_grad()
        features = model.features(tokens)
        features.square().sum().backward()
        return [features.detach(), *(p.grad for p in model.parameters() if p.grad is not None)]

    plain = gradients()
    with fused_attention.fused_attention(CPU):
        fused = gradients()
    for mine, theirs in zip(fused, plain, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


def test_elsewhere_than_on_a_cpu_nothing_is_noted() -> None:
    with fused_attention.fused_attention(torch.device("meta")):
        assert isinstance(torch.randn(1, 1, 2, 3) @ torch.randn(1, 1, 3, 2), Tensor)
