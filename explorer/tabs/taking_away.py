"""Whatever is drawn can be taken away: CSV and JSON of the numbers, PNG of the figure, code, a link to the view."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from textwrap import wrap

from explorer.analysis.blanks import BLANK
from explorer.analysis.exporting import Table, to_csv, to_json, to_tables

TITLE_CHARACTERS = 80  # a picture is at least so wide (assets/page.js)
MOST_TITLE_LINES = 4
MOST_NAMED = 2  # models in the name of a file
MOST_NAME_CHARACTERS = 40  # of each


def download_links(
    result: object,
    name: str,
    picture: Sequence[str] = (),
    *,
    of: str = "",
    with_link: bool = True,
    tables: Sequence[str] = (),
    without: Sequence[str] = (),
    code: str = "",
) -> str:
    """Links that hold the numbers themselves, so that nothing is kept on the server.

    Args:
        result: A frozen result, or a tuple of them; the models that they are of stand in the names of the files, too.
        name: Of the files, without ending.
        picture: Lines that say in the PNG what the figure beside the links is of; none where there is no figure.
        of: What the JSON is of, where several stand side by side; "" = it goes without saying.
        with_link: Whether the button that copies the address is among them.
        tables: Which of its tables; none = all. The links travel with the page: a megabyte of them makes it slow.
        without: Fields of it that the JSON leaves out, for the same reason; what is left is written without indents.
        code: Python that computes it, as code.code_of writes it; "" = there is none to be copied.
    """
    text = json.dumps(_leave_out(to_json(result), without), indent=None if without else 2, ensure_ascii=False)
    found = {key: table for key, table in to_tables(result).items() if len(table) > 1 and (not tables or key in tables)}
    label = f"JSON of {of}" if of else "JSON"
    models = models_of(result)
    more = ((label, f"{name_after(name, models)}.json", text),)
    return table_links(found, name, picture, models=models, more=more, with_link=with_link, code=code)


def table_links(
    tables: Mapping[str, Table],
    name: str,
    picture: Sequence[str] = (),
    *,
    models: Sequence[str] = (),
    more: Sequence[tuple[str, str, str]] = (),
    with_link: bool = True,
    code: str = "",
) -> str:
    """The same of tables that are made already.

    Args:
        tables: By what they hold.
        name: Of the files, without ending.
        picture: As of download_links.
        models: That the names of the files end with.
        more: JSON files: label, file name, text.
        with_link: As of download_links.
        code: Likewise.
    """
    links = [  # the mark at the start tells spreadsheets that it is UTF-8
        _link(f"CSV of {key}", f"{name_after(part, models)}.csv", "text/csv", "\ufeff" + to_csv(table))
        for key, table in tables.items()
        for part in [name if key == name else f"{name}-{key}"]
    ]
    links += [_link(label, file, "application/json", text) for label, file, text in more]
    if picture:
        links.append(_picture_button(name_after(name, models), picture))
    if with_link:
        links.append("<button type='button' data-action='link'>Copy link</button>")
    if code:
        links.append(code_button(code))
    return _group("Take it away", "".join(links))


def code_button(code: str) -> str:
    """A button that copies Python."""
    said = f"data-action='code' data-code='{escape(code)}' title='Python that computes this, for a notebook'"
    return f"<button type='button' {said}>Copy code</button>"


def _group(label: str, controls: str) -> str:
    return f"<div class='take-away' role='group' aria-label='{label}'>{controls}</div>"


def _leave_out(found: object, names: Sequence[str]) -> object:
    if isinstance(found, list):
        return [_leave_out(one, names) for one in found]
    return {key: value for key, value in found.items() if key not in names} if isinstance(found, dict) else found


def picture_link(name: str, picture: Sequence[str], models: Sequence[str] = ()) -> str:
    """A PNG alone, of the figure in the same box (class "with-figure"), where several figures share their numbers.

    Args:
        name: Of the file, without ending.
        picture: As of download_links.
        models: That the name of the file ends with.
    """
    return _group("Take the figure away", _picture_button(name_after(name, models), picture))


def name_after(name: str, models: Sequence[str]) -> str:
    """The name of a file, without ending, that says which models, or what else, it is of: "blanks-MiniLM-masked"."""
    words = [re.sub(r"[^A-Za-z0-9.]+", "-", model[:MOST_NAME_CHARACTERS]).strip("-.") for model in models[:MOST_NAMED]]
    others = len(models) - MOST_NAMED
    return "-".join(filter(None, [name, *words, f"and-{others}-more" if others > 0 else ""]))


def models_of(result: object) -> tuple[str, ...]:
    """The models that a result, or each of a tuple of them, is of, each once."""
    found = result if isinstance(result, tuple) else (result,)
    names = [name for one in found for name in getattr(one, "models", ()) or (getattr(one, "model", ""),)]
    return tuple(dict.fromkeys(filter(None, names)))


def _picture_button(name: str, picture: Sequence[str]) -> str:
    title = picture_title(picture)
    return f"<button type='button' data-action='png' data-file='{name}' data-title='{escape(title)}'>PNG</button>"


def picture_title(picture: Sequence[str]) -> str:
    """What a PNG says of itself; as "title" in the meta of a figure that changes while its links stay, of that one.

    Args:
        picture: Lines, as of download_links.
    """
    return "<br>".join(line for text in picture for line in _title_lines(text))


def _title_lines(text: str) -> list[str]:
    """A text broken for the width of a picture, and escaped: plotly reads tags in titles.

    Of a text that is too long its beginning, or the line of its first blank and what follows.
    """
    whole = wrap(text, TITLE_CHARACTERS)
    first = next((place for place, line in enumerate(whole) if BLANK in line), 0)
    if first >= MOST_TITLE_LINES:
        text = " ".join(["…", *whole[first:]])
    lines = wrap(text, TITLE_CHARACTERS, max_lines=MOST_TITLE_LINES, placeholder=" …")
    return [escape(line, quote=False) for line in lines]


def _link(label: str, file: str, kind: str, text: str) -> str:
    data = b64encode(text.encode("utf-8")).decode("ascii")
    return f"<a download='{file}' href='data:{kind};charset=utf-8;base64,{data}'>{label}</a>"
