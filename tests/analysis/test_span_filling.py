"""Spans of any length: written by encoder-decoders, continued by causal models, and searched within bounds."""

import pytest
import torch

from explorer.analysis import fill_spans
from explorer.analysis.blanks import put_fills
from explorer.analysis.corruption.sentinels import find_sentinels
from explorer.analysis.spans_by_writing import LEAST_BEAMS, Output, _completions
from explorer.analysis.spans_from_left import next_words, word_starts
from explorer.analysis.written_spans import Written
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.card import Ability
from explorer.settings import settings
from tests.analysis import objective_models
from tests.analysis.tiny_models import gpt2, loaded
from tests.training.tiny_networks import tiny_network, tiny_tokenizer

TEXT = "the dog ___ and the cat ___ in the barn"


@pytest.fixture(scope="module")
def t5():
    """Loud enough to have opinions."""
    network = tiny_network("span")
    with torch.no_grad():
        for weight in network.parameters():
            weight.mul_(2.0)
    return loaded(network, tiny_tokenizer("span"), name="tiny t5", abilities=(Ability.FILL_SPANS,))


@pytest.fixture(scope="module")
def bart():
    return objective_models.bart()


def beams(model, text, **options):
    """What generate gives by itself."""
    ids = model.tokenizer(text, return_tensors="pt").input_ids
    return model.network.generate(
        ids,
        do_sample=False,
        length_penalty=0.0,
        return_dict_in_generate=True,
        output_scores=True,
        eos_token_id=options.pop("ends"),
        pad_token_id=model.tokenizer.pad_token_id,
        **options,
    )


def test_one_blank_is_filled_as_generate_does_it(t5):
    sentinels = find_sentinels(t5.tokenizer)
    found = fill_spans(t5, "the dog ___ in the barn", count=5, most_tokens=4)
    made = beams(
        t5,
        "the dog <extra_id_0> in the barn",
        ends=[t5.network.config.eos_token_id, *sentinels],
        decoder_input_ids=torch.tensor([[t5.network.config.decoder_start_token_id, sentinels[0]]]),
        num_beams=LEAST_BEAMS,
        num_return_sequences=LEAST_BEAMS,
        max_new_tokens=5,
    )
    wanted: dict[str, float] = {}
    for ids, score in zip(made.sequences[:, 2:], made.sequences_scores.tolist(), strict=True):
        kept = [id for id in ids.tolist() if id not in {t5.network.config.eos_token_id, *sentinels}]
        wanted.setdefault(t5.tokenizer.decode(kept, skip_special_tokens=True).strip(), score)
    wanted = dict([*wanted.items()][:5])
    choices = found.spans[0].choices
    assert [choice.text for choice in choices] == list(wanted)
    assert [choice.log_probability for choice in choices] == pytest.approx(list(wanted.values()), abs=1e-5)
    assert [c.log_probability for c in found.completions] == pytest.approx(list(wanted.values()), abs=1e-5)
    assert found.saw == ("the dog <extra_id_0> in the barn [SEP]",)


def test_all_blanks_together_are_written_as_generate_does_it(t5):
    sentinels = find_sentinels(t5.tokenizer)
    found = fill_spans(t5, TEXT, count=4, most_tokens=3)
    made = beams(
        t5,
        "the dog <extra_id_0> and the cat <extra_id_1> in the barn",
        ends=[t5.network.config.eos_token_id, sentinels[2]],
        num_beams=LEAST_BEAMS,
        num_return_sequences=LEAST_BEAMS,
        max_new_tokens=9,
    )
    scores = sorted(made.sequences_scores.tolist(), reverse=True)
    assert len(found.wrote) == 4
    assert {round(c.log_probability, 4) for c in found.completions} <= {round(score, 4) for score in scores}


def test_ways_to_fill_each_blank_and_all_of_them_are_counted_apart(t5, bert):
    for model, text in ((t5, "the dog ___ in the barn"), (bert, TEXT)):
        few, many = (fill_spans(model, text, count=3, most_tokens=3, sentences=sentences) for sentences in (2, 9))
        assert len(few.completions) == 2 and 3 < len(many.completions) <= 9
        assert [len(span.choices) for span in few.spans] == [len(span.choices) for span in many.spans]
        assert {len(span.choices) for span in few.spans} == {3}
    with pytest.raises(UnsuitableText, match="sentences"):
        fill_spans(t5, TEXT, sentences=0)


def test_a_choice_is_scored_by_its_own_tokens_and_the_sentinel_behind_it(t5):
    found = fill_spans(t5, "the dog ___ in the barn", count=3, most_tokens=2)
    network, tokenizer = t5.network, t5.tokenizer
    sentinels = find_sentinels(tokenizer)
    inputs = tokenizer("the dog <extra_id_0> in the barn", return_tensors="pt").input_ids
    start = [network.config.decoder_start_token_id, sentinels[0]]
    for choice in found.spans[0].choices:
        ids = tokenizer(choice.text, add_special_tokens=False).input_ids
        assert choice.length_tokens == len(ids)
        given = torch.tensor([start + ids])
        with torch.inference_mode():
            steps = network(inputs, decoder_input_ids=given).logits[0, 1:].log_softmax(dim=-1)
        body = sum(float(steps[place, token]) for place, token in enumerate(ids))
        ends = {float(steps[len(ids), end]) for end in (network.config.eos_token_id, *sentinels)}
        cut = len(ids) == 3  # most_tokens and no end
        assert any(abs(choice.log_probability - body - end) < 1e-4 for end in ({0.0} if cut else ends))


def test_sampling_is_seeded_and_scored(t5):
    text = "the dog ___ in the barn"
    one, same, other = (fill_spans(t5, text, count=8, method="sampling", seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one.spans != other.spans
    assert one.method == "sampling"
    best = fill_spans(t5, text, count=8).spans[0].choices[0]
    drawn = {choice.text: choice.log_probability for choice in one.spans[0].choices}
    assert max(drawn.values()) <= best.log_probability + 1e-5
    known = {choice.text: choice.log_probability for choice in fill_spans(t5, text, count=20).spans[0].choices}
    for text in drawn.keys() & known.keys():
        assert drawn[text] == pytest.approx(known[text], abs=1e-4)


@pytest.mark.parametrize("text", ["the dog ___ in the barn", TEXT])
def test_one_answer_alone_is_scored_as_among_others(t5, text):
    found, known = fill_spans(t5, text, count=1), fill_spans(t5, text, count=20)
    for span, among in zip(found.spans, known.spans, strict=True):
        [choice] = span.choices
        assert {one.text: one.log_probability for one in among.choices}[choice.text] == pytest.approx(
            choice.log_probability, abs=1e-4
        )


def test_odd_output_is_said_and_never_crashes(t5):
    found = fill_spans(t5, TEXT, count=5, most_tokens=3)  # of random weights: hardly any sentinel is where it should be
    assert found.remarks
    assert any("___" in completion.text for completion in found.completions) == any(
        None in completion.fills for completion in found.completions
    )


def test_a_text_whose_blanks_all_stay_open_stands_below_none_that_is_filled(t5):
    cat = tuple(t5.tokenizer("cat", add_special_tokens=False).input_ids)
    outputs = [Output(cat, -2.0), Output((), -1.0)]
    written = [Written((cat,), ()), Written((None,), ())]
    (only,) = _completions(t5, ("the ", " sat"), outputs, written)
    assert None not in only.fills
    assert [one.fills for one in _completions(t5, ("the ", " sat"), outputs[1:], written[1:])] == [(None,)]


@pytest.mark.parametrize("text", ["___ and the cat", "the cat ___", "the ___ ___ cat", "the___cat"])
def test_blanks_stand_anywhere(t5, text):
    found = fill_spans(t5, text, count=2, most_tokens=2)
    assert len(found.spans) == text.count("___")
    assert all(len(completion.fills) == len(found.spans) for completion in found.completions)


def test_bart_rewrites_the_text(bart):
    found = fill_spans(bart, "The cat <mask> home", count=3, most_tokens=3)
    assert found.saw == ("<s>The cat<mask> home</s>",)
    assert len(found.wrote) == 3
    assert bool(found.remarks) == (len(found.completions) < 3)


def test_a_rewritten_text_gives_its_fills(bart, monkeypatch):
    ids = bart.tokenizer("The cat is playing in Paris.").input_ids
    other = bart.tokenizer("A dog is playing in Paris.").input_ids

    def write(**asked):
        rows = [asked["decoder_input_ids"][0].tolist() + made[1:] for made in (ids, other)]
        return type("Made", (), {"sequences": torch.tensor([r + [1] * (max(map(len, rows)) - len(r)) for r in rows]),
                                 "sequences_scores": torch.tensor([-1.0, -2.0])})  # fmt: skip

    monkeypatch.setattr(bart.network, "generate", write)
    found = fill_spans(bart, "The cat ___ in Paris.", count=2)
    assert [(c.text, c.log_probability) for c in found.spans[0].choices] == [("is playing", -1.0)]
    assert [c.text for c in found.completions] == ["The cat is playing in Paris."]
    assert found.remarks == (
        "In 1 of 2 outputs: it changed the text around a blank, so that what it filled in cannot be told.",
    )


def test_a_causal_model_sees_nothing_behind_the_blank(gpt):
    one, other = (fill_spans(gpt, f"the cat ___ {rest}", count=4) for rest in ("is happy", "walks"))
    assert one.spans == other.spans
    assert [c.log_probability for c in one.completions] == [c.log_probability for c in one.spans[0].choices]
    assert "from the left only" in one.remarks[0]
    assert one.completions[0].text == f"the cat {one.completions[0].fills[0]} is happy"


@torch.inference_mode()
def test_a_words_probability_is_that_of_its_pieces_and_its_end(gpt):
    (found,) = next_words(gpt, ["the cat"], [5])
    words = found.words
    starts = word_starts(gpt)
    given = gpt.tokenizer("the cat").input_ids

    def log_probabilities(ids):
        return gpt.network(torch.tensor([[*given, *ids]])).logits[0, -1].log_softmax(dim=-1)

    for word in words:
        total = sum(float(log_probabilities(word.ids[:place])[token]) for place, token in enumerate(word.ids))
        total += float(log_probabilities(word.ids)[starts].logsumexp(dim=-1))
        assert word.log_probability == pytest.approx(total, abs=1e-4)
    # none of one piece is better and left out
    special = gpt.tokenizer.all_special_ids
    allowed = [id for id in range(len(gpt.tokenizer)) if id not in special and gpt.tokenizer.decode([id]).strip()]
    first = log_probabilities(())
    best = sorted(
        (float(first[a]) + float(log_probabilities((a,))[starts].logsumexp(dim=-1)) for a in allowed if starts[a]),
        reverse=True,
    )
    shown = [word.log_probability for word in words]
    assert all(any(abs(score - other) < 1e-4 for other in shown) for score in best if score > shown[-1] + 1e-4)
    assert not found.is_cut


@pytest.mark.parametrize("kind", ["bert", "gpt"])
def test_the_likeliest_words_and_sentences_do_not_depend_on_how_many_are_shown(kind, request):
    model = request.getfixturevalue(kind)
    few, many = (fill_spans(model, "the cat ___ in the ___", count=count) for count in (3, 12))
    for some, more in zip(few.spans, many.spans, strict=True):
        assert [choice.text for choice in some.choices] == [choice.text for choice in more.choices[:3]]
    assert [one.text for one in few.completions] == [one.text for one in many.completions[:3]]
    assert len(many.spans[0].choices) == 12


@torch.inference_mode()
def test_a_search_for_words_that_was_cut_says_so(gpt, monkeypatch):
    (found,) = next_words(gpt, ["the cat"], [5], most_read=3)
    assert found.is_cut and len(found.words) <= 3
    monkeypatch.setattr("explorer.analysis.spans_from_left.MOST_READ", 3)
    assert "only the 3 likeliest" in fill_spans(gpt, "the cat ___", count=5).remarks[1]


@pytest.mark.parametrize("kind", ["bert", "gpt"])
def test_many_blanks_and_choices_are_searched_within_bounds_and_that_is_said(kind, monkeypatch, request):
    model = request.getfixturevalue(kind)
    read = []
    model.network.register_forward_pre_hook(
        lambda _, __, given: read.append(given["input_ids"].numel()), with_kwargs=True
    )
    text = "the cat ___ in the ___ and ___ home"
    free = fill_spans(model, text, count=20)
    whole = sum(read)
    assert not any("best beginnings" in remark for remark in free.remarks)
    monkeypatch.setattr("explorer.analysis.search.MOST_TOKENS", whole // 3)
    read.clear()
    narrowed = fill_spans(model, text, count=20)
    assert sum(read) < 0.7 * whole
    assert any("best beginnings" in remark for remark in narrowed.remarks)
    assert narrowed.completions[0].log_probability <= free.completions[0].log_probability + 1e-4
    assert [len(span.choices) for span in narrowed.spans][:1] == [len(free.spans[0].choices)]
    read.clear()
    assert not any("best beginnings" in remark for remark in fill_spans(model, text, count=3).remarks)


def test_put_fills_leaves_no_double_space_and_no_closed_gap():
    assert put_fills(("the ", " cat ", "."), ("", None)) == "the cat ___."
    assert put_fills(("", " cat"), ("",)) == "cat"
    assert put_fills(("un", "able"), ("do",)) == "undoable"


def test_bad_input_is_refused_clearly(t5, bert):
    many = " ".join(["___"] * (settings().most_blanks + 1)) + " cat"
    for text, words in (
        ("", "no text"),
        ("the cat", "no blank"),
        ("___", "only blanks"),
        (many, f"at most {settings().most_blanks}"),
        ("the <extra_id_0> cat ___", "is a sentinel. Write ___"),
        ("the cat ___ " + "dog " * 100, "reads at most 64"),
    ):
        with pytest.raises(UnsuitableText, match=words):
            fill_spans(t5, text)
    for options, words in (({"count": 0}, "count"), ({"most_tokens": 99}, "most_tokens"), ({"method": "x"}, "beams")):
        with pytest.raises(UnsuitableText, match=words):
            fill_spans(t5, TEXT, **options)
    with pytest.raises(UnsuitableText, match="does not sample"):
        fill_spans(bert, "the ___ .", method="sampling")
    silent = loaded(tiny_network("replaced"), tiny_tokenizer("replaced"), abilities=(Ability.DETECT_REPLACED,))
    with pytest.raises(UnsuitableModel, match="writes no words"):
        fill_spans(silent, TEXT)


def test_gpt2_without_a_word_before_the_blank_begins_a_text():
    found = fill_spans(gpt2(), "___ cat", count=2)
    assert found.spans[0].choices
    assert all(choice.text for choice in found.spans[0].choices)
