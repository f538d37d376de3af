"""Are the counted rows of `averages` what a count by hand gives?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from experiments import averages, material

TRAIN, HELD_OUT = [0, 1, 1, 2, 1, 0, 1], [1, 1, 0, 2]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], dict[str, Any]]:
    """A counted row over a text of three tokens, with nothing added to the counts."""
    text = SimpleNamespace(train=torch.tensor(TRAIN), validation=torch.tensor(HELD_OUT))

    def tokens(vocabulary: int) -> SimpleNamespace:
        return text

    def values(count: Any) -> dict[str, Any]:
        return count(averages.Settings(vocabulary=3, smoothing=0.0), None)

    monkeypatch.setattr(material, "corpus_tokens", tokens)
    return values


def surprise(probabilities: list[float]) -> float:
    return math.exp(-sum(math.log(p) for p in probabilities) / len(probabilities))


def test_frequencies_do_not_look_at_what_came_before(
    counted: Callable[[Any], dict[str, Any]],
) -> None:
    found = counted(averages.count_tokens)
    share = {token: n / len(TRAIN) for token, n in Counter(TRAIN).items()}
    assert found["parameters"] == 3
    assert found["train_perplexity"] == pytest.approx(surprise([share[t] for t in TRAIN[1:]]))
    assert found["validation_perplexity"] == pytest.approx(
        surprise([share[t] for t in HELD_OUT[1:]])
    )


def test_pairs_look_one_token_back(counted: Callable[[Any], dict[str, Any]]) -> None:
    found = counted(averages.count_bigrams)
    pairs, firsts = Counter(pairwise(TRAIN)), Counter(TRAIN[:-1])
    expected = surprise([pairs[a, b] / firsts[a] for a, b in pairwise(TRAIN)])
    assert found["parameters"] == 9
    assert found["train_perplexity"] == pytest.approx(expected)
    assert found["validation_perplexity"] == math.inf, "a pair that the training text lacks"
