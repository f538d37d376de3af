"""Which routine multiplies the matrices of a training step?

In: what a linear layer gets. Out: what it gives, gradients included. On a CPU, PyTorch hands
float32 products to its BLAS; oneDNN, which it carries along for its compiled graphs, is faster at
several of the shapes of a training step. The listings stay `nn.Linear`: `faster_products` changes
the routine beneath them, for the loop alone, and where oneDNN is missing nothing changes. The
products are the same to the rounding of float32.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function
from torch.overrides import TorchFunctionMode

Multiply = Callable[[Tensor, Tensor, Tensor | None], Tensor]


@cache
def onednn() -> Multiply | None:
    """oneDNN's `x @ weight.T + bias` on float32 tensors of a CPU; None where it cannot be had.

    The operator is not part of PyTorch's public interface, hence the trial.
    """
    try:
        operator: Any = torch.ops.mkldnn._linear_pointwise.default  # pyright: ignore[reportPrivateUsage]
        x, weight, bias = torch.ones(2, 3), torch.ones(4, 3), torch.ones(4)
        works = torch.equal(operator(x, weight, bias, "none", [], ""), torch.full((2, 4), 4.0))
    except (AttributeError, RuntimeError, TypeError):
        return None
    return (lambda x, w, b: operator(x, w, b, "none", [], "")) if works else None


def multiply(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x @ weight.T + bias`: x (…, i), weight (o, i), bias (o,) → (…, o). Not differentiated."""
    faster = onednn() if x.device.type == "cpu" and x.dtype == torch.float32 else None
    return F.linear(x, weight, bias) if faster is None else faster(x, weight, bias)


class _Linear(Function):
    """A linear layer whose output and input gradient come from `multiply`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.biased = bias is not None
        return multiply(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        grad: Tensor = grad_outputs[0]
        rows, x = grad.flatten(0, -2), x.flatten(0, -2)  # (N, o), (N, i)
        grad_x = multiply(grad, weight.t()) if ctx.needs_input_grad[0] else None
        return grad_x, weight_gradient(rows, x), rows.sum(0) if ctx.biased else None


def weight_gradient(grad: Tensor, x: Tensor) -> Tensor:
    """`grad.T @ x`: (N, o), (N, i) → (o, i), the larger side last, where the BLAS is faster."""
    if grad.shape[1] > x.shape[1]:
        return (x.t() @ grad).t()
    return grad.t() @ x


class _FasterProducts(TorchFunctionMode):
    """Sends each linear layer through `_Linear`."""

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if func is F.linear and args[0].dtype == torch.float32:
            bias = args[2] if len(args) > 2 else (kwargs or {}).get("bias")
            return _Linear.apply(*args[:2], bias)
        return func(*args, **(kwargs or {}))


def faster_products(device: torch.device) -> AbstractContextManager[Any]:
    """Inside, the linear layers of a CPU's training step use the faster routine."""
    if device.type != "cpu" or onednn() is None:
        return nullcontext()
    return _FasterProducts()
