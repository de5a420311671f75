"""Spans: the loss of transformers, and an exact match that means what it says."""

import pytest
import torch
from tokenizers import Tokenizer, decoders, models
from torch.nn import functional
from transformers import PreTrainedTokenizerFast

from explorer.analysis.corruption.sentinels import find_sentinels, pick_spans, replace_spans
from explorer.training import spans
from explorer.training.rows import edges, with_edges
from explorer.training.spans import SpanObjective, find_words, measure_spans
from tests.training.tiny_corpus import VOCABULARY
from tests.training.tiny_networks import learn, make_sampler, seeded, tiny_network, tiny_tokenizer

SEP = VOCABULARY.index("[SEP]")


@pytest.fixture(scope="module")
def span_tokenizer():
    return tiny_tokenizer("span")


@pytest.fixture(scope="module")
def trained(corpus, span_tokenizer):
    """A network that knows some of the language."""
    network = tiny_network("span")
    learn(SpanObjective(network, span_tokenizer), corpus, steps=50)
    return network


@pytest.fixture
def rows(corpus, span_tokenizer):
    return make_sampler(corpus, SpanObjective(tiny_network("span"), span_tokenizer)).draw(16, 24)


def test_the_loss_is_that_of_transformers(rows, span_tokenizer):
    network = tiny_network("span")
    task = SpanObjective(network, span_tokenizer, share=0.3, mean_span_tokens=2.0)
    loss, reported = task.loss(rows, 0.0, seeded())
    picked = pick_spans(*rows.shape, share=0.3, mean_span_tokens=2.0, generator=seeded())
    inputs, targets = replace_spans(rows, picked, torch.tensor(find_sentinels(span_tokenizer)))
    theirs = network(input_ids=with_edges(inputs, [], [SEP]), labels=with_edges(targets, [], [SEP])).loss
    assert loss.item() == reported == pytest.approx(theirs.item(), abs=1e-5)
    for weight in (network.get_input_embeddings().weight, network.encoder.block[0].layer[0].SelfAttention.q.weight):
        ours, reference = (torch.autograd.grad(value, weight, retain_graph=True)[0] for value in (loss, theirs))
        assert torch.allclose(ours, reference, atol=1e-5)


def test_rows_are_text_and_nothing_else(span_tokenizer):
    assert SpanObjective(tiny_network("span"), span_tokenizer).edges == ([], [])


@pytest.mark.parametrize(
    ("wrong_at", "exact_match"),
    [(None, 1.0), ("word", 0.0), ("end", 0.0)],
    ids=["all is right", "the word is wrong", "it does not end behind the word"],
)
def test_an_answer_is_right_if_it_is_the_word_and_then_ends(monkeypatch, rows, span_tokenizer, wrong_at, exact_match):
    network, size = tiny_network("span"), len(span_tokenizer)
    end = find_sentinels(span_tokenizer)[1]

    def know(network, memory, inputs):
        """Scores of a model that looks up what it will be asked."""
        answer = torch.cat([inputs[:, 1:], torch.full_like(inputs[:, :1], end)], dim=1)
        answer[:, {None: answer.shape[1], "word": 1, "end": -1}[wrong_at] :] = 0
        return 20.0 * functional.one_hot(answer, size)

    monkeypatch.setattr(spans, "decode", know)
    monkeypatch.setattr(spans, "head_inputs", lambda network, hidden: hidden)
    monkeypatch.setattr(network, "get_output_embeddings", lambda: lambda hidden: hidden)
    report = measure_spans(network, span_tokenizer, rows)
    assert (report.length_tokens, report.words, report.exact_match) == (25, 16, exact_match)
    assert report.loss_nats == pytest.approx(20.0 if wrong_at == "word" else 0.0, abs=1e-5)  # of words, not of the end


def test_a_right_answer_is_what_the_model_writes_greedily(trained, rows, span_tokenizer):
    before, after = edges(span_tokenizer)
    first, second = find_sentinels(span_tokenizer)[:2]
    right = []
    for seed, row in enumerate(rows):
        words = find_words(span_tokenizer, row.tolist())
        start, end = words[int(torch.randint(len(words), (), generator=seeded(seed)))]
        asked = [*before, *row[:start].tolist(), first, *row[end:].tolist(), *after]
        begun = torch.tensor([[trained.config.decoder_start_token_id, first]])
        written = trained.generate(
            torch.tensor([asked]), decoder_input_ids=begun, max_new_tokens=end - start + 1, do_sample=False
        )
        right.append(written[0, 2:].tolist() == [*row[start:end].tolist(), second])
        report = measure_spans(trained, span_tokenizer, row[None], seed=seed)
        assert (report.words, report.exact_match) == (1, float(right[-1]))
    assert 0 < sum(right) < len(right)


def test_measuring_depends_neither_on_the_batch_nor_on_the_mode(trained, rows, span_tokenizer):
    reports = []
    for batch_rows, training in ((64, True), (3, False)):
        trained.train(training)
        reports.append(measure_spans(trained, span_tokenizer, rows, batch_rows=batch_rows))
        assert trained.training is training
    assert reports[0].loss_nats == pytest.approx(reports[1].loss_nats, abs=1e-6)
    assert reports[0].exact_match == reports[1].exact_match


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ("the cat sat on it .", ["cat", "sat", "on", "it"]),  # neither the first nor the last
        ("##ing play ##ed cards is fun", ["cards", "is"]),  # a row that begins within a word loses the next one too
        ("the dog ' s 3rd un ##be ##liev ##able bone", ["dog", "s", "un ##be ##liev ##able"]),
        ("the a ##b ##c ##d ##e end of", ["end"]),  # five tokens are too many
        ("Ġthe Ġplay ing Ġcards , Ġsaid ĠAn na .", ["Ġplay ing", "Ġcards", "Ġsaid", "ĠAn na"]),
        ("Ġthe Ġdog 's Ġbone Ġ3 rd Ġnight ly .", ["Ġdog", "Ġbone", "Ġnight ly"]),
        ("Ġa Ġcaf Ã© Ġis Ġna Ã ¯ ve Ġto o", ["Ġcaf Ã©", "Ġis", "Ġna Ã ¯ ve"]),  # letters of more than a byte
        ("Ġa Ġdog ĠâĢľ yes âĢĿ Ġno âĢĶ but Ġend Ġit", ["Ġdog", "Ġend"]),  # and so are quotation marks and dashes
        (". , !", []),
        ("", []),
    ],
)
def test_words_are_made_of_letters_and_stand_inside_a_row(pieces, words):
    tokens = pieces.split()
    vocabulary = Tokenizer(models.WordLevel({token: id for id, token in enumerate(tokens)}))
    vocabulary.decoder = decoders.ByteLevel() if "Ġ" in pieces else decoders.WordPiece()
    found = find_words(PreTrainedTokenizerFast(tokenizer_object=vocabulary), list(range(len(tokens))))
    assert [" ".join(tokens[start:end]) for start, end in found] == words


def test_rows_without_a_word_are_left_out(span_tokenizer, rows):
    dots = torch.full_like(rows[:3], VOCABULARY.index("."))
    report = measure_spans(tiny_network("span"), span_tokenizer, torch.cat([rows, dots]))
    assert report.words == len(rows)
    nothing = measure_spans(tiny_network("span"), span_tokenizer, dots)
    assert (nothing.words, nothing.exact_match, nothing.loss_nats) == (0, 0.0, 0.0)
