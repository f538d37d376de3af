"""How does the loop attend without writing the T × T matrices?

The listings say softmax(q @ k.mT * scale + mask) @ v, one tensor (B, h, T, T) after another, and so
they run. Within `fused_attention` the same lines only note what they ask for; at the last product
PyTorch's fused kernel (after Dao et al. 2022) computes it in one go. What is computed stays the
listings' decision: a listing that divides otherwise, masks otherwise or looks at its scores on the
way gets exactly that, if need be tensor by tensor.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

from model.attention import causal_mask

_PRODUCTS = (torch.matmul, torch.Tensor.matmul, torch.Tensor.__matmul__)
_OPERATORS = (
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "rpow"),
    *("neg", "abs", "matmul", "rmatmul", "lt", "le", "gt", "ge", "getitem", "setitem"),
)


class _Noted:
    """A tensor that is not there yet; whatever asks for more than its shape makes it, once."""

    made: Tensor | None = None
    shape: torch.Size
    device: torch.device

    def make(self) -> Tensor:
        raise NotImplementedError

    def tensor(self) -> Tensor:
        if self.made is None:
            self.made = self.make()
        return self.made

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tensor(), name)

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return func(*map(_there, args), **{k: _there(v) for k, v in (kwargs or {}).items()})


def _operator(name: str) -> Callable[..., Any]:
    """Python looks an operator up in the class, past `__getattr__`."""

    def operate(self: _Noted, *args: Any) -> Any:
        return getattr(self.tensor(), name)(*map(_there, args))

    return operate


for _name in _OPERATORS:
    setattr(_Noted, f"__{_name}__", _operator(f"__{_name}__"))


class _Scores(_Noted):
    """(q @ k_t) * scale + mask: q (B, h, T, d_head), k_t (B, h, d_head, T), mask (T, T)."""

    def __init__(self, q: Tensor, k_t: Tensor, scale: float = 1.0, mask: Tensor | None = None):
        self.q, self.k_t, self.scale, self.mask = q, k_t, scale, mask
        self.shape = torch.Size((*q.shape[:-1], k_t.shape[-1]))
        self.device = q.device

    def make(self) -> Tensor:
        # an einsum, for `@` would only be noted again
        scores = torch.einsum("bhid, bhdj -> bhij", self.q, self.k_t) * self.scale
        return scores if self.mask is None else scores + self.mask

    def __mul__(self, factor: Any) -> Any:
        if self.made is None and self.mask is None and isinstance(factor, float | int):
            return _Scores(self.q, self.k_t, self.scale * factor)
        return self.tensor() * _there(factor)

    def __truediv__(self, divisor: Any) -> Any:
        return self * (1 / divisor) if isinstance(divisor, float | int) else self.tensor() / divisor

    def __add__(self, mask: Any) -> Any:
        fits = isinstance(mask, Tensor) and mask.shape == self.shape[-2:]
        if self.made is None and self.mask is None and fits and not mask.requires_grad:
            return _Scores(self.q, self.k_t, self.scale, mask)
        return self.tensor() + _there(mask)

    def softmax(self, dim: int, **options: Any) -> Any:
        if self.made is None and dim == -1 and not options:
            return _Weights(self)
        return self.tensor().softmax(dim, **options)


class _Weights(_Noted):
    """The softmax of noted scores."""

    def __init__(self, scores: _Scores) -> None:
        self.scores, self.shape, self.device = scores, scores.shape, scores.device

    def make(self) -> Tensor:
        return self.scores.make().softmax(-1)

    def __matmul__(self, v: Tensor) -> Tensor:
        if self.made is not None:
            return self.made @ v
        q, k_t, scale, mask = (getattr(self.scores, name) for name in ("q", "k_t", "scale", "mask"))
        causal = mask is not None and torch.equal(mask, causal_mask(self.shape[-1]))
        return F.scaled_dot_product_attention(
            q, k_t.mT, v, attn_mask=None if causal else mask, is_causal=causal, scale=scale
        )


def _there(value: Any) -> Any:
    return value.tensor() if isinstance(value, _Noted) else value


class _FusedAttention(TorchFunctionMode):
    """Notes the product of two tensors (B, h, …) in place of computing it."""

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if func in _PRODUCTS and all(isinstance(x, Tensor) and x.ndim == 4 for x in args):
            return _Scores(*args)
        return func(*map(_there, args), **{k: _there(v) for k, v in (kwargs or {}).items()})


def fused_attention(device: torch.device) -> AbstractContextManager[Any]:
    """Inside, attention of several heads on a CPU goes through the fused kernel."""
    return _FusedAttention() if device.type == "cpu" else nullcontext()
