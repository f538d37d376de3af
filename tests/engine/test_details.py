"""Do the facts of a pop-over read well in both languages?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine import details
from engine.details import Labels
from engine.errors import RenderError
from engine.quantity import Quantity

NBSP = "\u00a0"


def of(*values: Any, **more: Any) -> Quantity:
    seeds: dict[int | None, object] = {None: values[0]}
    if len(values) > 1:
        seeds = {seed: value for seed, value in enumerate(values)}
    return Quantity(("a.b",), seeds, **more)


@pytest.mark.parametrize(
    ("seconds", "pt"),
    [
        (0.0123, "0,012 s"),
        (7.04, "7 s"),
        (12.7, "12 s"),
        (60, "1 min"),
        (200, "3 min 20 s"),
        (7800, "2 h 10 min"),
        (7205, "2 h"),
    ],
)
def test_durations(seconds: float, pt: str) -> None:
    assert details.duration_words(seconds, "pt").replace(NBSP, " ") == pt


@pytest.mark.parametrize(
    ("values", "percent", "want"),
    [
        ((59.61, 59.83, 60.2), False, ["59,61", "59,83", "60,20"]),
        ((0.123456, 0.123456), False, ["0,123456", "0,123456"]),
        ((4096, 4097), False, ["4096", "4097"]),
        ((0.1234, 0.1299), True, ["12,34%", "12,99%"]),
        ((1.5e-7, 2.5e-7), False, ["1,500 × 10⁻⁷", "2,500 × 10⁻⁷"]),
        ((float("nan"),), False, ["NaN"]),
        ((float("-inf"),), False, ["menos infinito"]),
        (((1.5, 2.5),), False, ["[1,5; 2,5]"]),
        (("texto",), False, ["texto"]),
        ((True, False), False, ["sim", "não"]),
        ((0.0, 0.5), False, ["0", "0,50"]),
    ],
)
def test_each_seed_is_told_apart(values: tuple[Any, ...], percent: bool, want: list[str]) -> None:
    texts = details.readable(of(*values), "pt", percent)
    assert [text.replace(NBSP, " ") for text in texts] == want


@pytest.mark.parametrize(
    ("values", "want"),
    [
        ((59.61, 60.2), ("59,6", "60,2")),
        ((-1.0, 250.0), ("−100", "300")),
        ((1.2e-7, 3.9e-7), ("1 × 10⁻⁷", "4 × 10⁻⁷")),
        ((0.0, 3e12), ("0", "3.000.000.000.000")),
    ],
)
def test_the_ruler_has_round_ends_that_hold_every_seed(
    values: tuple[float, float], want: tuple[str, str]
) -> None:
    ends = details.nice_ends(values, "pt")
    assert ends is not None
    assert tuple(end["text"].replace(NBSP, " ") for end in ends) == want
    assert ends[0]["value"] <= min(values)
    assert ends[1]["value"] >= max(values)


def test_one_value_or_equal_values_have_no_ruler() -> None:
    assert details.nice_ends([1.0], "pt") is None
    assert details.nice_ends([1.0, 1.0], "pt") is None


def test_the_longest_label_wins_and_stars_are_filled_in() -> None:
    labels = Labels(
        {
            "*.loss": {"pt": "perda de {0}", "en": "loss of {0}"},
            "averages.*.loss": {"pt": "perda, linha {0}", "en": "loss, row {0}"},
        }
    )
    assert labels.of_path("averages.mean.loss", "pt") == "perda, linha mean"
    assert labels.of_path("averages.1000.loss", "pt") == "perda, linha 1000"
    assert labels.of_path("averages.10000.loss", "pt") == "perda, linha 10.000"
    assert labels.of_path("other.x.loss", "en") == "loss of other.x"
    assert labels.of_path("other.x", "en") == "other.x"
    ratio = Quantity(
        ("averages.mean.loss", "other.x"), {None: 2.0}, expression="averages.mean.loss / other.x"
    )
    assert labels.of(ratio, "en") == "(loss, row mean) ÷ other.x"


def test_bad_labels_are_one_clear_line(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(details.paths, "CHAPTERS", tmp_path)
    (tmp_path / "labels.toml").write_text('"a.*" = {pt = "x"}\n')
    with pytest.raises(RenderError, match=r'labels\.toml: "a\.\*" needs pt and en'):
        Labels.read()
    (tmp_path / "labels.toml").write_text("a = \n")
    with pytest.raises(RenderError, match=r"labels\.toml: "):
        Labels.read()


def test_nothing_in_the_details_can_end_their_element() -> None:
    text = details.script([("k", {"device": "</script><script>alert(1)</script>&"})])
    inside = text.split(">", 1)[1].rsplit("</script>", 1)[0]
    assert "<" not in inside
    assert json.loads(inside)["k"]["device"] == "</script><script>alert(1)</script>&"
