"""The uses of a word in a corpus of any size: read once, some of it at a time; of many uses a random sample is kept."""

from __future__ import annotations

import codecs
import hashlib
import heapq
import io
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from explorer.analysis.blanks import check_characters, check_option
from explorer.analysis.corpus_results import CorpusProgress, CorpusUses
from explorer.analysis.embedding_results import Span
from explorer.analysis.text_files import IS_WESTERN, WESTERN, choose_encoding, read_chunks
from explorer.analysis.uses import find_uses
from explorer.errors import UnsuitableText, quoted
from explorer.settings import GIB, settings

LONG_LINE_CHARACTERS = 300  # a longer line is taken for several sentences
LONGEST_SENTENCE_CHARACTERS = 2_000
LONGEST_BLOCK_CHARACTERS = 2**20  # of a line that does not end
TOLD_EVERY_SECONDS = 0.2
ABBREVIATIONS = r"(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bMrs)(?<!\bProf)(?<!\b[A-Z])"
SENTENCE_END = re.compile(rf"(?:{ABBREVIATIONS}\.|[!?…])[\"'”’»)\]]*\s+(?![\sa-z])|[。！？][”’」』]*")
DAMAGED = "\N{REPLACEMENT CHARACTER}"


def find_corpus_uses(
    path: Path, word: str, *, forms: Sequence[str] = (), sample: int = 2_000, seed: int = 0, sha256: str = ""
) -> Iterator[CorpusProgress | CorpusUses]:
    """Look for a word in a file, however large, in bounded memory.

    Args:
        path: Text, a sentence or a paragraph in each line, or packed in gzip or xz; lines of more than
            LONG_LINE_CHARACTERS are cut into sentences at full stops.
        word: As find_uses takes it.
        forms: Likewise.
        sample: Most uses that are kept, from 1 to settings().most_uses. Of more, a random sample: those whose sentences
            have the lowest hash, so that a repeated sentence counts once, and the same file gives the same sample.
        seed: Of the sample.
        sha256: Of the file, as hash_corpus tells it, for the result.

    Yields:
        How far it is, several times a second; last the uses.

    Raises:
        UnsuitableText: The file is no text or cannot be read, or the word is not in it.
    """
    check_option("sample", sample, settings().most_uses)
    find_uses("", word, forms=forms)  # a word that is none is told at once
    keys = _needles((word, *forms))
    kept = _Sample(sample, seed)
    began = told = time.monotonic()
    sentences = left_out = line = 0
    remarks: list[str] = []
    size = max(1, path.stat().st_size) if path.is_file() else 1
    for block, read in _read_blocks(path, remarks):
        for text in block.split("\n"):
            line += 1
            for sentence in cut_sentences(text) if len(text) > LONG_LINE_CHARACTERS else (text,):
                if not sentence or sentence.isspace():
                    continue
                sentences += 1
                lowered = sentence.lower()
                if any(key in lowered for key in keys):
                    tidy = " ".join(sentence.split())
                    spans = find_uses(tidy, word, forms=forms)
                    if spans and _is_readable(tidy):
                        kept.add(tidy, spans, line)
                    else:
                        left_out += bool(spans)
        line -= 1  # what follows the last line break belongs to the next block's first line
        if time.monotonic() - told > TOLD_EVERY_SECONDS:
            told, share = time.monotonic(), min(1.0, read / size)
            yield CorpusProgress("reading", share, sentences, kept.found, seconds_left=_left(told - began, share))
    if not kept.found:
        which = "one sentence" if left_out == 1 else f"{left_out:,} sentences"
        reason = f"; {which} with it could not be read" if left_out else ""
        raise UnsuitableText(
            f"{quoted(word)} is in none of the {sentences:,} lines of {path.name}{reason}. Look for another word "
            f"or form of it, or in another corpus."
        )
    texts, positions, lines = kept.in_order()
    yield CorpusUses(
        corpus=path.name,
        sha256=sha256,
        word=word,
        forms=tuple(forms),
        sentences=texts,
        positions=positions,
        lines=lines,
        sentences_read=sentences,
        found=kept.found,
        left_out=left_out,
        seed=seed,
        remarks=(*remarks, *_remarks(len(texts), kept, left_out, seed)),
    )


def hash_corpus(path: Path) -> Iterator[CorpusProgress | str]:
    """The sha256 of a file, after reports of how far it is.

    Raises:
        UnsuitableText: It cannot be read.
    """
    digest = hashlib.sha256()
    told, read = time.monotonic(), 0
    try:
        size = max(1, path.stat().st_size)
        with path.open("rb") as file:
            while chunk := file.read(2**22):
                digest.update(chunk)
                read += len(chunk)
                if time.monotonic() - told > TOLD_EVERY_SECONDS:
                    told = time.monotonic()
                    yield CorpusProgress("checking", min(1.0, read / size))
    except OSError as error:
        raise UnsuitableText(f"{path.name} cannot be read: {error.strerror or error}.") from error
    yield digest.hexdigest()


def cut_sentences(text: str) -> Iterator[str]:
    """The sentences of a paragraph, as far as full stops and capital letters tell."""
    begin = 0
    for match in SENTENCE_END.finditer(text):
        yield text[begin : match.end()]
        begin = match.end()
    yield text[begin:]


class _Sample:
    """Uses with the lowest hashes: a random sample of different ones, whatever their order, in bounded memory."""

    def __init__(self, most: int, seed: int) -> None:
        self.found = 0
        self._most = most
        self._seed = f"{seed}\n".encode()
        self._kept: dict[int, tuple[int, str, Span, int]] = {}
        self._highest: list[int] = []  # a heap of negated hashes
        self.is_full = False
        self.again = 0

    def add(self, sentence: str, spans: Sequence[Span], line: int) -> None:
        """Take the uses of a sentence, if they are among the lowest so far."""
        for start, end in spans:
            self.found += 1
            text = f"{start}\n{sentence}".encode(errors="surrogatepass")
            key = int.from_bytes(hashlib.blake2b(self._seed + text, digest_size=8).digest(), "big")
            if key in self._kept:
                self.again += 1
                continue
            if len(self._kept) == self._most:
                self.is_full = True
                if key > -self._highest[0]:
                    continue
                del self._kept[-heapq.heappushpop(self._highest, -key)]
            else:
                heapq.heappush(self._highest, -key)
            self._kept[key] = (self.found, sentence, (start, end), line)

    def in_order(self) -> tuple[tuple[str, ...], tuple[Span, ...], tuple[int, ...]]:
        """Sentences, positions and lines, as they stand in the corpus."""
        ordered = sorted(self._kept.values())
        return tuple(one[1] for one in ordered), tuple(one[2] for one in ordered), tuple(one[3] for one in ordered)


def _read_blocks(path: Path, remarks: list[str]) -> Iterator[tuple[str, int]]:
    """Text in blocks that end with a line or, in a line that does not end, with a sentence; and bytes read so far.

    Args:
        path: As find_corpus_uses takes it.
        remarks: Gets what must be said of the reading.
    """
    most = settings().largest_corpus_gib * GIB
    decoder, carry, unpacked, read = None, "", 0, 0
    for chunk, read in read_chunks(path):
        if decoder is None:
            encoding = choose_encoding(chunk)
            remarks.extend([IS_WESTERN] if encoding == WESTERN else [])
            decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)("replace"), translate=True)
        unpacked += len(chunk)
        text = carry + decoder.decode(chunk)
        cut = text.rfind("\n") + 1
        if not cut and len(text) > LONGEST_BLOCK_CHARACTERS:
            ends = [match.end() for match in SENTENCE_END.finditer(text)]
            cut = ends[-1] if ends else len(text)
        if cut:
            yield text[:cut], read
        carry = text[cut:]
        if unpacked > most:
            remarks.append(f"The corpus is larger than {settings().largest_corpus_gib:g} GiB; as much was searched.")
            return
    if decoder is not None:
        yield carry + decoder.decode(b"", final=True), read


def _needles(words: Sequence[str]) -> tuple[str, ...]:
    """What a sentence must hold, in lower case, to have a use: of words that begin alike what they have in common."""
    parts = {max(re.findall(r"\w+", word.lower()) or [word.lower().strip()], key=len) for word in words}
    return tuple(part for part in parts if not any(other in part for other in parts - {part}))


def _is_readable(sentence: str) -> bool:
    """Whether a model can read it, and a page can mark the use in it by braces."""
    if len(sentence) > LONGEST_SENTENCE_CHARACTERS or any(mark in sentence for mark in ("{", "}", DAMAGED)):
        return False
    try:
        check_characters(sentence)
    except UnsuitableText:
        return False
    return True


def _left(seconds: float, share: float) -> float | None:
    return seconds * (1 - share) / share if share > 0.01 else None


def _remarks(count: int, kept: _Sample, left_out: int, seed: int) -> Iterator[str]:
    if kept.is_full:
        yield f"The word is used {kept.found:,} times; {count:,} of these uses were drawn at random (seed {seed})."
    elif kept.again:
        yield f"The word is used {kept.found:,} times; {kept.again:,} of these in a sentence that was there before."
    if left_out:
        which = "One sentence" if left_out == 1 else f"{left_out:,} sentences"
        yield f"{which} with the word could not be read, and {'was' if left_out == 1 else 'were'} left out."
