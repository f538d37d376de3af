"""How does one process train the `norm` rung, in one of several ways?

    python -m benchmarks.contestant ours 1

In: a way and a number of threads; then, on standard input, how many steps to take, again and again.
Out: a line when it is warm and after each batch of steps. The parent times several side by side.
"""

import os
import sys
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.plain import PlainModel, plain_step
from experiments import session
from model.language_model import Blocks
from model.loss import fused_loss
from model.settings import LanguageModelSettings

SETTINGS = LanguageModelSettings()
ROWS = SETTINGS.batch * SETTINGS.context
# (in, out) of the linear layers: queries, keys, values and their output; the MLP; the output map
LINEAR_SHAPES = [
    *[(SETTINGS.width, SETTINGS.width)] * 4,
    (SETTINGS.width, 4 * SETTINGS.width),
    (4 * SETTINGS.width, SETTINGS.width),
    (SETTINGS.width, SETTINGS.vocabulary),
]
WARM_UP = 4  # steps; a compiled step needs the first of them for compiling

Step = Callable[[Tensor, Tensor], object]


def adamw(model: nn.Module) -> torch.optim.Optimizer:
    """The optimizer of the plain loops."""
    return torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01, fused=True)


def ours(threads: int) -> Step:
    """The book's loop, as model/train.py takes a step."""
    session.settle(threads, torch.device("cpu"))
    around = session.faster(torch.device("cpu"))
    model = Blocks(SETTINGS)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)

    def step(tokens: Tensor, targets: Tensor) -> None:
        optimizer.zero_grad(set_to_none=True)
        with around():
            fused_loss(model, tokens, targets).backward()
        optimizer.step()

    return step


def plain(threads: int) -> Step:
    """nn.Module layers, PyTorch's attention kernel, the whole logits."""
    model = PlainModel(SETTINGS)
    optimizer = adamw(model)
    return lambda tokens, targets: plain_step(model, optimizer, tokens, targets)


def compiled(threads: int) -> Step:
    """The plain loop through torch.compile (needs a C++ compiler)."""
    model = PlainModel(SETTINGS)
    optimizer = adamw(model)

    def loss_of(tokens: Tensor, targets: Tensor) -> Tensor:
        return F.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())

    fast = torch.compile(loss_of)

    def step(tokens: Tensor, targets: Tensor) -> None:
        optimizer.zero_grad(set_to_none=True)
        fast(tokens, targets).backward()
        optimizer.step()

    return step


def gpt2(threads: int) -> Step:
    """Hugging Face transformers' GPT-2 at the same shape."""
    from transformers import GPT2Config, GPT2LMHeadModel  # pyright: ignore

    config = GPT2Config(
        vocab_size=SETTINGS.vocabulary, n_positions=SETTINGS.context, n_embd=SETTINGS.width,
        n_layer=1, n_head=SETTINGS.heads, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    model = GPT2LMHeadModel(config)
    return logits_step(model, lambda tokens: model(tokens, use_cache=False).logits)


def x_transformers(threads: int) -> Step:
    """x-transformers' decoder at the same shape."""
    from x_transformers import Decoder, TransformerWrapper  # pyright: ignore

    model = TransformerWrapper(
        num_tokens=SETTINGS.vocabulary, max_seq_len=SETTINGS.context,
        attn_layers=Decoder(
            dim=SETTINGS.width, depth=1, heads=SETTINGS.heads, attn_dim_head=SETTINGS.head_width,
            attn_flash=True,
        ),
    )  # fmt: skip
    return logits_step(model, model)


def logits_step(model: nn.Module, logits_of: Callable[[Tensor], Tensor]) -> Step:
    """A plain step around a model that gives logits (B, T, V)."""
    optimizer = adamw(model)

    def step(tokens: Tensor, targets: Tensor) -> None:
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(logits_of(tokens).flatten(0, 1), targets.flatten()).backward()
        optimizer.step()

    return step


def products(threads: int) -> Step:
    """Nothing but the matrix products of one step, each as large as the loop's: the arithmetic."""
    session.settle(threads, torch.device("cpu"))
    made = [
        (torch.randn(ROWS, i), torch.randn(o, i), torch.randn(ROWS, o)) for i, o in LINEAR_SHAPES
    ]

    def step(tokens: Tensor, targets: Tensor) -> None:
        for x, weight, grad in made:
            torch.mm(x, weight.t())
            torch.mm(grad, weight)
            torch.mm(grad.t(), x)

    return step


def squares(threads: int) -> Step:
    """As many operations as `products`, in products as nearly square as the BLAS likes them."""
    session.settle(threads, torch.device("cpu"))
    operations = 3 * ROWS * sum(i * o for i, o in LINEAR_SHAPES)  # multiplications with addition
    side, count = 1024, 8
    x, y = torch.randn(side, side), torch.randn(side, operations // (count * side * side))

    def step(tokens: Tensor, targets: Tensor) -> None:
        for _ in range(count):
            torch.mm(x, y)

    return step


WAYS: dict[str, Callable[[int], Step]] = {
    "ours": ours,
    "plain": plain,
    "compiled": compiled,
    "gpt2": gpt2,
    "x_transformers": x_transformers,
    "products": products,
    "squares": squares,
}


def main(way: str, threads: int) -> None:
    """Warm up, say so, then obey."""
    torch.set_num_threads(threads)
    torch.manual_seed(os.getpid())
    step = WAYS[way](threads)
    tokens, targets = torch.randint(SETTINGS.vocabulary, (2, SETTINGS.batch, SETTINGS.context))
    for _ in range(WARM_UP):
        step(tokens, targets)
    print("warm", flush=True)
    for line in sys.stdin:
        for _ in range(int(line)):
            step(tokens, targets)
        print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
