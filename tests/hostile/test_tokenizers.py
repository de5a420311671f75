"""A stranger's tokenizer: it may lengthen texts without bound, panic, or write ids that no network knows."""

import base64
import json
import random
from functools import partial

import pytest

from explorer.analysis.fill_blanks import fill_blanks
from explorer.errors import ExplorerError, ModelRefused, UnsuitableModel
from explorer.models.loading import load_model
from explorer.models.local import LocalBackend
from explorer.models.progress import ignore
from explorer.settings import Settings
from tests.models.small_models import make_card

GROWS = {"type": "Replace", "pattern": {"String": "a"}, "content": "aaaa"}
BETWEEN_ALL = {"type": "Replace", "pattern": {"Regex": "z*"}, "content": "a"}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
BACKTRACKS = {"type": "Replace", "pattern": {"Regex": "(x+x+)+y"}, "content": "z"}
SHORT = "the xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx ___ ﷺ"
CLS, TEXT = {"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}
SECOND = {"Sequence": {"id": "B", "type_id": 1}}


def charsmap(longest: int) -> str:
    """A table of sentencepiece whose trie is empty, with one text."""
    return base64.b64encode(bytes(4) + b"x" * longest + b"\0").decode()


def template(single: list, *ids: int) -> dict:
    marks = {"[CLS]": {"id": "[CLS]", "ids": list(ids), "tokens": ["[CLS]"] * len(ids)}} if ids else {}
    return {"type": "TemplateProcessing", "single": single, "pair": [TEXT, SECOND], "special_tokens": marks}


def rewrite(folder, **changes) -> None:
    rules = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps({**rules, **changes}))


@pytest.fixture
def folder(bert_copy):
    """A small BERT whose tokenizer does what its file says, and not what all of its family do."""
    settings = json.loads((bert_copy / "tokenizer_config.json").read_text())
    (bert_copy / "tokenizer_config.json").write_text(
        json.dumps(settings | {"tokenizer_class": "PreTrainedTokenizerFast"})
    )
    return bert_copy


def load(folder):
    return load_model(make_card(folder), device="cpu", progress=ignore)


@pytest.mark.parametrize(
    "changes",
    [
        {"normalizer": {"type": "Sequence", "normalizers": [GROWS] * 12}},
        {"normalizer": {"type": "Sequence", "normalizers": [BETWEEN_ALL] * 30}},
        {"normalizer": {"type": "Sequence", "normalizers": [{"type": "ByteLevel"}] * 20}},
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap(10**5)}},
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [BYTES] * 20}},
        {"normalizer": {"type": "Prepend", "prepend": "a" * 10**6}},
        {"normalizer": GROWS, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [BYTES] * 4}},
        {"decoder": {"type": "Sequence", "decoders": [GROWS] * 12}},
    ],
)
def test_rules_that_fill_the_memory_never_run(folder, changes):
    rewrite(folder, **changes)
    with pytest.raises(ModelRefused, match="tokenizer of Small BERT lengthens texts without bound"):
        load(folder)


def test_the_rules_of_published_models_do(folder, tmp_path):
    """ALBERT's and XLNet's, with the largest of sentencepiece's own tables."""
    sentencepiece = pytest.importorskip("sentencepiece")
    from sentencepiece import sentencepiece_model_pb2

    (tmp_path / "words.txt").write_text("the cat sat on the mat\n" * 20)
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "words.txt"),
        model_prefix=str(tmp_path / "pieces"),
        vocab_size=40,
        hard_vocab_limit=False,
        normalization_rule_name="nmt_nfkc",
        minloglevel=2,
    )
    pieces = sentencepiece_model_pb2.ModelProto()
    pieces.ParseFromString((tmp_path / "pieces.model").read_bytes())
    table = base64.b64encode(pieces.normalizer_spec.precompiled_charsmap).decode()
    quotes = [{"type": "Replace", "pattern": {"String": mark}, "content": '"'} for mark in ("``", "''")]
    spaces = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    forms = [{"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]
    both = [*quotes, *forms, {"type": "Precompiled", "precompiled_charsmap": table}, spaces]
    rewrite(folder, normalizer={"type": "Sequence", "normalizers": both})
    assert load(folder).tokenizer("The  ﷺ cat").input_ids[0] == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}},  # a panic
        {"normalizer": {"type": "Replace"}},
        {"normalizer": {"type": "Replace", "pattern": {"Regex": "("}, "content": "x"}},
        {"model": {"type": "WordLevel"}},
        {"model": {"type": "Unigram", "unk_id": 50, "vocab": [["a", 0.0]]}},
        {"added_tokens": 7},
    ],
)
def test_rules_that_cannot_be_read_are_refused(folder, changes):
    rewrite(folder, **changes)
    with pytest.raises(ModelRefused, match="tokenizer of Small BERT cannot be read"):
        load(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"post_processor": template([CLS, TEXT])}, "does not work"),  # a panic
        ({"post_processor": template([SECOND])}, "does not work"),  # another
        ({"post_processor": template([CLS, TEXT], 999)}, "which has 1,000 tokens where the network knows 15"),
        ({"post_processor": template([TEXT] * 100)}, "turns one letter into 64 tokens"),
    ],
)
def test_rules_are_tried_before_anybody_uses_them(folder, changes, message):
    rewrite(folder, **changes)
    with pytest.raises(ModelRefused, match=message):
        load(folder)


def test_an_id_far_from_all_others_is_found(folder):
    rules = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = rules["model"]["vocab"] | {"and": 4_000_000}
    rewrite(folder, model=rules["model"] | {"vocab": vocabulary})
    with pytest.raises(ModelRefused, match="has 4,000,001 tokens where the network knows 15"):
        load(folder)


def test_a_text_at_which_a_tokenizer_breaks_down_is_answered_and_leaves_no_trace(folder):
    """Its library panics there: no Exception, which ended the thread, and left the visitor waiting for ever."""
    rewrite(folder, normalizer=BACKTRACKS)
    backend = LocalBackend(settings=Settings(device="cpu", analyses_at_once=1))
    card = make_card(folder)
    for _ in range(2):
        with pytest.raises(UnsuitableModel, match="tokenizer of Small BERT breaks down at this text"):
            backend.run(card, partial(fill_blanks, text="x" * 40 + " ___"))
    assert backend.run(card, partial(fill_blanks, text="the cat sat on the ___")).blanks
    with pytest.raises(UnsuitableModel, match="breaks down at this text"):
        next(backend.stream(card, lambda model: iter([model.tokenizer("x" * 40)])))
    assert not backend.status()[card].users


def made_up(rules: object, rng: random.Random) -> object:
    """Rules with a value changed, taken away, or doubled, somewhere."""
    if isinstance(rules, dict) and rules and rng.random() < 0.9:
        name = rng.choice(sorted(rules))
        return rules | {name: made_up(rules[name], rng)}
    if isinstance(rules, list) and rules and rng.random() < 0.7:
        at = rng.randrange(len(rules))
        return [*rules[:at], made_up(rules[at], rng), *rules[at + 1 :]]
    return rng.choice([None, 0, -1, 2**31, 1.5, "", "a", [], {}, [rules] * 3, {"type": "ByteLevel"}, GROWS, BACKTRACKS])


def test_no_rules_at_all_are_a_fault(folder):
    """From the real ones, and from those of a larger pipeline, with values that they never have."""
    rng, answered, refused = random.Random(0), 0, 0
    real = json.loads((folder / "tokenizer.json").read_text())
    pipeline = real | {
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}, GROWS, {"type": "Lowercase"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, {"type": "Punctuation"}]},
        "post_processor": template([CLS, TEXT], 2),
        "decoder": {
            "type": "Sequence",
            "decoders": [{"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}],
        },
    }
    for rules in (real, pipeline):
        (folder / "tokenizer.json").write_text(json.dumps(rules))
        assert load(folder).tokenizer("the cat").input_ids[0] == 2
    for count in range(200):
        (folder / "tokenizer.json").write_text(json.dumps(made_up((real, pipeline)[count % 2], rng)))
        try:
            LocalBackend(settings=Settings(device="cpu")).run(make_card(folder), partial(fill_blanks, text=SHORT))
            answered += 1
        except ExplorerError:
            refused += 1
    assert answered > 20 and refused > 50
