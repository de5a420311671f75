"""Imports Gradio without the parsing of its own source, which is over a third of that import.

For each class of components Gradio reads its file, parses it twice and writes type stubs (.pyi) beside it, for editors.
It leaves this out for classes that have no file: so, while they are made, its own and ours have none.
"""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_stubs() -> Iterator[None]:
    """Inside, no class of Gradio's or ours has a file: inspect.getfile raises OSError for it."""
    find_file = inspect.getfile

    def find_file_of_others(thing: object) -> str:
        if isinstance(thing, type) and thing.__module__.startswith(("gradio.", "explorer.")):
            raise OSError(f"{thing} is not looked up")
        return find_file(thing)

    inspect.getfile = find_file_of_others
    try:
        yield
    finally:
        inspect.getfile = find_file


with without_stubs():
    import gradio  # noqa: F401
