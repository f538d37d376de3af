"""How does text become numbers?

In: text. Out: token numbers, by byte-level byte-pair encoding (Sennrich et al. 2016; the splitting
rule and the byte alphabet of GPT-2, Radford et al. 2019), trained on the text itself.
"""

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers


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
