"""How does text become numbers?

In: text. Out: token numbers, by byte-level byte-pair encoding (Sennrich et al. 2016; the splitting
rule and the byte alphabet of GPT-2, Radford et al. 2019), trained on the text itself. The book's
models use the library's trainer; `learn_merges` is the same idea in plain Python, for reading.
"""

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

Pieces = tuple[str, ...]  # a word, cut


# listing: tokenizer
def train_tokenizer(text: str, vocabulary: int) -> Tokenizer:
    """Byte-level BPE: at most `vocabulary` tokens.

    The 256 bytes are among them.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(
        add_prefix_space=False,
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([text], trainer)
    return tokenizer


# end: tokenizer


# listing: byte_pairs
def learn_merges(
    words: Mapping[Pieces, int],
    merges: int,
) -> list[tuple[str, str]]:
    """The pairs that BPE joins, in order."""
    joined: list[tuple[str, str]] = []
    for _ in range(merges):
        pairs = Counter[tuple[str, str]]()
        for word, times in words.items():
            for pair in pairwise(word):
                pairs[pair] += times
        best = max(pairs, key=pairs.__getitem__)
        words = {join(w, best): n for w, n in words.items()}
        joined.append(best)
    return joined


# end: byte_pairs


# listing: join
def join(word: Pieces, pair: tuple[str, str]) -> Pieces:
    """Every such pair becomes one piece, from the left."""
    pieces: list[str] = []
    for piece in word:
        if pieces and (pieces[-1], piece) == pair:
            pieces[-1] += piece
        else:
            pieces.append(piece)
    return tuple(pieces)


# end: join
