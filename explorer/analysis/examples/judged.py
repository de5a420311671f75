"""Objectives that ask for a judgement: was this token replaced, does this sentence follow?"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch.nn import functional

from explorer.analysis.blanks import check_tokens
from explorer.analysis.examples.draft import Draft, DraftAnswer, Options, score_answers, untouched
from explorer.analysis.examples.masked import pick_any
from explorer.analysis.plain_text import PlainText
from explorer.analysis.training_results import Fate
from explorer.errors import UnsuitableText
from explorer.models.backend import LoadedModel

ORIGINAL, REPLACED, NEXT, RANDOM = "original", "replaced", "next", "random"


def detect_replaced(model: LoadedModel, plain: PlainText, options: Options) -> Draft:
    """ELECTRA's discriminator, over what a generator or the text itself put in."""
    drawn, replaced_by = _draw_replacements(model, plain, options)
    ids = [drawn.get(index, token_id) for index, token_id in enumerate(plain.ids)]
    fates = [
        Fate.SPECIAL if special else Fate.REPLACED if ids[index] != plain.ids[index] else Fate.KEPT
        for index, special in enumerate(plain.is_special)
    ]
    logits = model.network(input_ids=torch.tensor([ids], device=model.network.device)).logits[0].float()
    wanted = torch.tensor([float(fate == Fate.REPLACED) for fate in fates], device=logits.device)
    losses = functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none").tolist()
    rights = torch.where(wanted.bool(), logits, -logits).sigmoid().tolist()
    said = (logits > 0).tolist()
    answers = [
        DraftAnswer(
            index,
            REPLACED if fates[index] == Fate.REPLACED else ORIGINAL,
            REPLACED if said[index] else ORIGINAL,
            rights[index],
            losses[index],
        )
        for index in range(len(ids))
    ]
    return Draft(fates, tuple(zip(ids, fates, strict=True)), answers, replaced_by=replaced_by)


def _draw_replacements(model: LoadedModel, plain: PlainText, options: Options) -> tuple[dict[int, int], str]:
    """What to put where, and in words where it is from."""
    given = options.replacements
    if given is not None and given.tokens == plain.tokens:
        with model.tokenizer_lock:
            ids = model.tokenizer.convert_tokens_to_ids([token for _, token in given.drawn])
        return dict(zip([index for index, _ in given.drawn], ids, strict=True)), f"drawn by {given.model}"
    drawn = {}
    for index in pick_any(plain, options.generator)[0].nonzero().flatten().tolist():
        others = [plain.ids[other] for other in range(*plain.inner) if plain.ids[other] != plain.ids[index]]
        if others:
            drawn[index] = others[int(torch.randint(len(others), (), generator=options.generator))]
    cuts = ""
    if given is not None:
        cuts = f", because {given.model} cuts it into other tokens; one that cuts as {model.card.name} does draws them"
    return drawn, f"other tokens of the text{cuts}"


def judge_next_sentence(model: LoadedModel, plain: PlainText, options: Options) -> Draft:
    """BERT's second head, over both sentences; the loss is that of a second sentence that does follow."""
    draft = read_pair(model, plain, options)
    device = model.network.device
    logits = model.network(
        input_ids=torch.tensor([[token_id for token_id, _ in draft.inputs]], device=device),
        token_type_ids=torch.tensor([draft.segments], device=device),
    ).seq_relationship_logits.float()
    [answer] = score_answers(logits, [0], [None])  # BERT's head: 0 = it follows, 1 = it is a random one
    answer = DraftAnswer(None, NEXT, NEXT if answer.guess == 0 else RANDOM, answer.probability, answer.loss_nats)
    return replace(draft, answers=[answer])


def read_pair(model: LoadedModel, plain: PlainText, options: Options) -> Draft:
    """Two sentences as BERT reads them, with the segment of each token; the model is not asked."""
    if not options.other_text.strip():
        raise UnsuitableText("Write a second sentence, too: the question is whether it follows the first.")
    with model.tokenizer_lock:
        encoded = model.tokenizer(
            options.text, options.other_text, return_special_tokens_mask=True, return_token_type_ids=True, verbose=False
        )
    check_tokens(model, len(encoded["input_ids"]))
    fates = [Fate.SPECIAL if mark else Fate.KEPT for mark in encoded["special_tokens_mask"]]
    inputs = tuple(zip(encoded["input_ids"], fates, strict=True))
    return Draft(untouched(plain, ()).fates, inputs, (), segments=tuple(encoded["token_type_ids"]))
