"""What does a benchmark run say in one table?"""

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tokens a second by way, beside the best other way and beside the bare matrix products."""
    session = getattr(terminalreporter.config, "_benchmarksession", None)
    if session is None:
        return
    rates = {
        bench.name.split("[")[-1].rstrip("]"): bench.extra_info["tokens_per_second"]
        for bench in session.benchmarks
        if "tokens_per_second" in bench.extra_info
    }
    mine = {name: rate for name, rate in rates.items() if name.startswith("ours")}
    bare = {name: rate for name, rate in rates.items() if name.startswith("products")}
    others = {name: rate for name, rate in rates.items() if name not in mine and name not in bare}
    write = terminalreporter.write_line
    write(
        f"{'way (processes x threads)':28}{'tokens/s':>10}{'of best other':>15}{'of products':>13}"
    )
    for name, rate in sorted(rates.items(), key=lambda item: -item[1]):
        beside = f"{rate / max(others.values()):14.2f}" if others else " " * 14
        share = f"{rate / max(bare.values()):12.2f}" if bare else " " * 12
        write(f"{name:28}{rate:10.0f} {beside} {share}")
