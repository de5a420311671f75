"""Imports Gradio, and leaves out three things that it does and that nobody here needs.

For each class of components Gradio reads its file, parses it twice and writes type stubs (.pyi) beside it, for editors:
over a third of its import. It leaves this out for classes that have no file: so, while they are made, its own and ours
have none.

For each visitor, and each question over HTTP, Gradio describes all components of the page anew, for its deep links
(ours are addresses), in the one thread that answers everybody, and then keeps there all that it answers. It describes
none that are not on the page: so, while a session begins, nothing is; and what it would keep is dropped.

Errors that it meets it prints, with what visitors typed. Ours logs them, without.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

from explorer.logs import log_fault


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
    import gradio
    from gradio import queueing, route_utils, routes
    from gradio.state_holder import SessionState


def _leave_out_descriptions(begin: Callable[[SessionState, object], None]) -> None:
    def begin_session(self: SessionState, blocks: gradio.Blocks) -> None:
        begin(self, SimpleNamespace(default_config=blocks.default_config, blocks={}))

    SessionState.__init__ = begin_session
    SessionState._update_config = lambda self, key: None
    SessionState._update_value_in_config = lambda self, key, value: None


_leave_out_descriptions(SessionState.__init__)


for module in (queueing, route_utils, routes):
    module.traceback = SimpleNamespace(print_exc=lambda: log_fault("Gradio"))  # all that these take of traceback
