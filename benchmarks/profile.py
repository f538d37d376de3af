"""What does a step of the loop spend its time on?

    python -m benchmarks.profile

In: ten steps of the `norm` rung on one thread, ours and the plain loop, under PyTorch's profiler.
Out: milliseconds a step by kind of work, and the operators that fit no kind.
"""

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.contestant import SETTINGS, WARM_UP, WAYS

STEPS = 10
# Self time of an operator goes to the first kind one of whose words its name holds.
KINDS = {
    "attention": ("scaled_dot_product", "flash", "bmm", "baddbmm"),
    "matrix products": ("mm", "_linear_pointwise", "mkldnn"),
    "optimizer": ("adam", "_foreach", "Optimizer"),
    "softmax, loss": ("softmax", "nll_loss", "gather", "scatter", "amax", "log", "exp"),
    "norm": ("layer_norm",),
    "GELU": ("gelu",),
    "embeddings": ("embedding", "index"),
    "additions, sums": ("add", "sum", "mul", "sub", "div"),
    "memory": ("copy", "fill", "zero", "empty", "clone", "contiguous", "cat", "to"),
}


def by_kind(way: str) -> dict[str, float]:
    """Milliseconds a step, by kind."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    step = WAYS[way](1)
    tokens, targets = torch.randint(SETTINGS.vocabulary, (2, SETTINGS.batch, SETTINGS.context))
    for _ in range(WARM_UP):
        step(tokens, targets)
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        for _ in range(STEPS):
            step(tokens, targets)
    found = dict.fromkeys([*KINDS, "rest"], 0.0)
    for event in profiler.key_averages():
        kind = next((k for k, words in KINDS.items() if any(w in event.key for w in words)), "rest")
        found[kind] += event.self_cpu_time_total / 1000 / STEPS
    return found


def main() -> None:
    """One line a kind, ours beside the plain loop."""
    ways = ("ours", "plain")
    found = {way: by_kind(way) for way in ways}
    print(f"{'milliseconds a step':24}" + "".join(f"{way:>10}" for way in ways))
    for kind in [*KINDS, "rest"]:
        print(f"{kind:24}" + "".join(f"{found[way][kind]:10.1f}" for way in ways))
    print(f"{'together':24}" + "".join(f"{sum(found[way].values()):10.1f}" for way in ways))


if __name__ == "__main__":
    main()
