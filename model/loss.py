"""How far is the model's next-token distribution from the token that came?

In: features (N, d), an output map, targets (N,). Out: cross-entropy in nats.
The logits (N, V) are the largest tensor of a small language model and fit no cache, so training
never holds them whole: `fused_loss` goes over a few rows at a time and leaves the gradients of the
features and of the output map behind. `F.cross_entropy` over the whole is its reference in a test.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import Function

from model.language_model import LanguageModel

ROWS = 512  # rows of logits at a time: 512 × 1024 floats are 2 MiB, one core's cache


class _OutputLoss(Function):
    """Mean cross-entropy of `h @ weight.T + bias`, gradients worked out on the way."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        n = h.shape[0]
        total = h.new_zeros(())
        grad_h, grad_bias = torch.empty_like(h), torch.zeros_like(bias)
        turned = weight.t().contiguous()  # (d, V)
        grad_turned = torch.zeros_like(turned)
        for start in range(0, n, ROWS):
            rows = slice(start, start + ROWS)
            target = targets[rows, None]  # (R, 1)
            z = F.linear(h[rows], weight, bias)  # (R, V)
            p = z.softmax(1)
            # log of the softmax's denominator, from the largest logit and its own probability
            partition = z.amax(1, keepdim=True) - p.amax(1, keepdim=True).log()
            total += (partition - z.gather(1, target)).sum()
            p.scatter_add_(1, target, p.new_full(target.shape, -1.0))  # n times the gradient of z
            grad_h[rows] = F.linear(p, turned)
            grad_turned.addmm_(h[rows].t(), p)
            grad_bias += p.sum(0)
        ctx.save_for_backward(grad_h, grad_turned, grad_bias)
        return total / n

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> tuple[Tensor | None, ...]:
        (grad,) = grad_outputs
        grad_h, grad_turned, grad_bias = ctx.saved_tensors
        each = grad / grad_h.shape[0]
        return grad_h * each, grad_turned.t() * each, grad_bias * each, None


def fused_loss(model: LanguageModel, tokens: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy of a batch in nats per token: tokens, targets (B, T) → ()."""
    h = model.features(tokens).flatten(0, 1)  # (B T, d)
    output: nn.Linear = model.output
    loss: Tensor = _OutputLoss.apply(h, output.weight, output.bias, targets.flatten())  # pyright: ignore[reportAssignmentType]
    return loss


def token_losses(model: LanguageModel, tokens: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy at every position, without gradients: (B, T), (B, T) → (B, T)."""
    with torch.no_grad():
        h = model.features(tokens).flatten(0, 1)  # (B T, d)
        flat = targets.flatten()
        losses = torch.empty(flat.shape, device=h.device)
        for start in range(0, len(flat), ROWS):
            rows = slice(start, start + ROWS)
            z = model.output(h[rows])  # (R, V)
            losses[rows] = z.logsumexp(1) - z.gather(1, flat[rows, None])[:, 0]
        return losses.view(tokens.shape)
