"""What does a benchmark run say in one table?"""

from collections import defaultdict
from statistics import median
from typing import Any

CEILINGS = ("products", "squares")  # arithmetic alone; no loop reaches them


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tokens a second by way; beside the best other way and the ceilings, as they were in turn.

    A ratio is the median of the ratios within each round, its range in brackets.
    """
    session = getattr(terminalreporter.config, "_benchmarksession", None)
    rates: dict[str, dict[int, float]] = defaultdict(dict)
    for bench in session.benchmarks if session else ():
        info = bench.extra_info
        if "way" in info:
            rates[info["way"]][info["turn"]] = info["tokens_per_second"]
    if not rates:
        return
    middle = {way: median(turns.values()) for way, turns in rates.items()}
    beside = {
        "best other": [way for way in rates if not way.startswith(("ours", *CEILINGS))],
        **{one: [way for way in rates if way.startswith(one)] for one in CEILINGS},
    }
    best = {name: max(ways, key=middle.__getitem__) for name, ways in beside.items() if ways}
    write = terminalreporter.write_line
    head = "".join(f"{'of ' + name:>22}" for name in best)
    write(f"{'way (processes x threads)':28}{'tokens/s':>10}{head}")
    for way, rate in sorted(middle.items(), key=lambda item: -item[1]):
        shares = ""
        for other in best.values():
            found = [rates[way][t] / rates[other][t] for t in rates[way].keys() & rates[other]]
            share = f"{median(found):.2f} ({min(found):.2f} to {max(found):.2f})"
            shares += f"{share:>22}"
        write(f"{way:28}{rate:10.0f}{shares}")
