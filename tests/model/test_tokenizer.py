"""Does the BPE that the book lists learn what the library's trainer learns?"""

import inspect
import json
from collections import Counter

from model.tokenizer import join, learn_merges, train_tokenizer

# The most frequent pair is alone at the top for five merges; after that, ties may go either way.
TEXT = " ".join(
    ["low"] * 29 + ["lower"] * 17 + ["newest"] * 11 + ["widest"] * 7 + ["new"] * 5 + ["slow"] * 3
)


def words(text: str) -> Counter[tuple[str, ...]]:
    """Words with the space before them, in the letters of the byte alphabet."""
    first, *others = text.split(" ")
    return Counter([tuple(first), *(tuple(f"Ġ{word}") for word in others)])


def library_merges(text: str, merges: int) -> list[tuple[str, str]]:
    model = json.loads(train_tokenizer(text, 256 + merges).to_str())["model"]
    return [(left, right) for left, right in model["merges"]]


def test_the_listed_merges_are_the_librarys() -> None:
    assert learn_merges(words(TEXT), 5) == library_merges(TEXT, 5)


def test_it_takes_ten_lines() -> None:
    source = inspect.getsource(learn_merges)
    body = source.split('"""')[-1].strip().splitlines()
    assert len(body) == 10


def test_joining_goes_from_the_left_and_leaves_the_rest() -> None:
    assert join(tuple("aaaaa"), ("a", "a")) == ("aa", "aa", "a")
    assert join(tuple("banana"), ("a", "n")) == ("b", "an", "an", "a")
    assert join(("th", "e"), ("t", "h")) == ("th", "e")
    assert join(tuple("abac"), ("a", "b")) == ("ab", "a", "c")
    assert join((), ("a", "b")) == ()


def test_a_merge_shortens_the_text_by_what_it_joined() -> None:
    before = words(TEXT)
    (pair,) = learn_merges(before, 1)
    after = Counter({join(word, pair): n for word, n in before.items()})
    pieces = [sum(len(word) * n for word, n in some.items()) for some in (before, after)]
    occurs = sum("".join(word).count("".join(pair)) * n for word, n in before.items())
    assert pieces[0] - pieces[1] == occurs > 0
