"""The vocabulary of models that start from nothing, made from the corpus once and then kept."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tokenizers import Tokenizer

from explorer.errors import UnsuitableCorpus
from explorer.training.corpus import digest_file, is_held_out, read_documents
from explorer.training.minis import SHOWN_BYTES, VOCABULARY, train_tokenizer
from explorer.training.writing import whole_file


def find_vocabulary(paths: Sequence[Path], cache: Path) -> Tokenizer:
    """The tokenizer that belongs to a corpus.

    Args:
        paths: Corpus files; a like share of each is read, held-out documents are not.
        cache: Folder where it is kept.

    Raises:
        UnsuitableCorpus: A file cannot be read, or all hold too little text.
        UnwritableFolder: The cache cannot be written.
    """
    digest = hashlib.sha256("".join(digest_file(path) for path in sorted(paths)).encode()).hexdigest()[:12]
    stored = cache / f"vocabulary-{digest}.json"
    if not stored.exists():
        tokenizer = train_tokenizer(_read_some(paths))
        if tokenizer.get_vocab_size() < VOCABULARY:
            raise UnsuitableCorpus(
                f"The corpus holds too little text for a vocabulary of {VOCABULARY:,} tokens: it gave "
                f"{tokenizer.get_vocab_size():,}. Give more text, or start from a model."
            )
        with whole_file(stored) as part:
            tokenizer.save(str(part))
    return Tokenizer.from_file(str(stored))


def _read_some(paths: Sequence[Path]) -> Iterator[str]:
    for path in sorted(paths):
        left_bytes = SHOWN_BYTES // len(paths)
        for paragraphs in read_documents(path):
            if left_bytes <= 0:
                break
            if is_held_out(paragraphs):
                continue
            left_bytes -= sum(len(paragraph.encode()) for paragraph in paragraphs)
            yield from paragraphs
