"""What the log says of a fault: a reference, its kind and its place in the code, and nothing that visitors typed.

The message of an exception often repeats what was asked. An operator who wants it there sets EXPLORER_LOG_TEXTS.
"""

import copy
import logging
import secrets
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

from explorer.settings import settings

LOG = logging.getLogger("explorer")
FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
LEFT_OUT = "(EXPLORER_LOG_TEXTS=1 logs its message)"
MOST_CAUSES = 20  # of one fault that are told
TOLD_IN_LINES = ("asyncio",)  # loggers whose first line says what happened, and the others to what, exceptions included
TYPED_ADDRESSES = ("httpx", "httpx2")  # they log each address at INFO: that of the model that a visitor named
SHOWING_VALUES = ("gradio",)  # packages whose warnings repeat the values of components


def begin_log() -> None:
    """From now on all that is logged goes to stderr, and so do faults that nobody handles, and warnings."""
    logging.basicConfig(level=logging.INFO, format=FORMAT)
    for handler in logging.getLogger().handlers:
        handler.setFormatter(TextlessFormatter(FORMAT))
    for name in TYPED_ADDRESSES:
        logging.getLogger(name).setLevel(logging.WARNING)
    threading.excepthook = _log_thread
    sys.unraisablehook = _log_unraisable
    warnings.showwarning = _log_warning


def take_over(name: str) -> None:
    """Log what a library logs by itself as all else.

    Args:
        name: Of its logger, once it has set that up.
    """
    logger = logging.getLogger(name)
    logger.handlers.clear()
    logger.propagate = True


def log_fault(place: str = "") -> str:
    """Log the exception being handled.

    Args:
        place: Where it happened, in words.

    Returns:
        The reference under which it stands in the log, of 8 hexadecimal digits.
    """
    reference = secrets.token_hex(4)
    LOG.exception("fault %s%s", reference, f" in {place}" if place else "")
    return reference


class TextlessFormatter(logging.Formatter):
    """Leaves out the messages of exceptions, unless settings().log_texts."""

    def formatException(self, ei: tuple) -> str:  # noqa: N802, logging's name
        """The kinds of an exception and of its causes, and the lines of code where they were raised."""
        if settings().log_texts or ei[1] is None:
            return super().formatException(ei)
        return "\n".join(_tell(ei[1])).rstrip()

    def format(self, record: logging.LogRecord) -> str:
        """All that is logged of an event."""
        record = copy.copy(record)
        record.exc_text = None  # another handler's words, which logging would repeat
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802, logging's name
        """The line of the log."""
        if record.name in TOLD_IN_LINES and not settings().log_texts:
            record.message = record.message.partition("\n")[0]
        return super().formatMessage(record)


def _tell(error: BaseException) -> Iterator[str]:
    """An exception and those that led to it, the first one first, as Python prints them."""
    chain = [error]
    while len(chain) < MOST_CAUSES:
        last = chain[-1]
        before = last.__cause__ or (None if last.__suppress_context__ else last.__context__)
        if before is None or any(before is one for one in chain):
            break
        chain.append(before)
    for one in reversed(chain):
        yield "Traceback (most recent call last):"
        yield "".join(traceback.format_tb(one.__traceback__)).rstrip()
        yield f"{type(one).__module__}.{type(one).__qualname__} {LEFT_OUT}"
        if isinstance(one, BaseExceptionGroup):
            for part in one.exceptions[:MOST_CAUSES]:
                yield from _tell(part)


def _log_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_type is not SystemExit:
        LOG.error("fault in a thread", exc_info=(args.exc_type, args.exc_value, args.exc_traceback))


def _log_unraisable(args: object) -> None:
    LOG.error("fault while memory was freed", exc_info=(args.exc_type, args.exc_value, args.exc_traceback))


def _log_warning(message: Warning, category: type, filename: str, lineno: int, *_: object) -> None:
    is_showing = any(part in SHOWING_VALUES for part in Path(filename).parts) and not settings().log_texts
    LOG.warning("%s:%d: %s: %s", filename, lineno, category.__name__, LEFT_OUT if is_showing else message)
