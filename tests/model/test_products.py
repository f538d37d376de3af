"""Are the faster products those of nn.Linear, gradients included?"""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model import products

CPU = torch.device("cpu")


@pytest.mark.parametrize("shape", [(7, 5), (2, 3, 5), (2, 3, 4, 5)])
@pytest.mark.parametrize("outputs", [3, 11])
@pytest.mark.parametrize("bias", [True, False])
def test_a_linear_layer_and_its_gradients(shape: tuple[int, ...], outputs: int, bias: bool) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(5, outputs, bias=bias)
    x = torch.randn(shape, requires_grad=True)

    def gradients() -> list[Tensor]:
        out = layer(x)
        (out * torch.linspace(-1, 2, out.numel()).view_as(out)).sum().backward()
        found = [out.detach(), *(v.grad for v in (x, *layer.parameters()) if v.grad is not None)]
        x.grad = None
        layer.zero_grad()
        return found

    plain = gradients()
    with products.faster_products(CPU):
        faster = gradients()
    assert len(plain) == (4 if bias else 3)
    for mine, theirs in zip(faster, plain, strict=True):
        torch.testing.assert_close(mine, theirs)


def test_the_routine_is_used_where_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, ...]] = []

    def spy(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        calls.append(tuple(x.shape))
        return x @ weight.t() + (0 if bias is None else bias)

    monkeypatch.setattr(products, "onednn", lambda: spy)
    layer = nn.Linear(5, 3)
    with products.faster_products(CPU):
        layer(torch.randn(2, 5, requires_grad=True)).sum().backward()
        assert calls == [(2, 5), (2, 3)]
        layer.double()(torch.randn(2, 5).double())
    layer.float()(torch.randn(2, 5))
    assert len(calls) == 2  # neither in float64 nor outside


def test_a_layer_is_written_in_any_way() -> None:
    x, weight, bias = torch.randn(4, 5), torch.randn(3, 5), torch.randn(3)
    with products.faster_products(CPU):
        torch.testing.assert_close(F.linear(x, weight), x @ weight.t())
        torch.testing.assert_close(F.linear(x, weight, bias=bias), x @ weight.t() + bias)
        torch.testing.assert_close(F.linear(x, weight, None), x @ weight.t())


def test_without_the_routine_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "onednn", lambda: None)
    x, layer = torch.randn(4, 5), nn.Linear(5, 3)
    with products.faster_products(CPU):
        inside = layer(x)
    assert torch.equal(inside, layer(x))
    assert torch.equal(products.multiply(x, layer.weight, layer.bias), layer(x))


def test_a_weight_gradient_is_the_same_either_way_round() -> None:
    for outputs in (3, 9):
        grad, x = torch.randn(20, outputs), torch.randn(20, 5)
        torch.testing.assert_close(products.weight_gradient(grad, x), grad.t() @ x)
