"""Rows of json: an object or a list in each line, a list of them, or the nested form of SQuAD."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from explorer.errors import UnsuitableText
from explorer.training.tuning.table import clean_text

LARGEST_LIST_CHARACTERS = 16 * 2**20  # lists of nothing take twenty times the memory of their text
LISTS = ("data", "rows", "examples", "train", "items")
HOW = 'Write an object in each line, as in {"text": "Lovely.", "label": "praise"}, or a list of such objects.'

Numbered = tuple[int, Sequence[str]]


def read_json(name: str, text: str, most: int) -> list[Numbered]:
    """Rows of a text in json, or nothing if it is none.

    Args:
        name: Of the file, for messages.
        text: All of it.
        most: Rows; one more may come, so that the caller sees that there are more.

    Returns:
        The names of the columns as row 0, then the rows, numbered by line or by place in the list, from 1.

    Raises:
        UnsuitableText: It begins as json and goes on as something else; the message says where.
    """
    start = text[:100].lstrip()
    if not start.startswith(("{", "[")):
        return []
    first_line = text.lstrip().partition("\n")[0].strip()
    is_lines = _is_whole(first_line) and "\n" in text.strip()
    if not is_lines and not start.startswith('{"') and not _begins_list(start):
        return []  # braces and brackets in running text
    found = list(_lines(name, text, most) if is_lines else _whole(name, text, most))
    if not found:
        raise UnsuitableText(f"{name} is an empty list. {HOW}")
    columns: dict[str, int] = {}
    for _, row in found:
        for key in row:
            columns.setdefault(key, len(columns))
    return [(0, list(columns)), *((number, [row.get(key, "") for key in columns]) for number, row in found)]


def _is_whole(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict | list)
    except (ValueError, RecursionError):
        return False


def _begins_list(start: str) -> bool:
    return start.startswith("[") and start[1:].lstrip()[:1] in ("{", "[", "]", '"') or start.startswith("{\n")


def _lines(name: str, text: str, most: int) -> Iterator[tuple[int, dict[str, str]]]:
    count = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UnsuitableText(f"Line {number:,} of {name} is not json. {HOW}") from error
            yield number, _flat(name, number, row)
            count += 1
            if count > most:
                return


def _whole(name: str, text: str, most: int) -> Iterator[tuple[int, dict[str, str]]]:
    if len(text) > LARGEST_LIST_CHARACTERS:
        raise UnsuitableText(f"{name} is too large for one list of json. Write an object in each line (jsonl).")
    try:
        read = json.loads(text)
    except RecursionError as error:
        raise UnsuitableText(f"{name} is nested too deeply. {HOW}") from error
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise UnsuitableText(f"{name} begins as json and is none at line {line:,}. {HOW}") from error
    if isinstance(read, dict):
        read = next((read[key] for key in LISTS if isinstance(read.get(key), list)), [read])
    if read and isinstance(read[0], dict) and "paragraphs" in read[0]:
        read = _squad_rows(read)
    for number, row in enumerate(read, start=1):
        yield number, _flat(name, number, row)
        if number > most:
            return


def _squad_rows(articles: Sequence[dict]) -> list[dict]:
    """Questions of SQuAD's own form (Rajpurkar et al. 2016, https://arxiv.org/abs/1606.05250), one a row."""
    rows = []
    for article in articles:
        for paragraph in article.get("paragraphs", []) if isinstance(article, dict) else []:
            for asked in paragraph.get("qas", []):
                answers = [one for one in asked.get("answers", []) if isinstance(one, dict)]
                rows.append({"question": asked.get("question", ""), "context": paragraph.get("context", "")})
                if answers:
                    rows[-1]["answer"] = answers[0].get("text", "")
                    rows[-1]["answer_start"] = answers[0].get("answer_start", "")
    return rows


def _flat(name: str, number: int, row: object) -> dict[str, str]:
    if isinstance(row, str):
        return {"text": _cell(row)}
    if isinstance(row, list):
        return {f"column {place}": _cell(value) for place, value in enumerate(row, start=1)}
    if not isinstance(row, dict):
        raise UnsuitableText(f"Row {number:,} of {name} is no object. {HOW}")
    flat = {}
    for key, value in row.items():
        if isinstance(value, dict):  # as data sets of the Hub hold answers: lists of texts and of starts
            for inner, one in value.items():
                flat[clean_text(f"{key}.{inner}")] = _cell(one[0] if isinstance(one, list) and one else one)
        else:
            flat[clean_text(str(key))] = _cell(value)
    return flat


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):  # words or tags: one with a space in it would count as two
        return " ".join("_".join(_cell(one).split()) for one in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return clean_text(str(value))  # an escape can stand for what no text holds
