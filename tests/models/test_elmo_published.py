"""The published file format of ELMo: what its numbers mean, conversion, and bad files."""

import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from explorer.errors import ModelRefused, ModelUnavailable
from explorer.models.elmo import ElmoModel, load_elmo
from explorer.models.elmo_published import expected_shapes, gates_for_torch, read_options
from explorer.models.elmo_tokenizer import ElmoTokenizer

h5py = pytest.importorskip("h5py", reason="the published format is HDF5: pip install h5py")

OPTIONS = {
    "lstm": {
        "cell_clip": 0.5,
        "proj_clip": 0.2,
        "use_skip_connections": True,
        "n_layers": 2,
        "projection_dim": 3,
        "dim": 5,
    },
    "char_cnn": {
        "embedding": {"dim": 4},
        "filters": [[1, 2], [3, 5]],
        "n_highway": 1,
        "n_characters": 262,
        "max_characters_per_token": 50,
        "activation": "relu",
    },
}


def write_options(folder: Path, options: object = OPTIONS) -> None:
    (folder / "tiny_options.json").write_text(json.dumps(options))


def write_weights(folder: Path, seed: int = 0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    shapes = expected_shapes(read_options(folder / "tiny_options.json"))
    arrays = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    with h5py.File(folder / "tiny_weights.hdf5", "w") as file:
        for name, array in arrays.items():
            file[name] = array
    return arrays


@pytest.fixture
def published(tmp_path: Path) -> Path:
    write_options(tmp_path)
    write_weights(tmp_path)
    return tmp_path


def top_layer(network: ElmoModel) -> torch.Tensor:
    with torch.no_grad():
        return network(**ElmoTokenizer()(["A test"], return_tensors="pt")).last_hidden_state


# Against numpy


def test_gates_are_put_in_the_order_of_torch():
    assert gates_for_torch(np.array([[1, 2, 3, 4, 5, 6, 7, 8.0]])).tolist() == [[1, 2, 5, 6, 3, 4, 7, 8]]


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def read_with_numpy(arrays: dict[str, np.ndarray], words: list[str]) -> list[np.ndarray]:
    """The three layers of one sentence, straight from the file's names, with the clipping and skips of OPTIONS."""
    marks = [[256], *[list(word.encode()) for word in words], [257]]
    spelled = np.array([([258, *mark, 259] + [260] * 50)[:50] for mark in marks])
    characters = arrays["char_embed"][spelled]
    features = []
    for k, (width, _) in enumerate(OPTIONS["char_cnn"]["filters"]):
        windows = np.stack([characters[:, t : t + width] for t in range(51 - width)], axis=1)
        features.append(
            np.einsum("ntwd,wdk->ntk", windows, arrays[f"CNN/W_cnn_{k}"][0]).max(1) + arrays[f"CNN/b_cnn_{k}"]
        )
    x = np.maximum(np.concatenate(features, axis=-1), 0)
    gate = sigmoid(x @ arrays["CNN_high_0/W_carry"] + arrays["CNN_high_0/b_carry"])
    turned = np.maximum(x @ arrays["CNN_high_0/W_transform"] + arrays["CNN_high_0/b_transform"], 0)
    x = (gate * turned + (1 - gate) * x) @ arrays["CNN_proj/W_proj"] + arrays["CNN_proj/b_proj"]
    layers = [[x], [x]]
    for direction, way in enumerate((1, -1)):
        for k in range(2):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{k}/LSTMCell"
            h, c, outputs = np.zeros(3), np.zeros(5), []
            for step in layers[direction][-1][::way]:
                gates = np.concatenate([step, h]) @ arrays[f"{cell}/W_0"] + arrays[f"{cell}/B"]
                i, new, forget, o = np.split(gates, 4)
                c = np.clip(sigmoid(forget + 1) * c + sigmoid(i) * np.tanh(new), -0.5, 0.5)
                h = np.clip((sigmoid(o) * np.tanh(c)) @ arrays[f"{cell}/W_P_0"], -0.2, 0.2)
                outputs.append(h + step if k else h)
            layers[direction].append(np.array(outputs[::way]))
    return [np.concatenate(pair, axis=-1)[1:-1] for pair in zip(*layers, strict=True)]


def test_published_files_mean_what_numpy_reads_in_them(tmp_path):
    write_options(tmp_path)
    arrays = write_weights(tmp_path)
    network, tokenizer = load_elmo(tmp_path)
    words = ["Don", "'t", "panic", ",", "Zoë"]
    with torch.no_grad():
        output = network(**tokenizer([words], is_split_into_words=True, return_tensors="pt"))
    expected = read_with_numpy(arrays, words)
    assert np.isclose(np.abs(expected[1]), 0.2).any(), "the test should reach the clipping"
    assert [layer.shape for layer in output.hidden_states] == [(1, 5, 6)] * 3
    for found, layer in zip(output.hidden_states, expected, strict=True):
        np.testing.assert_allclose(found[0], layer, atol=1e-5)
    assert torch.equal(output.last_hidden_state, output.hidden_states[-1])


# Conversion


def test_converted_once_then_read_without_h5py(published, monkeypatch):
    network, tokenizer = load_elmo(published)
    assert not network.training and network.dtype == torch.float32 and tokenizer.max_characters == 50
    assert sorted(path.name for path in published.iterdir()) == [
        "config.json",
        "model.safetensors",
        "tiny_options.json",
        "tiny_weights.hdf5",
    ]
    monkeypatch.setitem(sys.modules, "h5py", None)
    again, _ = load_elmo(published)
    assert torch.equal(top_layer(network), top_layer(again))


def test_newer_download_is_converted_again(published):
    before, _ = load_elmo(published)
    write_weights(published, seed=1)
    later = max(path.stat().st_mtime for path in published.iterdir()) + 1
    os.utime(published / "tiny_weights.hdf5", (later, later))
    after, _ = load_elmo(published)
    assert not torch.allclose(before.forward_layers[0].weight_ih_l0, after.forward_layers[0].weight_ih_l0)


def test_folder_that_cannot_be_written_still_loads(published, caplog):
    (published / "config.json").mkdir()
    network, _ = load_elmo(published)
    assert top_layer(network).shape == (1, 2, 6)
    assert "was not converted" in caplog.text
    assert not list(published.glob(".converting*"))


# Bad files


def test_h5py_missing_is_said(published, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ModelUnavailable, match="pip install h5py"):
        load_elmo(published)


@pytest.mark.parametrize("name", ["tiny_options.json", "tiny_weights.hdf5"])
def test_missing_file_is_named(published, name):
    (published / name).unlink()
    with pytest.raises(ModelUnavailable, match=rf"no file \*{name.removeprefix('tiny_')}"):
        load_elmo(published)


def test_two_models_in_a_folder_are_refused(published):
    shutil.copy(published / "tiny_weights.hdf5", published / "other_weights.hdf5")
    with pytest.raises(ModelRefused, match="other_weights.hdf5, tiny_weights.hdf5"):
        load_elmo(published)


def changed(part: str, **values: object) -> dict:
    return OPTIONS | {part: OPTIONS[part] | values}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lstm": OPTIONS["lstm"]}, "lacks 'char_cnn'"),
        ([], "character-based ELMo"),
        (changed("lstm", dim="wide"), "invalid literal"),
        (changed("lstm", dim=3), "not smaller than the LSTM"),
        (changed("lstm", n_layers=10**9), "more than 64 layers"),
        (changed("char_cnn", n_characters=300), "alphabet of 300"),
        (changed("char_cnn", activation="gelu"), "'gelu'"),
        (changed("char_cnn", filters=[]), "no filters"),
        (changed("char_cnn", filters=[[0, 4]]), "below 1"),
        (changed("char_cnn", filters=[[51, 4]]), "shorter than its filters"),
    ],
)
def test_bad_options_are_refused(published, options, message):
    write_options(published, options)
    with pytest.raises(ModelRefused, match=message):
        load_elmo(published)


def test_options_that_are_not_json_are_refused(published):
    (published / "tiny_options.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(ModelRefused, match="tiny_options.json"):
        load_elmo(published)


def test_weights_of_other_shapes_are_refused(published):
    write_options(published, changed("lstm", dim=6))
    with pytest.raises(
        ModelRefused, match=r"W_0 in tiny_weights.hdf5 is float32 \[6, 20\], the options say float \[6, 24\]"
    ):
        load_elmo(published)


def test_model_above_the_limit_is_refused(published):
    write_options(published, changed("lstm", dim=10**9))
    with pytest.raises(ModelRefused, match="the limit is 6 GiB"):
        load_elmo(published)


@pytest.mark.parametrize("kept", [0, 100, 0.5, 0.99])
def test_truncated_weights_are_refused(published, kept):
    path = published / "tiny_weights.hdf5"
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content)) if isinstance(kept, float) else kept])
    with pytest.raises(ModelRefused, match="cut short"):
        load_elmo(published)
    assert not (published / "config.json").exists()


def test_weights_that_lie_in_another_file_are_refused(published, tmp_path_factory):
    other = tmp_path_factory.mktemp("elsewhere") / "secret.hdf5"
    with h5py.File(other, "w") as file:
        file["numbers"] = np.zeros((261, 4), dtype=np.float32)
    with h5py.File(published / "tiny_weights.hdf5", "a") as file:
        del file["char_embed"]
        file["char_embed"] = h5py.ExternalLink(str(other), "numbers")
    with pytest.raises(ModelRefused, match="lacks the weights char_embed"):
        load_elmo(published)
    with h5py.File(published / "tiny_weights.hdf5", "a") as file:
        del file["char_embed"]
        layout = h5py.VirtualLayout(shape=(261, 4), dtype=np.float32)
        layout[:] = h5py.VirtualSource(str(other), "numbers", shape=(261, 4))
        file.create_virtual_dataset("char_embed", layout)
    with pytest.raises(ModelRefused, match="points to another file"):
        load_elmo(published)


def test_damaged_conversion_is_refused(published):
    load_elmo(published)
    weights = published / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    with pytest.raises(ModelRefused, match=r"Delete config.json and model.safetensors"):
        load_elmo(published)
