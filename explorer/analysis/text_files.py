"""Files of text as people have them: packed or not, in one of several encodings; what is no text is said to be none."""

from __future__ import annotations

import codecs
import gzip
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from explorer.errors import UnsuitableText

CHUNK_BYTES = 2**18
MOST_XZ_BYTES = 2**27  # memory to unpack with: an xz file may ask for gigabytes
GZIP, XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"
SAVE_AS_TEXT = "Save it as a text file, a sentence in each line, or as csv in UTF-8, and give that."
NO_TEXT = {  # what a file begins with, and what it is then
    b"PK\x03\x04": "a spreadsheet, a document or a zip file",
    b"PK\x05\x06": "an empty zip file",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet or document",
    b"%PDF": "a PDF",
    b"{\\rtf": "a document in RTF",
    b"PAR1": "a Parquet table",
    b"SQLite format 3": "a database",
    b"BZh": "a bzip2 file",
    b"(\xb5/\xfd": "a Zstandard file",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
}
WEB_PAGES = (b"<!doctype html", b"<html", b"<head", b"<body", b"<script")
MARKS = (  # the longer first: one begins with another
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LONGEST_CHARACTER_BYTES = 4
WESTERN = "cp1252"
IS_WESTERN = (
    "The file is not UTF-8; it was read as Windows-1252, which is usual in Western Europe. If letters look wrong, save "
    "it as UTF-8."
)


def read_chunks(path: Path, name: str = "") -> Iterator[tuple[bytes, int]]:
    """The bytes of a file of text some at a time, unpacked if it is in gzip or xz, in bounded memory.

    Args:
        path: The file.
        name: Of the file, for messages; "" = that of the path.

    Yields:
        Bytes, and how many bytes of the file itself were read for all so far.

    Raises:
        UnsuitableText: It cannot be read, is damaged, or is no text as far as its first bytes tell.
    """
    name = name or path.name
    try:
        with path.open("rb") as raw:
            is_first = True
            for chunk in _unpack(raw):
                if is_first:
                    check_start(name, chunk)
                    is_first = False
                yield chunk, raw.tell()
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise UnsuitableText(f"{name} is damaged or incomplete. Pack it anew, or give it unpacked.") from error
    except OSError as error:
        raise UnsuitableText(f"{name} cannot be read: {error.strerror or error}.") from error


def choose_encoding(start: bytes) -> str:
    """The encoding of a text by its first bytes: that of its mark, else UTF-8 if they are that, else Windows-1252.

    Args:
        start: Its beginning; it may end within a character.
    """
    for mark, encoding in MARKS:
        if start.startswith(mark):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return WESTERN
    return "utf-8"


def decode_text(name: str, data: bytes) -> tuple[str, tuple[str, ...]]:
    """A whole text, and what must be said of its encoding.

    Args:
        name: Of its file, for messages.
        data: All of it.

    Raises:
        UnsuitableText: It is damaged, or holds NUL characters.
    """
    encoding = choose_encoding(data)
    remarks = (IS_WESTERN,) if encoding == WESTERN else ()
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != WESTERN:
            raise UnsuitableText(
                f"{name} begins as {encoding.upper().removesuffix('-SIG')} does, and is damaged further on. Save it as "
                f"UTF-8."
            ) from error
        text = data.decode("latin-1")  # five bytes mean nothing in Windows-1252
    if "\0" in text:
        raise UnsuitableText(f"{name} holds NUL characters: it is no text, or not in UTF-8. {SAVE_AS_TEXT}")
    return text, remarks


def check_start(name: str, start: bytes) -> None:
    """Refuse what is no text, as far as its first bytes tell.

    Args:
        name: Of the file, for messages.
        start: Its beginning.

    Raises:
        UnsuitableText: It is a spreadsheet, a PDF, a web page …; the message says so.
    """
    for magic, what in NO_TEXT.items():
        if start.startswith(magic):
            raise UnsuitableText(f"{name} is {what}, not text. {SAVE_AS_TEXT}")
    if start.removeprefix(codecs.BOM_UTF8)[:1000].lstrip().lower().startswith(WEB_PAGES):
        raise UnsuitableText(f"{name} is a web page, not text. {SAVE_AS_TEXT}")
    if not start.startswith(tuple(mark for mark, _ in MARKS)) and b"\0" in start:
        raise UnsuitableText(f"{name} holds NUL characters: it is no text, or not in UTF-8. {SAVE_AS_TEXT}")


def _unpack(raw: BinaryIO) -> Iterator[bytes]:
    start = raw.read(len(XZ))
    raw.seek(0)
    if start.startswith(XZ):
        yield from _unpack_xz(raw)
        return
    file = gzip.GzipFile(fileobj=raw) if start.startswith(GZIP) else raw
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


def _unpack_xz(raw: BinaryIO) -> Iterator[bytes]:
    """As LZMAFile does, in bounded memory."""
    packed, unpacker = b"", None
    while True:
        if unpacker is None or unpacker.needs_input:
            packed += raw.read(CHUNK_BYTES)
        if unpacker is None:
            packed = packed.lstrip(b"\0")  # streams may be padded
            if not packed:
                return
            unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_XZ_BYTES)
        elif unpacker.needs_input and not packed:
            raise EOFError("the file ends before its stream does")
        chunk = unpacker.decompress(packed, CHUNK_BYTES)
        packed = b""
        if unpacker.eof:
            packed, unpacker = unpacker.unused_data, None
        if chunk:
            yield chunk
