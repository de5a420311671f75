"""The corpus that is measured, what of it has a vector, and sentences of the visitor's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import gradio as gr

from explorer.analysis.labelled_uses import split_sense
from explorer.analysis.sentence_files import read_sentence_file
from explorer.figures.notes import note
from explorer.figures.style import count_of
from explorer.settings import settings
from explorer.tabs.messages import QUIET, explain
from explorer.tabs.uploads import SENTENCE_FILES, file_button, forget_file, said_of

UNITS = [("tokens", "tokens"), ("words", "words")]
UNIT_HINT = "Words: each the mean of its tokens."
SPECIALS_HINT = (
    "Such as [CLS] and [SEP]. Each is the same in every sentence, so that they count as very frequent words."
)


@dataclass(frozen=True)
class Corpus:
    """The components of the panel.

    Attributes:
        text: Sentences, one a line; "" = those that come with the explorer.
        unit: Tokens or words.
        specials: Whether special tokens are counted.
        file: Fills the text.
        said: What was taken of a file.
    """

    text: gr.Textbox
    unit: gr.Radio
    specials: gr.Checkbox
    file: gr.UploadButton
    said: gr.HTML


def build_corpus(unit: str, specials: bool) -> Corpus:
    """Lay the panel out, folded away.

    Args:
        unit: What has a vector at first.
        specials: Whether special tokens are counted at first.
    """
    most = settings()
    with gr.Accordion("Corpus, and what is counted", open=False, elem_id="anisotropy-corpus"):
        units = gr.Radio(
            UNITS, value=unit, label="One vector for each of its", info=UNIT_HINT, elem_id="anisotropy-unit"
        )
        counted = gr.Checkbox(specials, label="Count special tokens", info=SPECIALS_HINT, elem_id="anisotropy-specials")
        text = gr.Textbox(
            "", lines=4, max_lines=10, label="Sentences of your own, one a line", elem_id="anisotropy-own",
            info="In any language; a few hundred or more, so that words come again. Empty: those that come with the "
            "explorer.",
            placeholder="One sentence.\nThen another one.",
        )  # fmt: skip
        file = file_button("Sentences from a file", SENTENCE_FILES, "anisotropy-file")
        said = gr.HTML(
            note(
                f"Text, csv or tsv; also in gzip or xz. At most {most.largest_sentences_mib:g} MiB; the first "
                f"{most.most_corpus_characters:,} characters are measured."
            ),
            padding=False,
            elem_id="anisotropy-file-said",
        )
    return Corpus(text, units, counted, file, said)


def wire_corpus(corpus: Corpus) -> None:
    """Let a file fill the box, and words hide what is of tokens alone."""

    def take(path: str | None) -> tuple:
        if not path:
            return gr.skip(), gr.skip()
        try:
            text, said = read_upload(Path(path))
            return text, said_of(text, said)
        except Exception as error:  # said where the file was chosen: the result is still that of the box
            return gr.skip(), explain(error)

    corpus.file.upload(take, corpus.file, [corpus.text, corpus.said], **QUIET)
    forget_file(corpus.text, corpus.said)
    corpus.unit.change(lambda unit: gr.Checkbox(visible=unit != "words"), corpus.unit, corpus.specials, **QUIET)


def read_upload(path: Path) -> tuple[str, str]:
    """The sentences of a file as the box holds them, and what was left out, as HTML.

    Args:
        path: Of a file as sentence_files.read_sentence_file reads it; senses are left out.

    Raises:
        UnsuitableText: The file cannot be read.
    """
    file = read_sentence_file(path)
    most, size, kept = settings().most_corpus_characters, 0, []
    for sentence in (split_sense(line)[1].strip() for line in file.lines):
        size += len(sentence) + 1
        if size > most:
            break
        kept.append(sentence)
    whole = count_of(len(file.lines), "sentence")
    is_cut = len(kept) < len(file.lines)
    words = f"{file.name}: {len(kept):,} of {whole}" if is_cut else f"{file.name}: {whole}"
    cut = f"; the page takes no more than {most:,} characters." if is_cut else "."
    unused = ["Senses are not used here."] if file.labelled else []
    return "\n".join(kept), note(" ".join([words + cut, *file.remarks, *unused]))
