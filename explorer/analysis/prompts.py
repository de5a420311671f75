"""The beginning of a text that a causal model reads or goes on writing, as token ids."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.analysis.blanks import check_characters, check_tokens, say_over
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability, ModelCard
from explorer.models.suggesting import suggest_models

EVERY_ORDER = frozenset({"xlnet"})  # model types trained on every order of the tokens
BOTH_WAYS = frozenset({"elmo"})  # model types that predict each word from its left, and from its right


def check_generates(card: ModelCard) -> None:
    """Refuse a model that does not write from left to right.

    Raises:
        UnsuitableModel: It does not; the message says which models do.
    """
    if Ability.GENERATE in card.abilities:
        return
    able = suggest_models(lambda other: Ability.GENERATE in other.abilities)
    why = "it was not trained to say what comes next"
    if card.model_type in BOTH_WAYS:
        why = "it predicts each word from its left and from its right for the sake of its vectors"
    if Ability.FILL_SPANS in card.abilities:
        why = "its decoder was trained to restore what a text lacks, not to go on with it"
    raise UnsuitableModel(f"{card.name} cannot write: {why}. {able}")


def check_left_to_right(model: LoadedModel) -> None:
    """Refuse a model that does not predict each token from those before it in one pass.

    Raises:
        UnsuitableModel: It does not; the message says what to choose.
    """
    check_generates(model.card)
    if model.card.model_type in EVERY_ORDER:
        raise UnsuitableModel(
            f"{model.card.name} was trained on every order of the tokens, and reads both sides of each unless told "
            "otherwise. Choose a model that reads from left to right, such as GPT-2 or MiniLM (causal)."
        )


def encode_prompt(model: LoadedModel, prompt: str) -> list[int]:
    """A prompt as the model reads it: its start token where its tokenizer sets one, and no token that ends a text.

    Args:
        model: With a causal head.
        prompt: May be empty where the model has a token that starts a text.

    Returns:
        At least one id.

    Raises:
        UnsuitableModel: The model does not write from left to right.
        UnsuitableText: The prompt is longer than the model reads, holds control characters, or is empty where the
            model cannot begin with nothing.
    """
    ids = _ids_of(model, prompt)
    check_tokens(model, len(ids))
    return ids


def _ids_of(model: LoadedModel, prompt: str) -> list[int]:
    """A prompt's ids, however many."""
    check_generates(model.card)
    check_characters(prompt)
    tokenizer = model.tokenizer
    with model.tokenizer_lock:
        ids = [*_start_ids(model), *tokenizer(prompt, add_special_tokens=False, verbose=False)["input_ids"]]
    if not ids and tokenizer.bos_token_id is not None:
        ids = [tokenizer.bos_token_id]
    if not ids:
        raise UnsuitableText(
            f"The prompt is empty, and {model.card.name} has no token that starts a text: write at least one word."
        )
    return ids


def check_ids(model: LoadedModel, ids: Sequence[int]) -> None:
    """Refuse token ids that the model does not have; on CUDA they would end the whole process's context.

    Raises:
        UnsuitableText: One is not a whole number in the vocabulary; the message says which.
    """
    vocabulary = model.network.get_input_embeddings().weight.shape[0]
    for token_id in ids:
        if isinstance(token_id, bool) or not isinstance(token_id, int) or not 0 <= token_id < vocabulary:
            raise UnsuitableText(
                f"{model.card.name} has no token {token_id!r}: its token ids are whole numbers from 0 to"
                f" {vocabulary - 1:,}."
            )


def encode_beginning(model: LoadedModel, prompt: str, written: Sequence[int]) -> tuple[list[int], int]:
    """The ids of a prompt and of what was written behind it, and how many more the model reads.

    Raises:
        UnsuitableText: They cannot be read, or leave no room to write.
    """
    ids = _ids_of(model, prompt)
    check_ids(model, written)
    ids += written
    left = model.limit_tokens - len(ids)
    if left < 1:
        over = f"{say_over(-left)}, and one more" if left else "one"
        raise UnsuitableText(
            f"The text has {len(ids):,} tokens, and {model.card.name} reads at most {model.limit_tokens:,}, those that "
            f"it writes among them. Leave out {over} for each that it is to write, or choose a model that reads more."
        )
    return ids, left


def _start_ids(model: LoadedModel) -> list[int]:
    """What the tokenizer puts before every text; what it puts behind would end the text before it is written."""
    plain = model.tokenizer("a", add_special_tokens=False, verbose=False)["input_ids"]
    full = model.tokenizer("a", verbose=False)["input_ids"]
    start = next((index for index in range(len(full)) if full[index : index + len(plain)] == plain), 0)
    return full[:start]
