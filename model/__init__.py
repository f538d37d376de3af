"""Which transformer does the book measure?

PyTorch (and tokenizers) only: nothing here knows of records, chapters or Snakemake. What the book
lists is kept as plain as the equation beside it; speed lives in `train.py` and `loss.py`.

Symbols, as in the notation table: B batch, T positions, d width, h heads, d_head width of a head,
V vocabulary.
"""
