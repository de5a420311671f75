"""Pre-training text: files of documents in, windows of token ids out.

A corpus file is UTF-8 text (`.txt` or `.txt.xz`), one paragraph a line, a blank line between documents. Whole
documents are held out, never lines, so that held-out numbers are about text the model has not seen any part of.
"""

import hashlib
import lzma
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int, Integer
from transformers import PreTrainedTokenizerBase

from explorer.errors import UnsuitableCorpus
from explorer.training.writing import whole_file

HELD_OUT_SHARE = 0.02
SENTENCE_ENDS = (".", "!", "?")


def read_documents(path: Path) -> Iterator[list[str]]:
    """Yield the documents of a corpus file, each as its paragraphs.

    Raises:
        UnsuitableCorpus: The file is missing, not to be read, not text, or not valid xz.
    """
    opener = lzma.open if path.suffix == ".xz" else open
    paragraphs: list[str] = []
    try:
        with opener(path, "rt", encoding="utf-8-sig") as lines:  # some editors begin a file with a byte order mark
            for line in lines:
                if "\0" in line:
                    raise UnsuitableCorpus(f"{path.name} is not text: it holds NUL bytes. Give UTF-8 text.")
                if line.strip():
                    paragraphs.append(line.strip())
                elif paragraphs:
                    yield paragraphs
                    paragraphs = []
    except OSError as error:
        raise UnsuitableCorpus(f"The corpus file {path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise UnsuitableCorpus(f"{path.name} is not UTF-8 text; save it as UTF-8 ({error.reason}).") from error
    except (lzma.LZMAError, EOFError) as error:
        raise UnsuitableCorpus(
            f"{path.name} is not whole xz; get a fresh copy, or give plain text ({error})."
        ) from error
    if paragraphs:
        yield paragraphs


def is_held_out(paragraphs: Sequence[str]) -> bool:
    """Whether a document is kept for measuring: decided by its own text, so the same for every run and order."""
    digest = hashlib.sha256(paragraphs[0].encode()).digest()
    return int.from_bytes(digest[:4], "big") < HELD_OUT_SHARE * 2**32


@dataclass(frozen=True, eq=False)
class TokenizedText:
    """The documents of one file as token ids, without special tokens.

    Attributes:
        ids: Token ids of all documents, one after another.
        document_ends: Where each document ends in ids; exclusive.
        is_start: True where a sentence begins, as far as punctuation tells.
        text_bytes: Length of the documents' paragraphs in UTF-8.
    """

    ids: Integer[np.ndarray, " token"]
    document_ends: Int[np.ndarray, " document"]
    is_start: Bool[np.ndarray, " token"]
    text_bytes: int = 0

    @property
    def bytes_per_token(self) -> float:
        """Bytes of text per token; a loss per token becomes one per byte by it."""
        return self.text_bytes / max(1, len(self.ids))

    def window_starts(self, length_tokens: int, lead_tokens: int = 0) -> Int[np.ndarray, " window"]:
        """Where windows within one document start, whose token number lead_tokens begins a sentence.

        Args:
            length_tokens: Of a window.
            lead_tokens: Less than that; 0 = windows that begin with a sentence.
        """
        sentences = np.flatnonzero(self.is_start)
        document = np.searchsorted(self.document_ends, sentences, side="right")
        begins = np.concatenate([[0], self.document_ends])[document]
        starts = sentences - lead_tokens
        return starts[(starts >= begins) & (starts + length_tokens <= self.document_ends[document])]


def tokenize_documents(documents: Iterable[Sequence[str]], tokenizer: PreTrainedTokenizerBase) -> TokenizedText:
    """Tokenize documents and note where their sentences begin."""
    ends_sentence = np.zeros(len(tokenizer), dtype=bool)
    vocabulary = tokenizer.get_vocab()
    ends_sentence[[vocabulary[end] for end in SENTENCE_ENDS if end in vocabulary]] = True
    kind = np.uint16 if len(tokenizer) <= 2**16 else np.uint32
    pieces = [np.empty(0, dtype=kind)]  # so that no documents are an empty text
    starts = [np.empty(0, dtype=bool)]
    document_ends: list[int] = []
    total = text_bytes = 0
    for paragraphs in documents:
        text_bytes += sum(len(paragraph.encode()) for paragraph in paragraphs)
        for paragraph in tokenizer(list(paragraphs), add_special_tokens=False).input_ids:
            ids = np.array(paragraph, dtype=kind)
            follows = np.ones(len(ids), dtype=bool)
            follows[1:] = ends_sentence[ids[:-1]]
            pieces.append(ids)
            starts.append(follows)
            total += len(ids)
        document_ends.append(total)
    ends = np.array(document_ends, dtype=np.int64)
    return TokenizedText(np.concatenate(pieces), ends, np.concatenate(starts), text_bytes)


@dataclass(frozen=True, eq=False)
class Corpus:
    """Files of text, tokenized and split by whole documents.

    Attributes:
        train: One TokenizedText per file.
        held_out: Likewise, the documents kept for measuring, if the file has enough of them; parallel to train.
        names: File names; parallel to train.
    """

    names: tuple[str, ...]
    train: tuple[TokenizedText, ...]
    held_out: tuple[TokenizedText, ...]

    def most_frequent_ids(self, count: int) -> Int[np.ndarray, " common"]:
        """Ids of the most frequent tokens of the training documents."""
        size = 1 + max(int(text.ids.max()) for text in self.train)
        counts = sum(np.bincount(text.ids, minlength=size) for text in self.train)
        return np.argsort(-counts, kind="stable")[:count].copy()


def load_corpus(paths: Sequence[Path], tokenizer: PreTrainedTokenizerBase, cache: Path) -> Corpus:
    """Tokenize files, or read what an earlier run tokenized.

    Args:
        paths: Corpus files; see read_documents.
        tokenizer: Its vocabulary is part of the cache key.
        cache: Folder for the tokenized files.

    Raises:
        UnsuitableCorpus: A file cannot be read, or holds no text.
        UnwritableFolder: The cache cannot be written.
    """
    vocabulary = hashlib.sha256(repr(sorted(tokenizer.get_vocab().items())).encode()).hexdigest()[:12]
    texts: list[tuple[TokenizedText, TokenizedText]] = []
    for path in paths:
        stem = f"{path.name}-{digest_file(path)}-{vocabulary}"
        stored = [cache / f"{stem}-{split}.npz" for split in ("train", "held_out")]
        if not all(file.exists() for file in stored):
            _tokenize_file(path, tokenizer, stored)
        texts.append(tuple(_read_tokenized(file) for file in stored))
    train, held_out = zip(*texts, strict=True)
    return Corpus(tuple(path.name for path in paths), train, held_out)


def _tokenize_file(path: Path, tokenizer: PreTrainedTokenizerBase, stored: Sequence[Path]) -> None:
    splits: tuple[list, list] = [], []
    for paragraphs in read_documents(path):
        splits[is_held_out(paragraphs)].append(paragraphs)
    for file, documents in zip(stored, splits, strict=True):
        text = tokenize_documents(documents, tokenizer)
        if documents is splits[0] and not len(text.ids):
            raise UnsuitableCorpus(
                f"{path.name} holds no text to train on: write one paragraph a line, and a blank line between "
                f"documents."
            )
        with whole_file(file) as part, part.open("wb") as target:
            np.savez(target, **vars(text))


def _read_tokenized(file: Path) -> TokenizedText:
    with np.load(file, allow_pickle=False) as arrays:
        return TokenizedText(**dict(arrays) | {"text_bytes": int(arrays["text_bytes"])})


def digest_file(path: Path) -> str:
    """Of the content: a corpus that was edited, or another of the same name, is not taken for the old one."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:12]
    except OSError as error:
        raise UnsuitableCorpus(f"The corpus file {path} cannot be read: {error.strerror or error}.") from error
