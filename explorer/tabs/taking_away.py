"""Whatever is drawn can be taken away: CSV and JSON of the numbers, PNG of the figure, a link to the view."""

import json
from base64 import b64encode

from explorer.analysis.exporting import to_csv, to_json, to_tables


def download_links(result: object, name: str, *, has_figure: bool = True) -> str:
    """Links that hold the numbers themselves, so that nothing is kept on the server.

    Args:
        result: A frozen result, or a tuple of them.
        name: Of the files, without ending.
        has_figure: Whether there is a figure beside the links to save as PNG.
    """
    links = [  # the mark at the start tells spreadsheets that it is UTF-8
        _link(f"CSV of {key}", f"{name}-{key}.csv", "text/csv", "\ufeff" + to_csv(table))
        for key, table in to_tables(result).items()
    ]
    links += [
        _link("JSON", f"{name}.json", "application/json", json.dumps(to_json(result), indent=2, ensure_ascii=False)),
    ]
    if has_figure:
        links.append("<button type='button' data-action='png'>PNG</button>")
    links.append("<button type='button' data-action='link'>Copy link</button>")
    return f"<nav class='take-away' aria-label='Take it away'>{''.join(links)}</nav>"


def _link(label: str, file: str, kind: str, text: str) -> str:
    data = b64encode(text.encode("utf-8")).decode("ascii")
    return f"<a download='{file}' href='data:{kind};charset=utf-8;base64,{data}'>{label}</a>"
