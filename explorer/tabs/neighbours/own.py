"""What visitors bring themselves: sentences, typed or from a file, and a file of word vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import gradio as gr

from explorer.analysis.blanks import check_characters
from explorer.analysis.labelled_uses import gather_uses, join_sense, split_sense
from explorer.analysis.sentence_files import read_sentence_file
from explorer.analysis.uses import english_forms
from explorer.errors import TooManySentences, UnsuitableText, quoted
from explorer.figures.notes import note
from explorer.figures.style import count_of
from explorer.settings import settings
from explorer.tabs.messages import QUIET, explain
from explorer.tabs.neighbours.finding import Static
from explorer.tabs.neighbours.material import MOST_USES, word_for
from explorer.tabs.uploads import SENTENCE_FILES, file_button, forget_file, said_of

OR_SEARCH = "Or search it as a corpus, below: that takes only the sentences with the word."
VECTOR_FILES = (".txt", ".vec", ".gz")


@dataclass(frozen=True)
class Own:
    """The components of the visitor's own things.

    Attributes:
        text: Sentences, one a line; "" = those that come with the explorer.
        sentences: Uploads a file of sentences into the text.
        upload: Uploads a file of word vectors.
        vectors: Holds the path of the last one that could be read, or nothing.
        without: Goes back to the model's own word vectors.
        said: What was taken of a file of sentences.
        vectors_said: What was taken of a file of word vectors.
    """

    text: gr.Textbox
    sentences: gr.UploadButton
    upload: gr.UploadButton
    vectors: gr.State
    without: gr.Button
    said: gr.HTML
    vectors_said: gr.HTML


def build_own() -> Own:
    """Lay the boxes out, folded away."""
    most = f"At most {settings().largest_sentences_mib:g} MiB."
    with gr.Accordion("Sentences and word vectors of your own", open=False):
        text = gr.Textbox(
            "", lines=4, max_lines=10, label="Sentences, one a line", elem_id="neighbours-own",
            info="With the word in each, in any language; its sense before or behind it, if you like, with | or a tab "
            "between. {Braces} mark one use. Empty: those that come with the explorer.",
            placeholder="river | We sat on the bank of the Thames.\nmoney | The bank lent her the rest.",
        )  # fmt: skip
        sentences = file_button("Sentences from a file", SENTENCE_FILES, "neighbours-sentences")
        said = gr.HTML(note(f"Text, csv or tsv, with senses or without; also in gzip. {most}"), padding=False,
                       elem_id="neighbours-sentences-said")  # fmt: skip
        upload = file_button("Word vectors from a file", VECTOR_FILES, "neighbours-vectors")
        vectors_said = gr.HTML(_about_vectors(), padding=False)
        without = gr.Button("Back to the model’s own word vectors", size="sm", visible=False, elem_classes="own-file")
    return Own(text, sentences, upload, gr.State(None), without, said, vectors_said)


def wire_own(
    own: Own, word: gr.Dropdown, use: gr.Number, listed: gr.Number, static: Static
) -> list[gr.events.Dependency]:
    """Let files fill the boxes; returns the events after which the word vectors are others.

    Args:
        own: What build_own laid out.
        word: Whose uses they are.
        use: Holds the one looked at.
        listed: Holds the place of the sense whose sentences alone are listed; 0 = all.
        static: Where word vectors are kept.
    """

    def take(path: str | None, word: str | None) -> tuple:
        if not path:
            return (gr.skip(),) * 4
        try:
            text, said = read_upload(Path(path), word or "")
            return text, 0, 0, said_of(text, said)
        except Exception as error:  # said where the file was chosen: the result is still that of the box
            return gr.skip(), gr.skip(), gr.skip(), explain(error)

    def follow(text: str, word: str | None) -> object:
        before = " ".join((word or "").split())
        other = word_for(before, text) if len(text) <= settings().most_corpus_characters else before
        return gr.skip() if other == before else other

    # not input, which a first paste does not set off
    own.text.change(follow, [own.text, word], word, trigger_mode="multiple", **QUIET)
    own.sentences.upload(take, [own.sentences, word], [own.text, use, listed, own.said], **QUIET)
    forget_file(own.text, own.said)
    loaded = own.upload.upload(
        partial(_say_vectors, static), own.upload, [own.vectors_said, own.vectors, own.without], **QUIET
    )
    left = own.without.click(
        lambda: (None, gr.Button(visible=False), _about_vectors()), None,
        [own.vectors, own.without, own.vectors_said], **QUIET,
    )  # fmt: skip
    return [loaded, left]


def _about_vectors() -> str:
    most = f"at most {settings().largest_upload_mib:g} MiB"
    return note(f"GloVe or word2vec as text, also in gzip, {most}; the first words of a large file will do.")


def _say_vectors(static: Static, path: str | None) -> Iterator[tuple]:
    """What is wrong with a file of word vectors, where it was chosen, or what it brings; the file, unless it was
    refused: then the vectors from before stay; and the way back to the model's own."""
    if not path:
        yield gr.skip(), gr.skip(), gr.skip()
        return
    yield note("Reading …"), gr.skip(), gr.skip()
    try:
        found = static.read(path)
    except Exception as error:
        yield explain(error), gr.skip(), gr.skip()
        return
    words = f"{found.source}: {count_of(len(found.words), 'word')}, under “Without context” in the view “Neighbours”."
    yield note(" ".join([words, *found.remarks])), path, gr.Button(visible=True)


def read_upload(path: Path, word: str) -> tuple[str, str]:
    """The sentences of a file that have the word, as the box holds them, and what was left out, as HTML.

    Args:
        path: Of a file as sentence_files.read_sentence_file reads it.
        word: As typed; "" = each sentence marks its use by braces.

    Raises:
        UnsuitableText: The file cannot be read, or the word is in none of its sentences.
    """
    try:
        file = read_sentence_file(path)
    except TooManySentences as error:
        raise UnsuitableText(f"{error} {OR_SEARCH}") from error
    word = " ".join(word.split())
    kept, uses, unread = [], 0, ""
    for line in file.lines:
        unread = unread or _why_unread(line)
        found = _count_uses(line, word)
        if uses + found > MOST_USES:
            break
        kept += [line] * bool(found)
        uses += found
    if not kept:
        raise UnsuitableText(
            f"{file.name} has {len(file.lines):,} sentences, and {quoted(word) if word else 'a use in braces'} is in "
            f"none of them{' that can be read' if unread else ''}. Choose another word above, and load the file again."
            f"{' ' + unread if unread else ''}"
        )
    words = f"{file.name}: {count_of(uses, 'use')} in {len(kept):,} of {count_of(len(file.lines), 'sentence')}"
    cut = f"; the page takes no more than {MOST_USES:,} uses." if found and uses + found > MOST_USES else "."
    return "\n".join(kept), note(" ".join([words + cut, *file.remarks, *[unread] * bool(unread)]))


def _why_unread(line: str) -> str:
    """That a line is left out whatever stands in it, and why; "" = it can be read."""
    try:
        check_characters(line)
    except UnsuitableText as error:
        return f"A line was left out ({quoted(line)}): {error}"
    return ""


def _count_uses(line: str, word: str) -> int:
    try:
        sentence = split_sense(line)[1]
        return len(gather_uses([join_sense("", sentence)], word, forms=english_forms(word)).sentences)
    except UnsuitableText:  # no use, or a line that cannot be read
        return 0
