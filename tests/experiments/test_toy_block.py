"""Do the records of the walk agree with a second computation that shares no code with the first?

Lists, math and nothing else: every stage of the toy, and the gradient of one weight by the chain
rule, against results/toy_block/all.json.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

ROOT = Path(__file__).parents[2]
TOY: dict[str, Any] = json.loads((ROOT / "experiments" / "toy.json").read_text(encoding="utf-8"))
Row = list[float]
Matrix = list[Row]


def record(experiment: str) -> dict[str, Any]:
    path = ROOT / "results" / experiment / "all.json"
    return json.loads(path.read_text(encoding="utf-8"))["values"]


RECORD = record("toy_block")
HEADS, EPS = TOY["n_heads"], TOY["ln_eps"]
D = len(TOY["w_q"])
WIDTH = D // HEADS
LAST = len(TOY["tokens"]) - 1
IDS = [TOY["vocabulary"].index(token) for token in TOY["tokens"]]
TARGET: int = TOY["vocabulary"].index("␣telhado")


def dot(a: Row, b: Row) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def columns(m: Matrix) -> Matrix:
    return [list(column) for column in zip(*m, strict=True)]


def product(a: Matrix, b: Matrix) -> Matrix:
    return [[dot(row, column) for column in columns(b)] for row in a]


def added(a: Matrix, b: Matrix) -> Matrix:
    return [[x + y for x, y in zip(r, s, strict=True)] for r, s in zip(a, b, strict=True)]


def moments(row: Row) -> tuple[float, float]:
    mean = math.fsum(row) / len(row)
    return mean, math.sqrt(math.fsum((x - mean) ** 2 for x in row) / len(row) + EPS)


def normalised(m: Matrix) -> Matrix:
    out: Matrix = []
    for row in m:
        mean, std = moments(row)
        out.append([(x - mean) / std for x in row])
    return out


def softmax(row: Row) -> Row:
    powers = [math.exp(x) for x in row]
    return [power / math.fsum(powers) for power in powers]


def gelu(z: float) -> float:
    return z / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))


def gelu_slope(z: float) -> float:
    """By the rule for products, the tanh spelled out by exponentials."""
    inner = math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)
    tanh = (math.exp(2 * inner) - 1) / (math.exp(2 * inner) + 1)
    return 0.5 * (1 + tanh) + 0.5 * z * (1 - tanh * tanh) * math.sqrt(2 / math.pi) * (
        1 + 0.134145 * z * z
    )


def forward(toy: dict[str, Any], attention: bool = True) -> dict[str, Any]:
    """Every stage from tokens to probabilities."""
    s: dict[str, Any] = {
        "x": added([toy["token_embedding"][i] for i in IDS], toy["position_embedding"][: len(IDS)])
    }
    s["u"] = normalised(s["x"])
    for name in "qkv":
        s[name] = product(s["u"], toy[f"w_{name}"])
    all_scores: list[Matrix] = []
    all_weights: list[Matrix] = []
    mixed: list[Matrix] = []
    for head in range(HEADS):
        q, k, v = ([row[head * WIDTH : (head + 1) * WIDTH] for row in s[name]] for name in "qkv")
        scores = [[dot(a, b) / math.sqrt(WIDTH) for b in k] for a in q]
        weights = [
            softmax(row[: i + 1]) + [0.0] * (len(row) - i - 1) for i, row in enumerate(scores)
        ]
        all_scores.append(scores)
        all_weights.append(weights)
        mixed.append(product(weights, v))
    s |= {"scores": all_scores, "weights": all_weights, "heads": mixed}
    joined = [[x for head in mixed for x in head[i]] for i in range(len(IDS))]
    s["a"] = product(joined, toy["w_o"])
    s["h"] = added(s["x"], s["a"]) if attention else s["x"]
    s["u2"] = normalised(s["h"])
    s["expanded"] = product(s["u2"], toy["w_1"])
    s["active"] = [[gelu(z) for z in row] for row in s["expanded"]]
    s["m"] = product(s["active"], toy["w_2"])
    s["y"] = added(s["h"], s["m"])
    s["logits"] = product(s["y"], toy["w_unembed"])
    s["probabilities"] = [softmax(row) for row in s["logits"]]
    return s


def chain(s: dict[str, Any], row: int, column: int) -> dict[str, Any]:
    """dL/dW_K[row, column], numbers in the order in which chapter 19 meets them."""
    head = column // WIDTH
    inside = range(head * WIDTH, (head + 1) * WIDTH)
    g: dict[str, Any] = {}
    g["logits"] = [p - (i == TARGET) for i, p in enumerate(s["probabilities"][LAST])]
    g["y"] = [dot(g["logits"], r) for r in TOY["w_unembed"]]
    g["active"] = [dot(g["y"], r) for r in TOY["w_2"]]
    g["gelu_slope"] = [gelu_slope(z) for z in s["expanded"][LAST]]
    g["expanded"] = [a * b for a, b in zip(g["active"], g["gelu_slope"], strict=True)]
    g["u2"] = [dot(g["expanded"], r) for r in TOY["w_1"]]
    u2, (_, std) = s["u2"][LAST], moments(s["h"][LAST])
    g["mean"], g["along"] = sum(g["u2"]) / D, dot(g["u2"], u2) / D
    g["through_norm"] = [
        (a - g["mean"] - b * g["along"]) / std for a, b in zip(g["u2"], u2, strict=True)
    ]
    g["h"] = [a + b for a, b in zip(g["y"], g["through_norm"], strict=True)]
    joined = [dot(g["h"], r) for r in TOY["w_o"]]
    g["heads"] = [joined[i] for i in inside]
    g["weights"] = [dot(g["heads"], [r[i] for i in inside]) for r in s["v"]]
    weights = s["weights"][head][LAST]
    g["average"] = dot(weights, g["weights"])
    g["scores"] = [w * (d - g["average"]) for w, d in zip(weights, g["weights"], strict=True)]
    g["keys"] = [d * s["q"][LAST][column] / math.sqrt(WIDTH) for d in g["scores"]]
    g["terms"] = [r[row] * d for r, d in zip(s["u"], g["keys"], strict=True)]
    g["value"] = sum(g["terms"])
    return g


def loss(toy: dict[str, Any]) -> float:
    return -math.log(forward(toy)["probabilities"][LAST][TARGET])


def leaves(value: Any) -> Iterator[float]:
    """The numbers of a list of any depth, and the lengths of its parts."""
    if isinstance(value, list):
        parts = cast("list[Any]", value)
        yield float(len(parts))
        for part in parts:
            yield from leaves(part)
    else:
        yield value


def near(found: Any, expected: Any) -> None:
    """Lists of one shape, compared leaf by leaf, to 1e-12."""
    assert list(leaves(found)) == pytest.approx(list(leaves(expected)), rel=0, abs=1e-12)


STAGES = forward(TOY)
FOLLOWED = RECORD["gradient"]["followed"]
AT = FOLLOWED["row"] - 1, FOLLOWED["column"] - 1


@pytest.mark.parametrize("name", sorted(STAGES))
def test_every_stage_agrees_with_the_record(name: str) -> None:
    near(RECORD[name], STAGES[name])


def test_attention_off_agrees_with_the_record() -> None:
    off = forward(TOY, attention=False)
    for name in ("y", "logits", "probabilities"):
        near(RECORD["attention_off"][name], off[name])
    near(RECORD["loss_off"], -math.log(off["probabilities"][LAST][TARGET]))


def test_what_stands_between_two_stages() -> None:
    for head in range(HEADS):
        for i, row in enumerate(STAGES["scores"][head]):
            powers = [math.exp(x) if j <= i else 0.0 for j, x in enumerate(row)]
            near(RECORD["exponentials"][head][i], powers)
            near(RECORD["exponential_sums"][head][i], math.fsum(powers))
    for name in ("x", "h"):
        means, stds = zip(*(moments(row) for row in STAGES[name]), strict=True)
        near(RECORD["statistics"][name]["mean"], list(means))
        near(RECORD["statistics"][name]["std"], list(stds))
    powers = [math.exp(z) for z in STAGES["logits"][LAST]]
    assert RECORD["logit_exponential_sums"][LAST] == pytest.approx(math.fsum(powers), rel=1e-14)


def test_one_hot_rows_pick_rows_of_the_table() -> None:
    picked = product(RECORD["one_hot"], TOY["token_embedding"])
    near(added(picked, TOY["position_embedding"]), RECORD["x"])


def test_a_final_norm_would_change_the_answer() -> None:
    logits: Matrix = product(normalised(STAGES["y"]), TOY["w_unembed"])
    near(RECORD["final_norm"]["logits"], logits)
    probabilities = softmax(logits[LAST])
    near(RECORD["final_norm"]["loss"], -math.log(probabilities[TARGET]))


def test_every_step_of_the_chain_agrees_with_the_record() -> None:
    found = chain(STAGES, *AT)
    assert set(found) == set(RECORD["gradient"]["chain"])
    for name, step in found.items():
        near(RECORD["gradient"]["chain"][name], step)


def test_the_chain_agrees_with_autograd_and_with_a_small_step() -> None:
    value = chain(STAGES, *AT)["value"]
    near(FOLLOWED["value"], value)
    near(RECORD["gradient"]["w_k"][AT[0]][AT[1]], value)
    losses: list[float] = []
    for nudge in (1e-5, -1e-5):
        toy = json.loads(json.dumps(TOY))
        toy["w_k"][AT[0]][AT[1]] += nudge
        losses.append(loss(toy))
    assert (losses[0] - losses[1]) / 2e-5 == pytest.approx(value, abs=1e-9)


def test_no_gradient_of_w_k_is_larger_than_the_one_that_is_followed() -> None:
    sizes = [abs(g) for row in RECORD["gradient"]["w_k"] for g in row]
    assert max(sizes) == pytest.approx(abs(FOLLOWED["value"]), abs=1e-15)


def test_losses_before_and_after_a_step() -> None:
    near(RECORD["loss"], loss(TOY))
    near(RECORD["loss_uniform"], math.log(len(TOY["vocabulary"])))
    toy = json.loads(json.dumps(TOY))
    toy["w_k"][AT[0]][AT[1]] -= RECORD["rate"] * FOLLOWED["value"]
    near(RECORD["loss_after_one"], loss(toy))
    near(RECORD["loss_foretold"], loss(TOY) - RECORD["rate"] * FOLLOWED["value"] ** 2)
    toy = json.loads(json.dumps(TOY))
    for name in ("w_q", "w_k", "w_v", "w_o", "w_1", "w_2", "w_unembed"):
        for row, downhill in zip(toy[name], RECORD["gradient"][name], strict=True):
            row[:] = [w - RECORD["rate"] * g for w, g in zip(row, downhill, strict=True)]
    near(RECORD["loss_after"], loss(toy))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (RECORD["x"][LAST], [-0.5, -0.5, -0.5, 1.5]),
        (RECORD["a"][LAST], [-0.739, 1.411, -0.521, -0.520]),
        (RECORD["h"][LAST], [-1.239, 0.911, -1.021, 0.980]),
        ([RECORD["statistics"]["h"]["mean"][LAST]], [-0.092]),
        ([RECORD["statistics"]["h"]["std"][LAST]], [1.041]),
        (RECORD["u2"][LAST], [-1.102, 0.964, -0.892, 1.030]),
        ([RECORD["active"][LAST][0], RECORD["active"][LAST][4]], [-0.149, 0.953]),
        (RECORD["m"][LAST], [0.803, 0.640, 0.560, 0.718]),
        (RECORD["y"][LAST], [-0.436, 1.551, -0.461, 1.698]),
        (RECORD["attention_off"]["y"][LAST], [-0.248, -0.248, -0.248, 3.088]),
    ],
)
def test_the_last_token_to_three_decimals(found: Row, expected: Row) -> None:
    assert [round(value, 3) for value in found] == expected


def test_the_maps_of_the_mlp() -> None:
    identity = [[float(i == j) for j in range(D)] for i in range(D)]
    assert TOY["w_1"] == [row + [-x for x in row] for row in identity]
    assert TOY["w_2"] == identity + identity


def test_next_words() -> None:
    def best(probabilities: Row) -> str:
        return TOY["vocabulary"][probabilities.index(max(probabilities))]

    assert best(RECORD["probabilities"][LAST]) == "␣telhado"
    assert best(RECORD["attention_off"]["probabilities"][LAST]) == "␣chão"


def test_a_pencil_needs_five_decimals() -> None:
    pencil = record("toy_pencil")
    assert pencil["d_5"]["differ"] == 0
    assert pencil["d_3"]["differ"] > pencil["d_4"]["differ"] > 0
