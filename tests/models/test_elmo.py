"""ELMo against what TensorFlow computed, by hand, and as a transformers model."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModel

from explorer.errors import ModelRefused
from explorer.models.elmo import ElmoConfig, ElmoModel, load_elmo
from explorer.models.elmo_layers import ProjectedLstm, reverse_rows
from explorer.models.elmo_tokenizer import ElmoTokenizer

ROOT = Path(__file__).parents[2]
FIXTURE = ROOT / os.environ.get("EXPLORER_EVAL_DATA", "../shared/eval") / "elmo_fixture"
TINY = {"projection_dim": 6, "lstm_dim": 8, "filters": ((1, 4), (2, 5)), "character_dim": 3, "n_highways": 1}


def tiny_model(**changes: object) -> ElmoModel:
    torch.manual_seed(0)
    return ElmoModel(ElmoConfig(**TINY | changes)).eval()


def vectors(network: ElmoModel, texts: list[str], **options: object) -> tuple[torch.Tensor, ...]:
    with torch.no_grad():
        return network(**ElmoTokenizer()(texts, padding=True, return_tensors="pt"), **options).hidden_states


# Against what TensorFlow computed


@pytest.fixture(scope="module")
def fixture_model(tmp_path_factory: pytest.TempPathFactory) -> tuple[ElmoModel, ElmoTokenizer]:
    pytest.importorskip("h5py", reason="the published format is HDF5: pip install h5py")
    if not FIXTURE.is_dir():
        pytest.skip(f"the ELMo fixture is not at {FIXTURE} (set EXPLORER_EVAL_DATA)")
    folder = tmp_path_factory.mktemp("elmo")
    for name in ("options.json", "lm_weights.hdf5"):
        shutil.copy(FIXTURE / name, folder / name)
    return load_elmo(folder)


def fixture_batches() -> list[tuple[list[list[str]], list[np.ndarray]]]:
    """Ten batches of three sentences, one from each file, with the expected top layer [token, dim]."""
    import h5py  # not needed by the rest of this file

    sentences = json.loads((FIXTURE / "lm_embeddings_sentences.json").read_text())
    batches = []
    for batch in range(10):
        expected = []
        for row in range(3):
            with h5py.File(FIXTURE / f"lm_embeddings_{row}.hdf5") as file:
                expected.append(np.concatenate(list(file[str(batch)][...]), axis=-1))
        batches.append(([sentences[row][batch].split() for row in range(3)], expected))
    return batches


def test_fixture_with_the_state_carried_from_batch_to_batch(fixture_model):
    network, tokenizer = fixture_model
    state = None
    for words, expected in fixture_batches():
        encoded = tokenizer(words, is_split_into_words=True, padding=True, return_tensors="pt")
        with torch.no_grad():
            output = network(**encoded, stateful=True, state=state)
        state = output.state
        for row, layer in enumerate(expected):
            found = output.last_hidden_state[row, : len(layer)].numpy()
            np.testing.assert_allclose(found, layer, atol=1e-5)


def test_without_state_the_same_text_has_the_same_vectors(fixture_model):
    network, tokenizer = fixture_model
    (first, expected), (second, _) = fixture_batches()[:2]
    for words in (second, first):  # nothing of the second batch is left when the first is read
        encoded = tokenizer(words, is_split_into_words=True, padding=True, return_tensors="pt")
        with torch.no_grad():
            output = network(**encoded)
    assert output.state is None
    for row, layer in enumerate(expected):
        np.testing.assert_allclose(output.last_hidden_state[row, : len(layer)], layer, atol=1e-5)


# By hand


def test_cell_of_constants_by_hand():
    layer = ProjectedLstm(1, 2, 1, cell_clip=3.0, projection_clip=1.5)
    with torch.no_grad():
        for weights in layer.parameters():
            weights.zero_()
        layer.bias_ih_l0.fill_(100.0)  # all gates open: c grows by 1 a token, 1 2 3 and then 3 for ever
        layer.weight_hr_l0[:] = torch.tensor([[1.0, 0.5]])  # h = 1.5 tanh(c)
        h, (_, c) = layer(torch.zeros(1, 5, 1), torch.tensor([5]), None, True)
        layer.projection_clip = 1.2
        clipped, _ = layer(torch.zeros(1, 5, 1), torch.tensor([5]), None, False)
    expected = 1.5 * np.tanh([1, 2, 3, 3, 3])
    np.testing.assert_allclose(h[0, :, 0], expected, atol=1e-6)
    np.testing.assert_allclose(c, [[3.0, 3.0]])
    np.testing.assert_allclose(clipped[0, :, 0], np.minimum(expected, 1.2), atol=1e-6)


def test_skip_connection_adds_the_input_of_the_upper_layer():
    for skip in (True, False):
        network = tiny_model(use_skip_connections=skip)
        with torch.no_grad():
            network.forward_layers[1].weight_hr_l0.zero_()  # the upper forward LSTM says nothing itself
        _, lower, upper = vectors(network, ["A small test"])
        assert torch.equal(upper[..., :6], lower[..., :6] if skip else torch.zeros_like(lower[..., :6]))


def test_fast_kernel_and_written_out_recurrence_agree():
    layer = tiny_model(cell_clip=None, projection_clip=None).forward_layers[0]
    x, lengths = torch.randn(3, 7, 6), torch.tensor([7, 4, 1])
    with torch.no_grad():
        fast, nothing = layer(x, lengths, None, False)
        slow, (h, c) = layer(x, lengths, None, True)
    assert nothing is None
    for row, length in enumerate(lengths):  # the state is that of the row's own end
        torch.testing.assert_close(fast[row, :length], slow[row, :length], atol=1e-6, rtol=0)
        assert torch.equal(h[row], slow[row, length - 1])


# Rows, padding, state


@pytest.mark.parametrize("clip", [3.0, 0.05, None])
def test_padded_rows_equal_rows_alone(clip):
    network = tiny_model(cell_clip=clip, projection_clip=clip)
    texts = ["One", "A much longer row of words, with marks.", "", "Two words"]
    together = vectors(network, texts)
    for row, text in enumerate(texts):
        alone = vectors(network, [text])
        length = alone[0].shape[1]
        for padded, single in zip(together, alone, strict=True):
            torch.testing.assert_close(padded[row, :length], single[0], atol=1e-6, rtol=0)
            assert not padded[row, length:].any()


def test_mask_is_found_from_the_ids_when_it_is_not_given():
    network, encoded = tiny_model(), ElmoTokenizer()(["One", "Two words"], padding=True, return_tensors="pt")
    with torch.no_grad():
        assert torch.equal(network(encoded["input_ids"]).last_hidden_state, network(**encoded).last_hidden_state)


def test_reverse_rows_leaves_padding_in_place():
    x = torch.tensor([[[1.0], [2.0], [3.0]], [[4.0], [5.0], [0.0]]])
    assert reverse_rows(x, torch.tensor([3, 2])).squeeze(-1).tolist() == [[3, 2, 1], [5, 4, 0]]


def test_state_continues_and_padding_does_not_disturb_it():
    network, tokenizer = tiny_model(), ElmoTokenizer()
    with torch.no_grad():
        padded = network(**tokenizer(["One", "Two longer words"], padding=True, return_tensors="pt"), stateful=True)
        alone = network(**tokenizer(["One"], return_tensors="pt"), stateful=True)
        fresh = network(**tokenizer(["One"], return_tensors="pt")).last_hidden_state
        carried = network(**tokenizer(["One"], return_tensors="pt"), state=alone.state).last_hidden_state
    assert len(alone.state) == 4  # two layers in each direction
    for (h, c), (h_alone, c_alone) in zip(padded.state, alone.state, strict=True):
        torch.testing.assert_close((h[:1], c[:1]), (h_alone, c_alone), atol=1e-6, rtol=0)
    assert torch.equal(fresh, alone.last_hidden_state)
    assert not torch.allclose(fresh, carried)


def test_bad_arguments_are_named():
    network, encoded = tiny_model(), ElmoTokenizer()(["One", "Two words"], padding=True, return_tensors="pt")
    with pytest.raises(ValueError, match="pad on the right"):
        network(encoded["input_ids"], torch.tensor([[0, 1], [1, 1]]))
    with pytest.raises(ValueError, match="3 axes"):
        network(encoded["input_ids"][0])
    state = network(**encoded, stateful=True).state
    with pytest.raises(ValueError, match="another number of rows"):
        network(encoded["input_ids"][:1], state=state)


def test_outputs_as_transformers_models_give_them():
    network, encoded = tiny_model(), ElmoTokenizer()(["Two words"], return_tensors="pt")
    assert network(**encoded, output_hidden_states=False).hidden_states is None
    last, layers = network(**encoded, return_dict=False)
    assert last.shape == (1, 2, 12) and len(layers) == 3
    assert network.config.hidden_size == 12 and network.get_input_embeddings().weight.shape == (262, 3)


# A network from nothing


def test_new_network_starts_as_it_should():
    network = tiny_model()
    layer = network.backward_layers[1]
    assert layer.bias_ih_l0.tolist() == [0.0] * 8 + [1.0] * 8 + [0.0] * 16
    assert (network.words.highways[0].carry.bias == -2).all()
    assert not network.words.embedding.weight[0].any()
    assert network.words.embedding.weight.abs().mean() > 0.4


@pytest.mark.parametrize("clip", [3.0, None])
def test_network_over_tokens_sets_marks_and_learns(clip):
    sizes = {"projection_dim": 6, "lstm_dim": 8, "cell_clip": clip, "projection_clip": clip}
    network = ElmoModel(ElmoConfig(input="tokens", vocab_size=11, bos_token_id=1, eos_token_id=2, **sizes))
    ids, mask = torch.tensor([[5, 6, 7], [8, 0, 0]]), torch.tensor([[1, 1, 1], [1, 0, 0]])
    assert network.add_marks(ids, mask.sum(1)).tolist() == [[1, 5, 6, 7, 2], [1, 8, 2, 0, 0]]
    output = network(ids, mask)
    assert output.last_hidden_state.shape == (2, 3, 12)
    alone = network(ids[1:, :1]).last_hidden_state
    torch.testing.assert_close(output.last_hidden_state[1:, :1], alone, atol=1e-6, rtol=0)
    output.last_hidden_state.square().sum().backward()
    silent = [name for name, weights in network.named_parameters() if weights.grad is None or not weights.grad.any()]
    assert not silent
    layers, _ = network.read(ids, mask.sum(1))  # as training reads packed rows: no marks added, none removed
    assert [layer.shape for layer in layers] == [(2, 3, 12)] * 3


def test_network_over_tokens_without_marks():
    network = ElmoModel(ElmoConfig(input="tokens", vocab_size=11, projection_dim=6, lstm_dim=8)).eval()
    ids = torch.tensor([[5, 6, 7]])
    layers, _ = network.read(ids, torch.tensor([3]))
    assert torch.equal(network(ids).last_hidden_state, layers[-1])


# Files in transformers' format


@pytest.mark.parametrize("changes", [{}, {"cell_clip": None, "projection_clip": None}])
def test_round_trip_through_auto_classes(tmp_path, changes):
    network = tiny_model(**changes)
    network.save_pretrained(tmp_path)
    config = AutoConfig.from_pretrained(tmp_path)
    again = AutoModel.from_pretrained(tmp_path).eval()
    assert type(config) is ElmoConfig and type(again) is ElmoModel
    for before, after in zip(vectors(network, ["A test"]), vectors(again, ["A test"]), strict=True):
        assert torch.equal(before, after)
    loaded, _ = load_elmo(tmp_path)
    assert torch.equal(vectors(loaded, ["A test"])[-1], vectors(network, ["A test"])[-1])


def test_conversion_of_another_model_is_refused(tmp_path):
    tiny_model(num_hidden_layers=1).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 2}))
    with pytest.raises(ModelRefused, match="do not fit its config.json"):
        load_elmo(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "bert"}))
    with pytest.raises(ModelRefused, match="is no ELMo over characters"):
        load_elmo(tmp_path)
    for damaged in (json.dumps(config | {"projection_dim": "wide"}), "[]", "{"):
        (tmp_path / "config.json").write_text(damaged)
        with pytest.raises(ModelRefused, match="damaged"):
            load_elmo(tmp_path)
