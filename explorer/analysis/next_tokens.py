"""What a model expects after any beginning of a text: the whole distribution of one next token."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from explorer.analysis.blanks import check_option, check_tokens
from explorer.analysis.distributions import entropies, likeliest
from explorer.analysis.next_token_results import MOST_TOKENS, NextTokens
from explorer.analysis.prompts import check_ids, check_left_to_right, encode_prompt
from explorer.analysis.reading import decode
from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits


@torch.inference_mode()
def next_tokens(model: LoadedModel, prompt: str, *, written: Sequence[int] = (), top_k: int = 50) -> NextTokens:
    """What a causal model expects next.

    Args:
        model: With a causal head.
        prompt: Any beginning of a text; "" where the model has a token that starts a text.
        written: Token ids that stand after the prompt, such as those that were generated so far.
        top_k: How many tokens the table holds, from 1 to 1,000; fewer where the vocabulary has fewer.

    Returns:
        The likeliest tokens, the entropy, and the logits of the whole vocabulary.

    Raises:
        UnsuitableModel: The model does not read from left to right.
        UnsuitableText: The prompt cannot be used as asked, or is longer than the model reads.

    Source: Radford et al. 2018,
        https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf
    """
    check_option("top_k", top_k, MOST_TOKENS)
    check_left_to_right(model)
    check_ids(model, written)
    ids = (*encode_prompt(model, prompt), *written)
    check_tokens(model, len(ids))
    [logits] = masked_logits(model, [Row(ids, (len(ids) - 1,))])
    scores = logits.log_softmax(dim=-1)
    values = logits[0].cpu().numpy()
    values.flags.writeable = False
    begins = not any(token_id not in model.tokenizer.all_special_ids for token_id in ids)
    [tokens] = likeliest(model, scores, top_k, begins=begins)
    return NextTokens(
        model=model.card.name,
        prompt=prompt,
        prompt_ids=ids,
        written=tuple(written),
        tokens=tokens,
        entropy_nats=float(entropies(scores)[0]),
        logits=values,
        special_ids=tuple(sorted(set(model.tokenizer.all_special_ids))),
        token_count=len(ids),
        limit_tokens=model.limit_tokens,
        written_text=decode(model, written) if written else "",
    )
