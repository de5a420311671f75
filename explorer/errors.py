"""What can go wrong, as the visitor will read it. Each message says what to do next.

ExplorerError
├── UnknownModel          the registry has no card of that name
├── UnsuitableModel       the model cannot do what was asked of it
├── UnsuitableText        the text, a candidate or an option cannot be analysed as asked
├── ModelUnavailable      the model cannot be had now: offline, gated, missing, or the download failed
├── ModelRefused          the model will not be loaded: unsafe format, too large, wrong checksum, unsafe id
├── OutOfMemory           the model or the analysis does not fit, even after others were unloaded
├── TooBusy               too many analyses are waiting
├── TakesTooLong          the analysis takes longer than one question may
├── NobodyWaits           whoever asked has left: a closed page, a stopped question
├── UnsuitableCorpus      the training text cannot be read, or is too small
├── UnwritableFolder      a result cannot be written: the disk is full, or the folder may not be written
├── UnknownJob            no job of fine-tuning has that id, or it is somebody else's, or it was deleted
└── JobRefused            a job of fine-tuning is not taken: too many wait, too many are kept, or it asks for too much
"""

MOST_QUOTED = 40  # characters


def quoted(text: str) -> str:
    """What a visitor wrote, for a message about it: a long one is cut, and a line break shown, so that it stays one."""
    shown = text if len(text) <= MOST_QUOTED else text[:MOST_QUOTED] + "…"
    return f"“{''.join(one if one.isprintable() else repr(one)[1:-1] for one in shown)}”"


class ExplorerError(Exception):
    """Base of every error whose message is written for the visitor.

    The message repeats what was asked for, so half a surrogate pair stands in it as its escape: nothing that is sent,
    printed or kept in a file can hold one.
    """

    def __str__(self) -> str:
        """The message."""
        return super().__str__().encode("utf-8", "backslashreplace").decode("utf-8")


class UnknownModel(ExplorerError):
    """The registry has no card of that name."""


class UnsuitableModel(ExplorerError):
    """The model cannot do what was asked of it, e.g. it has no masked head."""


class UnsuitableText(ExplorerError):
    """The text, a candidate or an option cannot be analysed as asked, e.g. there is no blank."""


class NoBlank(UnsuitableText):
    """The text can be read, but nothing is missing in it."""


class NothingFound(UnsuitableText):
    """What was looked for beside an analysis is not there; the analysis itself stands."""


class NoUse(UnsuitableText):
    """The sentences can be read, but none has a use of the word."""


class TooManySentences(UnsuitableText):
    """A file has more sentences than are read from one."""


class UnsuitableCandidate(UnsuitableText):
    """A candidate for a blank cannot be analysed as asked; the text can.

    Attributes:
        candidate: The one at fault, without white space around it; None where it is not one of them alone.
    """

    def __init__(self, message: str, candidate: str | None = None) -> None:
        super().__init__(message)
        self.candidate = candidate


class UnsuitableQuery(UnsuitableText):
    """A query cannot be searched for as asked; other queries of the same texts can."""


class ModelUnavailable(ExplorerError):
    """The model cannot be had now: offline, gated, missing, or its download failed."""


class ModelRefused(ExplorerError):
    """The model will not be loaded: unsafe format, too large, wrong checksum, or an unsafe id."""


class OutOfMemory(ExplorerError):
    """The model or the analysis does not fit, even after other models were unloaded."""


class TooBusy(ExplorerError):
    """Too many analyses are waiting for this device."""


class TakesTooLong(ExplorerError):
    """The analysis takes longer than one question may."""


class NobodyWaits(ExplorerError):
    """Whoever asked has left, by closing the page or stopping the question; read by those alone who log it."""


class UnsuitableCorpus(ExplorerError):
    """The training text cannot be read, or is too small."""


class UnwritableFolder(ExplorerError):
    """A result cannot be written: the disk is full, or the folder may not be written."""


class UnknownJob(ExplorerError):
    """No job of fine-tuning has that id, or it is somebody else's, or it was deleted."""


class JobRefused(ExplorerError):
    """A job of fine-tuning is not taken: too many wait, too many are kept, or it asks for too much."""
