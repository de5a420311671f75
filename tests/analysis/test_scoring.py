import math

import pytest
import torch

from explorer.analysis import score_text, score_texts
from explorer.errors import UnsuitableModel, UnsuitableText
from tests.analysis import causal_models, objective_models
from tests.analysis.causal_models import plain_scores
from tests.analysis.tiny_models import log_probabilities

TEXT = "The cat is  playing in\nParis, unhappily."
PAIRS = (  # our own
    ("The dogs near the house are barking.", "The dogs near the house is barking."),
    ("She gave the book to him.", "She gave the book to he."),
    ("The boy saw himself in the mirror.", "The boy saw herself in the mirror."),
    ("Nobody has ever been there.", "Somebody has ever been there."),
)


def expected_from_left(model, text):
    """What a plain full forward pass says of each token of a text; None of one that nothing stands before."""
    ids = model.tokenizer(text, add_special_tokens=False)["input_ids"]
    start = model.tokenizer.bos_token_id
    given = ids if start is None else [start, *ids]
    scores = plain_scores(model, given)[:-1].gather(1, torch.tensor(given)[1:, None])[:, 0].tolist()
    return [None, *scores] if start is None else scores


def log_probabilities_of(tokens):
    return [token.log_probability for token in tokens]


def test_causal_scores_are_those_of_a_plain_forward_pass(causal):
    result = score_text(causal, TEXT)
    [only] = result.passes
    expected = expected_from_left(causal, TEXT)
    known = [score for score in expected if score is not None]
    assert [score is None for score in log_probabilities_of(only.tokens)] == [score is None for score in expected]
    assert [s for s in log_probabilities_of(only.tokens) if s is not None] == pytest.approx(known, abs=1e-4)
    assert result.log_probability == pytest.approx(sum(known), abs=1e-3)
    assert result.surprisal_bits == pytest.approx(-sum(known) / math.log(2), abs=1e-3)
    assert result.perplexity == pytest.approx(math.exp(-sum(known) / len(known)), rel=1e-4)
    assert result.token_count == len(known) and result.protocol == "left_to_right"
    assert ("not scored" in result.remarks[0]) == (expected[0] is None)


def test_rank_and_alternatives_are_of_the_whole_vocabulary(causal):
    tokens = score_text(causal, TEXT, alternatives=3).passes[0].tokens
    given = [causal.tokenizer.bos_token_id, *(token.token_id for token in tokens)]
    scores = plain_scores(causal, [each for each in given if each is not None])
    for token, row in zip(reversed(tokens), reversed(scores[:-1]), strict=False):
        assert token.rank == int((row > row[token.token_id]).sum()) + 1
        assert [each.token_id for each in token.alternatives] == row.topk(3).indices.tolist()
        assert token.entropy_bits == pytest.approx(-(row.exp() * row).sum().item() / math.log(2), abs=1e-3)


def test_one_masked_is_the_pseudo_log_likelihood(family):
    [only] = score_text(family, TEXT).passes
    ids = family.tokenizer(TEXT)["input_ids"]
    for place, token in enumerate(only.tokens, start=1):
        masked = [*ids[:place], family.tokenizer.mask_token_id, *ids[place + 1 :]]
        assert token.token_id == ids[place]
        assert token.log_probability == pytest.approx(
            log_probabilities(family, [masked], [place])[0, ids[place]].item(), abs=1e-4
        )


def test_word_masked_hides_the_rest_of_the_word(bert):
    tokens = score_text(bert, "he walks home", protocol="word_masked").passes[0].tokens  # he walk ##s home
    ids, mask = bert.tokenizer("he walks home")["input_ids"], bert.tokenizer.mask_token_id
    rows = [[ids[0], ids[1], mask, mask, *ids[4:]], [*ids[:3], mask, *ids[4:]]]
    expected = log_probabilities(bert, rows, [2, 3])
    assert tokens[1].log_probability == pytest.approx(expected[0, ids[2]].item(), abs=1e-4)
    assert tokens[2].log_probability == pytest.approx(expected[1, ids[3]].item(), abs=1e-4)
    alone = score_text(bert, "he walks home").passes[0].tokens
    assert alone[1].log_probability != pytest.approx(tokens[1].log_probability, abs=1e-3)


def test_elmo_scores_from_both_sides_as_its_loss_does():
    model = objective_models.mini("bilm")
    result = score_text(model, objective_models.TEXT)
    ids = torch.tensor([model.tokenizer(objective_models.TEXT)["input_ids"]])
    with torch.inference_mode():
        output = model.network(ids)
    for one, name in zip(result.passes, ("forward", "backward"), strict=True):
        scores = output[f"{name}_logits"][0].double().log_softmax(-1).gather(1, ids[0, :, None])[:, 0]
        assert one.direction == name
        assert log_probabilities_of(one.tokens) == pytest.approx(scores.tolist(), abs=1e-4)
    assert result.log_probability == pytest.approx(sum(one.log_probability for one in result.passes))
    assert result.perplexity == pytest.approx(math.exp(-result.log_probability / 2 / result.token_count))


def test_words_are_what_stands_between_white_space(causal):
    [only] = score_text(causal, TEXT).passes
    assert [word.text for word in only.words] == TEXT.split()
    assert [TEXT[word.start : word.end] for word in only.words] == TEXT.split()
    assert sum(word.tokens for word in only.words) == len(only.tokens)
    scored = [word.log_probability for word in only.words if word.log_probability is not None]
    first = [] if only.words[0].log_probability is not None else only.tokens[1 : only.words[0].tokens]
    rest = sum(token.log_probability for token in first)
    assert sum(scored) + rest == pytest.approx(only.log_probability)


def test_texts_together_are_scored_as_each_alone(causal):
    texts = [TEXT, "the cat", "a dog walks home, he is happy"]
    for one, text in zip(score_texts(causal, texts), texts, strict=True):
        assert one.log_probability == pytest.approx(score_text(causal, text).log_probability, abs=1e-4)


def test_minimal_pairs_equal_a_plain_pass():
    model = causal_models.stories()
    flat = [sentence for pair in PAIRS for sentence in pair]
    ours = [score.log_probability for score in score_texts(model, flat)]
    expected = [sum(expected_from_left(model, sentence)) for sentence in flat]
    assert ours == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no text"),
        (" \n", "no text"),
        ("a\0b", "control"),
        ("cat " * 5000, r"5,0\d\d tokens, and tiny .* reads at most 48|at most 20,000 are read"),
    ],
)
def test_bad_texts_are_refused(text, says):
    with pytest.raises(UnsuitableText, match=says):
        score_text(causal_models.bert_decoder(), text)


def test_one_token_needs_a_start():
    assert score_text(causal_models.bert_decoder(), "cat").token_count == 1
    model = causal_models.openai_gpt()
    with pytest.raises(UnsuitableText, match="is one token"):
        score_text(model, "Paris")


def test_unknown_words_are_said():
    [_, remark] = score_text(causal_models.bert_decoder(), "the zebra").remarks
    assert "zebra" in remark and "[UNK]" in remark


def test_masks_are_refused_and_so_are_unfit_models_and_protocols(bert):
    with pytest.raises(UnsuitableText, match="has a mask"):
        score_text(bert, "the [MASK] is")
    with pytest.raises(UnsuitableModel, match="one_masked, word_masked"):
        score_text(bert, "the cat", protocol="left_to_right")
    with pytest.raises(UnsuitableText, match="no protocol"):
        score_text(bert, "the cat", protocol="guess")
    with pytest.raises(UnsuitableModel, match="how likely a text is"):
        score_text(objective_models.mini("span"), "the dog")
    with pytest.raises(UnsuitableText, match="Text 2: There is no text"):
        score_texts(bert, ["the cat", ""])
