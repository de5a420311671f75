"""The commands about pre-training objectives."""

import json


def test_compute_loss_prints_what_is_read_and_lost(explorer, folder):
    arguments = ["compute-loss", "The cat is in Paris.", "--model", folder, "--seed", "1"]
    status, out, _ = explorer(*arguments)
    assert status == 0
    assert "Reads:  [CLS]" in out and "Mean loss: " in out and "Model: tiny · masked · seed 1" in out
    status, out, _ = explorer(*arguments, "--objective", "whole_word", "--json")
    example = json.loads(out)
    assert status == 0 and example["objective"] == "whole_word"
    assert {answer["loss_nats"] > 0 for answer in example["answers"]} == {True}
    status, _, err = explorer(*arguments, "--objective", "causal")
    assert status == 1 and "was not trained so: Causal language model (GPT)" in err


def test_an_example_is_shown_by_a_tokenizer_alone_or_looked_for(explorer, folder):
    status, out, _ = explorer("show-objective", "The cat is in Paris.", "--other-text", "It sat.", "--model", folder)
    assert status == 0 and "Model: tiny · next_sentence" in out and "loss" not in out
    text = "The cat is in Paris. " * 6
    status, out, _ = explorer("find-telling-example", text, "--model", folder, "--json")
    example = json.loads(out)
    assert status == 0 and {"masked", "randomized", "unchanged"} <= {token["fate"] for token in example["tokens"]}
    status, _, err = explorer("find-telling-example", "A cat.", "-o", "span_masked", "--model", folder)
    assert status == 1 and "None of the next 500 rolls shows a span of three words or more in this text." in err
