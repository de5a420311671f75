"""Training examples as text: tokens coloured by their fate, what is to be answered below, and the loss of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from html import escape

from explorer.analysis.objectives import OBJECTIVE_CARDS
from explorer.analysis.training_results import Answer, ExampleToken, Fate, TrainingExample
from explorer.figures.notes import note
from explorer.figures.style import percent
from explorer.figures.token_words import signs_note, spaces_shown
from explorer.models.card import Ability

FATE_WORDS = {
    Fate.MASKED: "masked",
    Fate.RANDOMIZED: "random",
    Fate.UNCHANGED: "unchanged",
    Fate.REPLACED: "replaced",
    Fate.DELETED: "deleted",
    Fate.MOVED: "moved",
}
PICKED = {  # of BERT's picked tokens: per cent, and what the model reads there
    Fate.MASKED: (80, "the mask"),
    Fate.RANDOMIZED: (10, "a random token"),
    Fate.UNCHANGED: (10, "unchanged"),
}
MARKS = {Fate.MASKED: "■", Fate.RANDOMIZED: "?", Fate.UNCHANGED: "="}
TITLE = "What the model reads; below, what it should say, and its loss in nats"
TITLES = {  # of those that hide nothing
    "causal": "Each token, and below it what it costs to predict it from those before it, in nats",
    "bilm": "Each token, and below it what it costs to predict it from those before it (→) and from those "
    "after it (←), in nats",
}
ARROWS = {"": "", "forward": "→ ", "backward": "← "}
DEAR_NATS = 5.0  # of the end of a target: it is explained
DARKEST_NATS = 12.0  # losses from here on have the same background


def draw_example(example: TrainingExample) -> str:
    """The example as HTML, in the way that shows its objective best, and what signs in it are no letters."""
    shown = [token.text for token in (*example.tokens, *example.inputs)] + [answer.right for answer in example.answers]
    signs = signs_note(map(spaces_shown, shown), example.text)
    if example.objective == "replaced":
        return _detecting(example) + signs
    if example.objective == "next_sentence":
        return _next_sentence(example) + signs
    if example.target_text:
        return _writing(example) + signs
    return _predicting(example) + signs + _legend(example) + _epochs(example)


def describe_formula(objective: str) -> str:
    """Loss, explanation and paper of an objective, in Markdown with LaTeX."""
    card = OBJECTIVE_CARDS[objective]
    return f"$$\n{card.formula}\n$$\n\n{card.explanation} [{card.paper}]({card.paper_url})"


def _predicting(example: TrainingExample) -> str:
    """Tokens that are read and predicted in the same places."""
    answers: dict[int, list[Answer]] = {}
    for answer in example.answers:
        answers.setdefault(answer.index, []).append(answer)
    tokens = "".join(
        _box(read, answers.get(index, ()), shows_right=read.fate in (Fate.MASKED, Fate.RANDOMIZED))
        for index, read in enumerate(example.inputs)
    )
    count = len(answers)
    own = sum(token.fate != Fate.SPECIAL for token in example.tokens)
    which = f"{count} of {own} tokens" if count < own else f"{count} token{'s' * (count != 1)}"
    both = ", from the left (→) and from the right (←)" if any(each.direction for each in example.answers) else ""
    return _strip(TITLES.get(example.objective, TITLE), tokens) + _mean(example, f"over {which}{both}")


def _writing(example: TrainingExample) -> str:
    """The text, what the encoder reads, and what the decoder writes."""
    own = [token for token in example.tokens if token.fate != Fate.SPECIAL]
    text = "".join(map(_box, own))
    read = "".join(_box(token, says_fate=token.fate != Fate.MASKED) for token in example.inputs)
    written = "".join(_written(answer) for answer in example.answers)
    title = "What the decoder should write, and its loss in nats"
    if not example.answers:  # no model was asked; of a damaged text the target is the text
        title = "What the decoder should write"
        written = "".join(
            _box(token if token.fate == Fate.SPECIAL else replace(token, fate=Fate.KEPT)) for token in example.tokens
        )
    strings = "".join(
        f"<dt>{name}</dt><dd dir='auto'>{escape(string)}</dd>"
        for name, string in (("Input", example.input_text), ("Target", example.target_text))
    )
    return (
        _strip("The text", text)
        + _strip("What the encoder reads", read)
        + _strip(title, written)
        + (_mean(example, f"over {len(example.answers)} tokens of the target") if example.answers else "")
        + _of_end(example)
        + _of_order(example)
        + f"<dl class='strings'>{strings}</dl>"
    )


def _of_end(example: TrainingExample) -> str:
    """Why the end of a target of spans costs much, where it does."""
    if example.objective != "span" or len(example.answers) < 2:
        return ""
    *others, end = example.answers
    if end.loss_nats < DEAR_NATS:
        return ""
    rest = sum(answer.loss_nats for answer in others) / len(others)
    return note(
        f"The end, {end.right}, alone costs {end.loss_nats:.2f} nats; without it the mean is {rest:.2f}. A model that "
        "was trained on rows of one length, as this project's were, expects the end after as many spans as those rows "
        "had, and not before."
    )


def _of_order(example: TrainingExample) -> str:
    """That chance left everything where it was, where it is to change the order."""
    reorders = example.noise.endswith(("permutation", "rotation"))
    if not reorders or any(token.fate == Fate.MOVED for token in example.inputs):
        return ""
    return note("What is read stands in its old order: chance draws that, too. Roll again for another.")


def _detecting(example: TrainingExample) -> str:
    """A guess first: which tokens were replaced? What is true, and what the model says, shows when asked for."""
    buttons = "".join(
        _suspect(own, read, answer)
        for own, read, answer in zip(example.tokens, example.inputs, example.answers, strict=True)
    )
    count = sum(token.fate == Fate.REPLACED for token in example.tokens)
    return (
        "<div class='detecting'><p class='step'>Which words were replaced? Click them, then look.</p>"
        f"<div class='tokens' dir='auto' role='group' aria-label='Tokens to accuse'>{buttons}</div>"
        f"{note(f'The replacements are {example.replaced_by}.')}"
        "<p><button type='button' class='reveal' data-reveal>Show what was replaced</button> "
        f"<span class='score' role='status' data-replaced='{count}'></span></p><div class='truth'>"
        + _mean(example, f"over {len(example.answers)} tokens, the special ones among them")
        + note("Per cent: the model's probability that the token was replaced.")
        + "</div></div>"
    )


def _suspect(own: ExampleToken, read: ExampleToken, answer: Answer) -> str:
    if read.fate == Fate.SPECIAL:
        return _box(read)
    is_replaced = read.fate == Fate.REPLACED
    chance = answer.probability if answer.right == "replaced" else 1 - answer.probability
    was = f"<small class='truth right'>was {_words(own.text)}</small>" if is_replaced else ""
    return (
        f"<button type='button' class='token guess' aria-pressed='false' data-replaced='{str(is_replaced).lower()}'>"
        f"<bdi>{_words(read.text)}</bdi>{was}<small class='truth loss' title='{_exact(answer)}'>{percent(chance)}"
        "</small></button>"
    )


def _next_sentence(example: TrainingExample) -> str:
    segments = example.segments or (None,) * len(example.inputs)
    tokens = "".join(_box(token, segment=segment) for token, segment in zip(example.inputs, segments, strict=True))
    read = _strip("What the model reads: the segment of each token, A or B, is added to its vector", tokens)
    if not example.answers:
        return read + note(
            "What it should say: “next” if B stood behind A in its document, “other” if B is from another one. It says "
            "so by one classifier on the vector of the first token."
        )
    [answer] = example.answers
    otherwise = -math.log(max(1 - answer.probability, 1e-30))
    return (
        read + f"<p class='verdict'>The second sentence follows the first: <b>{percent(answer.probability)}</b>"
        f"<span><i style='width: {100 * answer.probability:.1f}%'></i></span></p>"
        + note(f"Loss: {answer.loss_nats:.2f} nats if it really follows, {otherwise:.2f} nats if it does not.")
    )


def _legend(example: TrainingExample) -> str:
    """What the three colours of a masked model mean; nothing where nothing is hidden."""
    if OBJECTIVE_CARDS[example.objective].ability != Ability.FILL_BLANKS:
        return ""
    chips = " ".join(
        f"<span class='token {fate}'>{MARKS[fate]} {share} % {words}</span>" for fate, (share, words) in PICKED.items()
    )
    return f"<p class='legend'>Of the picked tokens {chips}</p>"


def _epochs(example: TrainingExample) -> str:
    """The same text in four epochs, under masks drawn once and drawn anew; nothing for other objectives."""
    if not example.later_epochs:
        return ""
    first = tuple(token.fate for token in example.tokens)
    names = [spaces_shown(token.text) for token in example.tokens]
    drawn = {
        "Static masking (BERT): one of ten copies, in 4 of 40 epochs": [first] * (1 + len(example.later_epochs)),
        "Dynamic masking (RoBERTa): new ones in each": [first, *example.later_epochs],
    }
    parts = "".join(
        f"<figure><figcaption>{name}</figcaption>"
        + "".join(_epoch(number, names, fates) for number, fates in enumerate(epochs, 1))
        + "</figure>"
        for name, epochs in drawn.items()
    )
    return f"<div class='epochs'>{parts}</div>"


def _epoch(number: int, names: Sequence[str], fates: Sequence[Fate]) -> str:
    cells = "".join(
        f"<i class='{fate}' title='{escape(name)}: {FATE_WORDS.get(fate, 'not picked')}'>{MARKS.get(fate, '')}</i>"
        for name, fate in zip(names, fates, strict=True)
        if fate != Fate.SPECIAL
    )
    picked = ", ".join(
        f"{escape(name)} {FATE_WORDS[fate]}" for name, fate in zip(names, fates, strict=True) if fate in FATE_WORDS
    )
    return f"<div class='epoch' role='img' aria-label='Epoch {number}: {picked}'><span>{number}</span>{cells}</div>"


def _strip(title: str, tokens: str) -> str:
    return f"<p class='step'>{escape(title)}</p><div class='tokens' dir='auto'>{tokens}</div>"


def _box(
    token: ExampleToken,
    answers: Sequence[Answer] = (),
    *,
    shows_right: bool = False,
    says_fate: bool = True,
    segment: int | None = None,
) -> str:
    """One token: as it is read, its fate in words, the right answer where that is another, the loss, its segment."""
    fate = f"<small class='fate'>{_fate(token.fate)}</small>" if says_fate and token.fate in FATE_WORDS else ""
    right = f"<small class='right'>{_words(answers[0].right)}</small>" if answers and shows_right else ""
    losses = "".join(_loss(answer) for answer in answers)
    shade = _shade(answers) if token.fate in (Fate.KEPT, Fate.SPECIAL) else ""
    of = "" if segment is None else f"<small class='segment'>{'AB'[segment]}</small>"
    return f"<span class='token {token.fate}'{shade}><bdi>{_words(token.text)}</bdi>{fate}{right}{losses}{of}</span>"


def _words(text: str) -> str:
    return escape(spaces_shown(text))


def _fate(fate: Fate) -> str:
    return f"{MARKS[fate]} {FATE_WORDS[fate]}" if fate in MARKS else FATE_WORDS[fate]


def _written(answer: Answer) -> str:
    return f"<span class='token'{_shade([answer])}><bdi>{_words(answer.right)}</bdi>{_loss(answer)}</span>"


def _shade(answers: Sequence[Answer]) -> str:
    """A background that is the stronger the larger the loss."""
    if not answers:
        return ""
    mean = sum(answer.loss_nats for answer in answers) / len(answers)
    return f" style='--loss: {45 * min(mean / DARKEST_NATS, 1):.0f}%'"


def _loss(answer: Answer) -> str:
    return f"<small class='loss' title='{_exact(answer)}'>{ARROWS[answer.direction]}{answer.loss_nats:.2f}</small>"


def _exact(answer: Answer) -> str:
    return escape(
        f"right: {answer.right} · p = {answer.probability!r} · loss = {answer.loss_nats!r} nats · "
        f"the model's guess: {answer.guess}"
    )


def _mean(example: TrainingExample, over: str) -> str:
    loss = example.loss_nats
    words = math.exp(min(loss, 50))
    number = f"{words:,.0f}" if words >= 9.95 else f"{words:.1f}"
    is_told = example.objective != "replaced" and words >= 1.05
    what = "what was right had" if len(example.answers) == 1 else "as if each right answer had had"
    even = f": {what} a chance of 1 in {number}" if is_told else ""
    return f"<p class='note total'>Mean loss <b title='{loss!r}'>{loss:.2f} nats</b> {escape(over)}{even}.</p>"
