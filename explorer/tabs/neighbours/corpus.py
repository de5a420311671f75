"""A corpus to search for the word: what is found becomes the sentences that all views are about."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import gradio as gr

from explorer.analysis.corpus_jobs import search_corpus
from explorer.analysis.corpus_results import CorpusOccurrences, CorpusProgress
from explorer.analysis.labelled_uses import join_sense
from explorer.analysis.uses import english_forms
from explorer.errors import UnsuitableText
from explorer.figures.notes import note
from explorer.figures.style import count_of
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.settings import settings
from explorer.tabs.messages import QUIET, add_stop, explain, loading_words, progress_box
from explorer.tabs.neighbours.material import MOST_USES, read_uses
from explorer.tabs.neighbours.view import Desk
from explorer.tabs.visitors import find_model

KINDS = [".txt", ".text", ".gz", ".xz"]
SAMPLE = 500  # uses to begin with: a minute on two cores, where 2,000 take four
TAKES_PLACE = "What is found takes the place of the sentences before; a button brings those back."
LONGEST_NAME = 60  # characters of a file's


def build_corpus(registry: Registry, desk: Desk) -> None:
    """Lay out the panel and wire it; to stand beside the box of the visitor's own sentences.

    Args:
        registry: The models on offer.
        desk: Whose word is looked for, and whose own sentences become what is found.
    """

    def search(
        model: str, word: str, pieces: str, path: str | None, sample: float, own: str, kept: tuple[str, str]
    ) -> Iterator[tuple]:
        for event in _search(registry, desk, model, word, pieces, path, int(sample)):
            if isinstance(event[1], str):  # it is over, and they stand there instead
                before = keep_own(own, kept)
                yield *event, (before, event[1]), gr.Button(visible=True)
            else:
                yield *event, gr.skip(), gr.skip()

    most = settings().largest_upload_mib
    with gr.Accordion("Search a corpus for the word", open=False, elem_id="corpus", elem_classes="own-stop"):
        file = gr.File(
            label=f"Text, also in gzip or xz; up to {most:g} MiB",
            file_types=KINDS, height=150, elem_id="corpus-file",
        )  # fmt: skip
        start = gr.Button("Search", elem_id="corpus-start")
        message = gr.HTML(padding=False, elem_classes="corpus-message")
        found = gr.HTML(note(TAKES_PLACE), padding=False, elem_id="corpus-found")
        back = gr.Button(
            "Back to the sentences before", size="sm", visible=False, elem_id="corpus-back", elem_classes="own-file"
        )
        kept = gr.State(("", ""))
        sample = gr.Slider(
            50, MOST_USES, SAMPLE, step=50, label="Most uses", elem_id="corpus-sample",
            info="Of more, as many are drawn at random. All are embedded once, and kept.",
        )  # fmt: skip

        inputs = [desk.model, desk.word, desk.which.pieces, file, sample, desk.own, kept]
        outputs = [message, desk.own, desk.use, found, desk.word, kept, back]
        # Gradio's default drops a press while it takes a search that was stopped for one that is at work.
        run = start.click(search, inputs, outputs, trigger_mode="multiple", **QUIET)
        add_stop(message, [run])
        back.click(
            lambda kept: (kept[0], 0, note(TAKES_PLACE), ("", ""), gr.Button(visible=False)), kept,
            [desk.own, desk.use, found, kept, back], **QUIET,
        )  # fmt: skip


def _search(
    registry: Registry, desk: Desk, model: str, word: str, pieces: str, path: str | None, sample: int
) -> Iterator[tuple]:
    """Message, own sentences, use in sight, what was found, and the word: another may be looked at meanwhile."""
    same = (gr.skip(),) * 4
    try:
        word = " ".join((word or "").split())
        if not path:
            raise UnsuitableText("There is no corpus. Choose a text file to search first.")
        if not word:
            raise UnsuitableText("There is no word to search for. Write one under “Word”.")
        models, name = find_model(registry, model, Ability.EMBED)
        for words in loading_words(models, name):
            yield progress_box(words), *same
        options = {"forms": english_forms(word), "sample": sample, "pieces": pieces}
        card = models.card(name)
        for event in search_corpus(partial(models.run, name), card, Path(path), word, **options):
            if isinstance(event, CorpusOccurrences):
                own = "\n".join(mark_uses(event))
                uses = read_uses(word, own)
                if (uses.sentences, uses.positions) == (event.uses.sentences, event.uses.positions):
                    desk.vectors.keep(card, uses, event.occurrences)
                yield "", own, 0, describe_found(event), word
            else:
                yield progress_box(describe_progress(event, Path(path).name)), *same
    except Exception as error:
        yield explain(error), *same


def keep_own(own: str | None, kept: tuple[str, str]) -> str:
    """The visitor's own sentences, which what was found takes the place of; "" = there were none.

    Args:
        own: What stood in their box.
        kept: Those that an earlier search took the place of, and what it found.
    """
    before, found = kept
    return before if (own or "").strip() == found.strip() else (own or "").strip()


def mark_uses(found: CorpusOccurrences) -> Iterator[str]:
    """Sentences as the box of own sentences takes them: each with its use in braces, and none taken for a sense."""
    for sentence, (start, end) in zip(found.uses.sentences, found.uses.positions, strict=True):
        yield join_sense("", f"{sentence[:start]}{{{sentence[start:end]}}}{sentence[end:]}")


def describe_progress(event: CorpusProgress, corpus: str) -> str:
    """How far a search of a corpus is, in a line."""
    left = "" if event.seconds_left is None else f", {_duration(event.seconds_left)} left"
    if event.stage == "checking":
        return f"Looking at the corpus {_short(corpus)}: {event.share:.0%} …"
    if event.stage == "reading":
        return f"Searching the corpus: {event.share:.0%}, {event.sentences:,} lines, {event.uses:,} uses{left} …"
    if event.stage == "waiting":
        return "The same search is at work already; waiting for what it finds …"
    return f"Embedding uses from the corpus: {event.embedded:,} of {event.wanted:,}{left} …"


def describe_found(found: CorpusOccurrences) -> str:
    """What was found and where, and what a reader must know of it, as HTML."""
    uses = found.uses
    count = len(uses.sentences)
    kept = " Their vectors were kept from before." if found.is_from_cache else ""
    said = (
        f"{count:,} {'use' if count == 1 else 'uses'} of “{uses.word}” from {_short(uses.corpus)}, which has "
        f"{count_of(uses.sentences_read, 'line')} (a long one counts as its "
        f"sentences). They stand above as sentences of your own.{kept}"
    )
    return note(" ".join([said, *uses.remarks]))


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "…"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
