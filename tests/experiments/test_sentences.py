"""Are the Winograd sentences, their splits and their scores what chapter 11 says?"""

import torch
from torch import Generator, nn

from experiments import induction, sentences
from model.block import Block
from model.language_model import Blocks, LanguageModel, MeanBlocks


def words(numbers: list[int]) -> str:
    return " ".join(sentences.WORDS[number] for number in numbers)


def test_a_sentence_reads_as_it_should() -> None:
    tired = sentences.sentence(("dog", "road"), "tired")
    assert words(tired) == (
        "the dog did not cross the road because it was too tired , so the dog waited ."
    )
    assert words(sentences.sentence(("dog", "road"), "wide")).endswith("so the road waited .")
    assert sentences.SentenceSettings().vocabulary == len(sentences.WORDS)
    assert sentences.SentenceSettings().context == len(sentences.FRAME)


def test_splits_are_disjoint_and_every_reverse_was_seen() -> None:
    for seed in range(5):
        pairs = sentences.role_pairs()
        seen, held_out = sentences.split(pairs, 40, Generator().manual_seed(seed))
        assert len(pairs) == 240
        assert len(held_out) == 40
        assert not set(seen) & set(held_out)
        assert set(seen) | set(held_out) == set(pairs)
        assert all(pair[::-1] in seen for pair in held_out)


def test_category_pairs_name_an_animal_and_a_place() -> None:
    assert len(sentences.category_pairs()) == 64
    for animal, place in sentences.category_pairs():
        assert animal in sentences.ANIMALS
        assert place in sentences.PLACES


class BlindToOrder(LanguageModel):
    """Answers by which nouns and which adjective are there, never by their order."""

    def __init__(self) -> None:
        super().__init__(sentences.SentenceSettings())
        self.table = nn.EmbeddingBag(len(sentences.WORDS), len(sentences.WORDS), mode="sum")

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        bag = tokens.sort(-1).values  # the order is gone
        return self.table(bag)[:, None].expand(-1, tokens.shape[1], -1)


def test_a_model_blind_to_order_is_right_at_most_half_the_time_over_both_orders() -> None:
    for seed in range(5):
        torch.manual_seed(seed)
        both = sentences.all_sentences(
            [("dog", "road"), ("road", "dog"), ("cat", "hill"), ("hill", "cat")]
        )
        found = sentences.score(BlindToOrder(), both)
        assert found["pair_accuracy"] <= 0.5
        assert found["referent_accuracy"] <= 0.5


def test_scores_count_right_wrong_and_between() -> None:
    class Says(LanguageModel):
        def __init__(self, word: str) -> None:
            super().__init__(sentences.SentenceSettings())
            self.word = sentences.NUMBER[word]

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            logits = torch.zeros(*tokens.shape, len(sentences.WORDS))
            logits[..., self.word] = 1.0
            return logits

    each = sentences.all_sentences([("dog", "road")])
    dog = sentences.score(Says("dog"), each)
    assert dog == {"referent_accuracy": 0.5, "wrong_noun_share": 0.5, "pair_accuracy": 0.5}
    waited = sentences.score(Says("waited"), each)
    assert waited["referent_accuracy"] == waited["wrong_noun_share"] == 0.0


def test_the_mean_in_place_of_attention_weighs_every_visible_position_the_same() -> None:
    model = MeanBlocks(sentences.SentenceSettings())
    block = model.blocks[0]
    assert isinstance(block, Block)
    weights = block.attention.weights(torch.randn(1, 5, 128))
    expected = torch.ones(5, 5).tril() / torch.arange(1, 6)[:, None]
    torch.testing.assert_close(weights, expected.expand_as(weights))
    assert (
        len(list(model.parameters()))
        == len(list(Blocks(sentences.SentenceSettings()).parameters())) - 2
    )


def test_repeated_patterns_repeat_and_the_second_copy_is_marked() -> None:
    settings = induction.FULL
    x, y, second = induction.repeated(settings, 50, Generator().manual_seed(0))
    whole = torch.cat([x, y[:, -1:]], 1)
    periods = set()
    for row, marked in zip(whole, second, strict=True):
        period = next(p for p in range(10, 31) if torch.equal(row[p:], row[:-p]))
        periods.add(period)
        assert marked.nonzero()[:, 0].tolist() == list(range(period, min(2 * period - 1, 64)))
    assert len(periods) > 10
