"""A model's tokenizer, which may be a stranger's: its rules are looked at before they run, and tried before use.

tokenizer.json is a small program: it may lengthen a text without bound, panic, or write ids that no network knows.
"""

import base64
import json
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer, PreTrainedConfig, PreTrainedTokenizerBase

from explorer.errors import ModelRefused, UnsuitableModel
from explorer.models.card import Ability, ModelCard
from explorer.models.model_files import TOKENIZER_FILES
from explorer.models.unreadable import UNREADABLE, is_tokenizer_fault

MOST_GROWTH = 256  # characters for one; Unicode itself has one that stands for 18, in 33 bytes
BYTES_PER_CHARACTER = 4  # that ByteLevel writes for one, as a character each
MOST_MARKS = 64  # that a tokenizer sets around a text


def has_tokenizer(folder: Path) -> bool:
    """Whether a folder holds any file of a tokenizer."""
    return any((folder / name).is_file() for name in TOKENIZER_FILES)


def load_tokenizer(card: ModelCard, folder: Path | None, config: PreTrainedConfig) -> PreTrainedTokenizerBase:
    """The tokenizer of a model, which cuts and pads nothing by itself.

    Args:
        card: The model.
        folder: Where its files are; None = nowhere.
        config: Of its network.

    Raises:
        ModelRefused: It is missing, damaged, unsafe, or needs code of its own.
        UnsuitableModel: It lacks the mask token that the card promises.
    """
    if folder is None or not has_tokenizer(folder):  # transformers would make one with an empty vocabulary
        raise ModelRefused(f"{card.name} has no tokenizer. Choose a model that comes with one.")
    unreadable = (
        f"The tokenizer of {card.name} cannot be read: it is damaged, or needs code of its own. Choose another model."
    )
    try:
        if (rules := folder / "tokenizer.json").is_file():
            _check_growth(rules, card.name)
        tokenizer = AutoTokenizer.from_pretrained(
            folder, config=config, trust_remote_code=False, **dict(card.tokenizer_overrides)
        )
        backend = getattr(tokenizer, "backend_tokenizer", None)
        if backend is not None:  # some files say "cut at 128 tokens"; what is too long must be refused, not cut
            backend.no_truncation()
            backend.no_padding()
    except ModelRefused:
        raise
    except BaseException as error:
        if isinstance(error, UNREADABLE) or is_tokenizer_fault(error):
            raise ModelRefused(unreadable) from error
        raise
    if Ability.FILL_BLANKS in card.abilities and tokenizer.mask_token is None:
        raise UnsuitableModel(f"{card.name} has no mask token, so it cannot fill blanks. Choose another model.")
    return tokenizer


def check_ids(card: ModelCard, tokenizer: PreTrainedTokenizerBase, known: int) -> None:
    """Try a tokenizer on a letter: an id beyond the embeddings ends the CUDA context of the whole process.

    Args:
        card: The model.
        tokenizer: As load_tokenizer returns it.
        known: How many tokens the network has embeddings of.

    Raises:
        ModelRefused: It writes other ids, or too many; or it does not work at all.
    """
    try:
        marks = [tokenizer("a", verbose=False)["input_ids"], tokenizer("a", "a", verbose=False)["input_ids"]]
        highest = max([*tokenizer.get_vocab().values(), *marks[0], *marks[1]], default=0)
    except BaseException as error:
        if isinstance(error, UNREADABLE) or is_tokenizer_fault(error):
            raise ModelRefused(f"The tokenizer of {card.name} does not work. Choose another model.") from error
        raise
    if max(map(len, marks)) > MOST_MARKS:
        raise ModelRefused(f"The tokenizer of {card.name} turns one letter into {MOST_MARKS} tokens and more.")
    if (tokens := max(len(tokenizer), highest + 1)) > known:
        raise ModelRefused(
            f"{card.name} does not fit its tokenizer, which has {tokens:,} tokens where the network knows {known:,}. "
            f"Choose another model."
        )


def _check_growth(rules: Path, name: str) -> None:
    """Refuse rules that may turn a text into one that fills the memory of this machine, as zip bombs do."""
    given = json.loads(rules.read_bytes())
    reading, writing = [given.get("normalizer"), given.get("pre_tokenizer")], given.get("decoder")
    if max(_growth(reading), _growth(writing)) > MOST_GROWTH:
        raise ModelRefused(f"The tokenizer of {name} lengthens texts without bound. Choose another model.")


def _growth(rule: Any) -> int:
    """How many characters a rule, with those inside it, may put in place of one."""
    if isinstance(rule, list):
        growth = 1
        for part in rule:
            growth = min(growth * _growth(part), MOST_GROWTH + 1)
        return growth
    if not isinstance(rule, dict):
        return 1
    own, kind = 1, rule.get("type")
    if kind == "Replace":
        is_plain = isinstance(rule["pattern"], dict) and bool(rule["pattern"].get("String"))
        own = max(1, len(rule["content"]) + (not is_plain))  # others may find nothing, and put theirs between all
    elif kind == "Prepend":
        own = 1 + len(rule["prepend"])
    elif kind == "ByteLevel":
        own = BYTES_PER_CHARACTER
    elif kind == "Precompiled":
        own = _longest_entry(rule["precompiled_charsmap"])
    return own * _growth([part for part in rule.values() if isinstance(part, (list, dict))])


def _longest_entry(charsmap: str) -> int:
    """Bytes of the longest text that sentencepiece's table puts in place of characters.

    Source: builder.cc of sentencepiece: the size of a trie in 4 bytes, the trie, and texts that end in a zero
    """
    content = base64.b64decode(charsmap)
    texts = content[4 + int.from_bytes(content[:4], "little") :].split(b"\0")
    return max(map(len, texts), default=1) or 1
