"""A book of invented values, as figures see one: paths with values by seed, and nothing measured.

`NASTY` turns honest rows into ones that break labels: huge, tiny, all alike, zero.
"""

import math
import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from engine.errors import MissingPath
from figures import Row

WIDTHS = (4, 16, 64, 256, 1024)


@dataclass(frozen=True)
class FakeRecord:
    id: str
    hash: str


@dataclass(frozen=True)
class FakeQuantity:
    values: dict[int | None, Any]
    records: tuple[FakeRecord, ...] = ()
    unit: str = "1"

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def mean(self) -> Any:
        found = list(self.values.values())
        return found[0] if len(found) == 1 else statistics.fmean(found)

    @property
    def std(self) -> float | None:
        return statistics.stdev(self.values.values()) if self.n > 1 else None

    def __sub__(self, other: "FakeQuantity") -> "FakeQuantity":
        return FakeQuantity({s: v - other.values[s] for s, v in self.values.items()})

    def __truediv__(self, other: "FakeQuantity") -> "FakeQuantity":
        return FakeQuantity({s: v / other.values[s] for s, v in self.values.items()})


@dataclass
class FakeBook:
    """`values`: path -> a value, or a tuple of one value a seed."""

    values: dict[str, Any]
    hashes: dict[str, str] = field(default_factory=dict)
    cited: set[str] = field(default_factory=set)

    def get(self, path: str) -> FakeQuantity:
        self.cited.add(path)
        found, rest = self.values, path
        parts = path.split(".")
        for cut in range(len(parts), 0, -1):
            head = ".".join(parts[:cut])
            if head in self.values:
                found, rest = self.values[head], parts[cut:]
                break
        else:
            raise MissingPath(path)
        for index in rest:
            found = found[int(index)]
        values: dict[int | None, Any] = {None: found}
        if isinstance(found, tuple):
            values = dict(enumerate(found))
        experiment = parts[0]
        record = FakeRecord(f"{experiment}/all", self.hashes.get(experiment, "0"))
        return FakeQuantity(values, (record,))


def _seeds(around: float, spread: float, seeds: int = 3) -> tuple[float, ...]:
    source = random.Random(f"{around} {spread}")
    return tuple(around + source.gauss(0, spread) for _ in range(seeds))


def _softmax(scores: list[float]) -> list[float]:
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def book() -> FakeBook:
    """Invented values of the size that measured ones might have."""
    source = random.Random(1)
    values: dict[str, Any] = {"averages.bigram.validation_perplexity": 71.234567}
    for row, around in {"none": 60.1, "mean": 401, "mean_positions": 396, "mean_added": 59}.items():
        values[f"averages.{row}.validation_perplexity"] = _seeds(around, around / 200)
    for t in range(1, 129):
        values[f"triangle.share.t_{t}"] = 1 / t
    values["triangle.matrix"] = [[(j <= i) / (i + 1) for j in range(6)] for i in range(6)]
    for d in WIDTHS:
        values[f"dot_variance.d_{d}.variance"] = _seeds(d, d / 100, 10)
        scores = [source.gauss(0, 1) for _ in range(64)]
        for kind, scale in (("undivided", math.sqrt(d)), ("divided", 1.0)):
            row = _softmax([score * scale for score in scores])
            values[f"saturation.d_{d}.{kind}.example.weights"] = (row, row[::-1])
            trace = 0.9 / math.log2(d) if kind == "undivided" else 0.95
            values[f"softmax_jacobian.d_{d}.{kind}.trace"] = _seeds(trace, 0.004, 5)
            frozen = 1 - trace if kind == "undivided" else 0.0
            values[f"softmax_jacobian.d_{d}.{kind}.frozen_share"] = (frozen,) * 5
    for size, total, share in (
        ("small", 124_439_808, 0.31),
        ("medium", 354_823_168, 0.145),
        ("large", 774_030_080, 0.083),
        ("xl", 1_557_611_200, 0.0516),
    ):
        values[f"gpt2_parameters.{size}.total"] = total
        values[f"gpt2_parameters.{size}.embedding_share"] = share
    return FakeBook(values | _needed() | _toy() | _winograd() | _trained())


def _needed() -> dict[str, Any]:
    """Chapter 00: the chances of a counted model, a tanh."""
    shares = _softmax([-(((n - 5) / 3) ** 2) for n in range(17)])
    x = [i / 12 for i in range(-72, 73)]
    return {
        "surprise.blind_perplexity": 1024.0,
        "corpus.frequency_perplexity": 301.23456,
        **{f"surprise.halvings.h_{n}": share for n, share in enumerate(shares)},
        "needed.tanh.curve.x": x,
        "needed.tanh.curve.value": [math.tanh(one) for one in x],
        "needed.tanh.curve.slope": [1 - math.tanh(one) ** 2 for one in x],
    }


def _toy() -> dict[str, Any]:
    """The walk's block: two heads, five tokens, eight words."""
    source = random.Random(2)
    words = ["O", "␣gato", "␣sub", "iu", "␣no", "␣telhado", "␣chão", "."]
    heads = [
        [
            [*_softmax([source.gauss(0, 2) for _ in range(i + 1)]), *[0.0] * (4 - i)]
            for i in range(5)
        ]
        for _ in range(2)
    ]
    shares = {
        path: _softmax([source.gauss(0, 2) for _ in range(8)])
        for path in (
            "toy_block.probabilities.4",
            "toy_block.attention_off.probabilities.4",
            "toy_block.final_norm.probabilities.4",
            "toy_variants.equal_scores.probabilities",
        )
    }
    z = [i / 20 for i in range(-60, 61)]
    gelu = [x / (1 + math.exp(-1.7 * x)) for x in z]
    weight = [i / 10 for i in range(-60, 41)]
    return {
        "toy_block.tokens": words[:5],
        "toy_block.vocabulary": words,
        "toy_block.weights": heads,
        **shares,
        "toy_block.gelu_curve.z": z,
        "toy_block.gelu_curve.gelu": gelu,
        "toy_block.gelu_curve.both": [a + b for a, b in zip(gelu, gelu[::-1], strict=True)],
        "toy_block.gradient.followed.weight": -1.0,
        "toy_block.gradient.followed.value": 0.056,
        "toy_block.loss": 0.56,
        "toy_variants.one_weight.weight": weight,
        "toy_variants.one_weight.loss": [0.5 + 1.1 / (1 + math.exp(2 - 1.5 * w)) for w in weight],
    }


def _winograd() -> dict[str, Any]:
    """Maps of two models over eight adjectives, and how three learn."""
    source = random.Random(3)
    adjectives = ["tired", "scared", "slow", "weak", "wet", "wide", "busy", "steep"]
    words = ["the", "horse", "did", "not", "cross", "the", "path", "because", "it", "was", "too"]
    words += ["tired", ",", "so", "the"]
    values: dict[str, Any] = {}
    for row, blocks in (("blocks_1", 1), ("blocks_2", 2)):
        base = f"winograd_roles.{row}.maps"
        values |= {f"{base}.words": words, f"{base}.adjectives": adjectives}
        for adjective in adjectives:
            for block in range(1, blocks + 1):
                values[f"{base}.rows.{adjective}.block_{block}"] = [
                    _softmax([source.gauss(0, 3) for _ in words]) for _ in range(4)
                ]
    for row, end in (("mean", 0.5), ("blocks_1", 0.95), ("blocks_2", 1.0)):
        values[f"winograd_roles.{row}.curve.step"] = (tuple(range(0, 1501, 25)),) * 3
        values[f"winograd_roles.{row}.curve.referent_accuracy"] = tuple(
            tuple(end * (0.94 + 0.03 * seed) * t / 1500 for t in range(0, 1501, 25))
            for seed in range(3)
        )
    return values


def _trained() -> dict[str, Any]:
    """The rungs of the ladder, where parameters are, norms and dot products."""
    values: dict[str, Any] = {}
    rungs = {"none": 60, "mean_added": 59, "mean_added_positions": 58.5, "head_replaced": 59.4}
    rungs |= {"head_added": 47, "heads_4": 44, "mlp": 41, "norm": 39.5, "blocks_2": 40.6}
    for row, around in rungs.items():
        values[f"ladder.{row}.validation_perplexity"] = _seeds(around, 0.3)
        values[f"ladder.{row}.train_perplexity"] = _seeds(around * 0.8, 0.3)
    for d in (128, 768, 1024, 1280, 1600, 4096):
        parts = {"attention": 4 * d * d + d, "mlp": 8 * d * d + 5 * d, "norm": 4 * d}
        parts["total"] = sum(parts.values())
        values |= {f"parameter_share.d_{d}.{part}": count for part, count in parts.items()}
    for gain in (0.9, 1.0, 1.1):
        for t in (1, 10, 50, 100, 500):
            path = f"jacobian_chain.gain_{str(gain).replace('.', '_')}.t_{t}"
            power = t * math.log10(gain)
            values[f"{path}.linear_decades"] = _seeds(power, 0.01 * t, 10)
            values[f"{path}.decades"] = _seeds(min(power, 0.5), 0.005 * t, 10)
    for below, share, asymmetry in (
        ("", 0.97, 0.0),
        ("with_positions.", 0.91, 0.0),
        ("learned.", 0.12, 1.31),
    ):
        values[f"raw_dot_product.{below}self_is_top_share"] = _seeds(share, 0.01)
        values[f"raw_dot_product.{below}asymmetry"] = _seeds(asymmetry, asymmetry / 50)
    values |= {"untrained_scores.chance": 0.035, "untrained_scores.independent": math.sqrt(2)}
    steps = tuple(range(0, 1501, 25))
    for kind, growth in (("divided", 1.0), ("undivided", 400.0)):
        base = f"score_runaway.{kind}.curve"
        values[f"{base}.step"] = (steps,) * 3
        values |= {
            f"{base}.score_std": _curves(lambda t, g=growth: 1 + g * t / 1500),
            f"{base}.entropy": _curves(lambda t, g=growth: 3.5 / (1 + g * t / 15000)),
            f"{base}.hard_share": _curves(lambda t, g=growth: g / 410 * t / 1500),
        }
    for place, slope in (("pre", 0.95), ("post", 1.6)):
        for block in range(1, 13):
            norm = _seeds(slope**block, 0.05 * slope**block)
            values[f"norm_placement.{place}.gradient_norm.block_{block}"] = norm
        for warmup in (0, 200):
            base = f"norm_placement.{place}.warmup_{warmup}.curve"
            end = 400.0 if (place, warmup) == ("post", 0) else 45.0
            values[f"{base}.step"] = (steps,) * 3
            values[f"{base}.validation_perplexity"] = _curves(
                lambda t, e=end: e + (1024 - e) * math.exp(-t / 150)
            )
    for encoding, factor in (
        ("learned", 3.0),
        ("sinusoidal", 1.8),
        ("rope", 1.08),
        ("alibi", 0.97),
        ("none", 1.02),
    ):
        for doublings, length in enumerate((64, 128, 256)):
            for name, more in (("validation", 1.0), ("last_64", 0.95)):
                path = f"positions.{encoding}.length_{length}.{name}_perplexity"
                values[path] = _seeds(42 * factor**doublings * more, 0.4)
    for doublings, n in enumerate(2**power for power in range(7, 15)):
        base = f"attention_cost.n_{n}"
        values[f"{base}.ms_projections"] = 0.05 * 2**doublings
        values[f"{base}.attention_matrix_mb"] = 8 * n * n * 4 / 2**20
        values[f"attention_cost.fused.n_{n}.ms_total"] = 0.1 * 2**doublings + 0.002 * 4**doublings
        values[f"attention_cost.fused.n_{n}.peak_mb"] = 3.0 * 2**doublings
        if n < 16384:
            values[f"{base}.ms_total"] = 0.1 * 2**doublings + 0.01 * 4**doublings
            values[f"{base}.peak_mb"] = 3.0 * 2**doublings + 2 * 8 * n * n * 4 / 2**20
    for row, around in (
        ("baseline", 39.5),
        ("rmsnorm", 39.6),
        ("gqa", 40.0),
        ("swiglu", 38.9),
        ("rope", 38.2),
        ("all", 37.9),
    ):
        values[f"modern_ablation.{row}.validation_perplexity"] = _seeds(around, 0.2)
        values[f"modern_ablation.{row}.curve.step"] = (steps,) * 3
        values[f"modern_ablation.{row}.curve.validation_perplexity"] = _curves(
            lambda t, e=around: e + 900 * math.exp(-t / 100)
        )
    values["modern_block.llama3_8B.width"] = 4096
    for path, hidden in (("d_4096", 11008), ("published_width", 14336)):
        sizes = {"attention": 41943040, "mlp": 3 * 4096 * hidden, "norm": 8192}
        values |= {f"modern_block.{path}.{part}": count for part, count in sizes.items()}
    for kind, count in (("mha", 524288), ("gqa", 131072), ("mqa", 16384)):
        values[f"kv_cache.{kind}.bytes_per_token"] = count
    pieces = ("First", "Cit", "iz", "en", "Before", "we", "pro", "ce", "ed", "any", "f", "ur")
    tokens = [*pieces, "thing", ":\n"]
    values["ladder.norm.attention_map.tokens"] = (tokens, tokens)
    values["ladder.norm.attention_map.weights"] = ([_causal(len(tokens))], [])
    for row, rise in (("norm", 0.0), ("blocks_2", 4.0)):
        values[f"ladder.{row}.curve.step"] = (steps,) * 3
        values[f"ladder.{row}.curve.validation_perplexity"] = _curves(
            lambda t, r=rise: 38 + 900 * math.exp(-t / 100) + r * t / 1500
        )
    for row, drop in (("blocks_1", 0.3), ("blocks_2", 5.0)):
        values[f"induction.{row}.curve.step"] = (steps,) * 3
        values[f"induction.{row}.curve.second_copy_loss"] = _curves(
            lambda t, d=drop: 6.9 - d / (1 + math.exp((700 - t) / 60))
        )
    return values


def _causal(n: int) -> list[list[float]]:
    source = random.Random(2)
    rows = [_softmax([source.gauss(0, 1.5) for _ in range(i + 1)]) for i in range(n)]
    return [row + [0.0] * (n - len(row)) for row in rows]


def _curves(value: Callable[[int], float]) -> tuple[tuple[float, ...], ...]:
    """Three seeds of one curve, each a little off."""
    return tuple(
        tuple(value(t) * (1 + 0.02 * (seed - 1)) for t in range(0, 1501, 25)) for seed in range(3)
    )


KEYS = (
    *("d", "position", "reads", "query", "key", "seed", "seeds", "step", "block", "length", "n"),
    *("gain", "change_seeds", "chance_from", "chance_to", "head"),
)
SHARES = ("share", "weight", "accuracy", "probability")


def _mapped(rows: list[Row], size: Callable[[float], float], share: float) -> list[Row]:
    def cell(name: str, value: Any) -> Any:
        if name in KEYS or isinstance(value, bool) or not isinstance(value, int | float):
            return value
        if any(part in name for part in SHARES):
            return share
        return size(value)

    return [{name: cell(name, value) for name, value in row.items()} for row in rows]


NASTY: dict[str, Callable[[list[Row]], list[Row]]] = {
    "as they are": lambda rows: rows,
    "huge": lambda rows: _mapped(rows, lambda value: value * 1.2345678e7, 1.0),
    "tiny": lambda rows: _mapped(rows, lambda value: value * 1.2345678e-7, 1.2345678e-9),
    "alike": lambda rows: _mapped(rows, lambda value: 59.999, 0.5),
}
