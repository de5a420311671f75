"""What training added: rounded within its bound, added back exactly, and refused when damaged."""

import shutil
from functools import partial

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertForMaskedLM

from explorer.analysis import fill_blanks
from explorer.errors import ModelRefused
from explorer.models.card import Ability, Bundled
from explorer.models.catalogue import CATALOGUE
from explorer.models.delta import FILE, apply_delta, dequantize, quantize, write_delta
from explorer.settings import ASSETS
from tests.models.conftest import tiny_bert

EMBEDDINGS = "bert.embeddings.word_embeddings.weight"
QUERY = "bert.encoder.layer.0.attention.self.query.weight"
SHIPPED = [
    card
    for card in CATALOGUE
    if isinstance(card.source, Bundled) and card.source.base and Ability.FILL_BLANKS in card.abilities
]
LARGEST_BYTES = 12_000_000


def make_network(seed: int = 0) -> BertForMaskedLM:
    torch.manual_seed(seed)
    return BertForMaskedLM(tiny_bert(BertConfig))


def copy_weights(network: BertForMaskedLM) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in network.named_parameters()}


@pytest.fixture
def trained() -> BertForMaskedLM:
    """A network of which every weight differs from make_network's."""
    network = make_network()
    torch.manual_seed(1)
    with torch.no_grad():
        for value in network.parameters():
            value += 0.01 * torch.randn_like(value)
    return network


def test_rounding_is_off_by_at_most_half_a_level():
    torch.manual_seed(0)
    change = torch.randn(40, 300) * torch.logspace(-6, 3, 40)[:, None]
    levels, scale = quantize(change)
    assert levels.dtype == torch.int8
    assert levels.abs().amax(dim=1).eq(127).all()  # each row uses the whole range
    error = (levels.double() * scale.double()[:, None] - change.double()).abs()
    assert (error <= 0.5 * scale.double()[:, None] * (1 + 1e-5)).all()
    assert torch.allclose(scale, change.abs().amax(dim=1) / 127)


def test_rounding_nothing_gives_nothing():
    levels, scale = quantize(torch.zeros(2, 3))
    assert not levels.any()
    assert (scale > 0).all() and scale.isfinite().all()
    assert not dequantize(*quantize(torch.zeros(2, 64), bits=4)).any()


def test_four_bits_are_off_by_at_most_half_a_level_of_their_group():
    torch.manual_seed(0)
    weight = torch.randn(40, 96) * torch.logspace(-3, 3, 40)[:, None]
    levels, scale = quantize(weight, bits=4)
    assert levels.dtype == torch.uint8 and levels.shape == (40, 48) and scale.shape == (40, 3)
    error = (dequantize(levels, scale) - weight).abs().view(40, 3, 32)
    largest = weight.abs().view(40, 3, 32).amax(dim=2, keepdim=True)
    assert (error <= largest / 7 * (0.5 + 7 * 2**-10)).all()  # the scale itself is rounded to half precision
    restored = dequantize(*quantize(weight[:, :40], bits=4))  # no whole groups: 8 bits instead
    assert ((restored - weight[:, :40]).abs() <= 0.51 * weight[:, :40].abs().amax(dim=1, keepdim=True) / 127).all()


def test_a_delta_makes_the_trained_network_again(trained, tmp_path):
    base = copy_weights(make_network())
    size = write_delta(trained, base, tmp_path / "delta")
    assert size == (tmp_path / "delta" / FILE).stat().st_size
    assert [path.name for path in (tmp_path / "delta").iterdir()] == [FILE]
    network = make_network()
    apply_delta(network, tmp_path / "delta")
    for (name, made), wanted in zip(network.named_parameters(), trained.parameters(), strict=True):
        if wanted.ndim == 2:
            bound = 0.5 * (wanted - base[name]).abs().amax(dim=1, keepdim=True) / 127
            assert ((made - wanted).abs() <= bound + 1e-7).all(), name
        else:
            assert torch.equal(made, wanted), name


def test_what_did_not_change_is_not_stored(tmp_path):
    network, base = make_network(), copy_weights(make_network())
    with torch.no_grad():
        network.get_parameter(QUERY)[2, 3] += 1
        network.cls.predictions.bias[4] += 1
    write_delta(network, base, tmp_path)
    assert set(load_file(tmp_path / FILE)) == {
        f"{QUERY}.rows",
        f"{QUERY}.change",
        f"{QUERY}.scale",
        "cls.predictions.bias",
    }
    write_delta(make_network(), base, tmp_path)
    assert load_file(tmp_path / FILE) == {}


def test_single_rows_are_stored_alone(tmp_path):
    """As when only the embedding of the mask token was trained."""
    trained, base = make_network(), copy_weights(make_network())
    with torch.no_grad():
        trained.get_parameter(EMBEDDINGS)[4] += torch.linspace(-1, 1, 32)
    write_delta(trained, base, tmp_path)
    stored = load_file(tmp_path / FILE)
    assert stored[f"{EMBEDDINGS}.rows"].tolist() == [4]
    assert stored[f"{EMBEDDINGS}.change"].shape == (1, 32)
    network = make_network()
    apply_delta(network, tmp_path)
    for name, made in network.named_parameters():
        if name == EMBEDDINGS:
            assert torch.equal(made[:4], base[name][:4]) and torch.equal(made[5:], base[name][5:])
            assert torch.allclose(made[4], trained.get_parameter(name)[4], atol=0.5 / 127 + 1e-6)
        else:
            assert torch.equal(made, base[name])


def test_tied_weights_are_stored_and_changed_once(tmp_path):
    trained, base = make_network(), copy_weights(make_network())
    with torch.no_grad():
        trained.cls.predictions.decoder.weight += 0.5
    write_delta(trained, base, tmp_path)
    assert set(load_file(tmp_path / FILE)) == {f"{EMBEDDINGS}.change", f"{EMBEDDINGS}.scale"}
    network = make_network()
    apply_delta(network, tmp_path)
    assert network.cls.predictions.decoder.weight is network.get_parameter(EMBEDDINGS)
    assert torch.allclose(network.get_parameter(EMBEDDINGS), base[EMBEDDINGS] + 0.5, atol=1e-6)


def test_weights_that_the_base_lacks_are_stored_themselves(trained, tmp_path):
    base = {name: value for name, value in copy_weights(make_network()).items() if name.startswith("bert.")}
    write_delta(trained, base, tmp_path)
    stored = load_file(tmp_path / FILE)
    assert stored["cls.predictions.transform.dense.weight"].dtype == torch.float32  # small, so as it is
    assert stored["cls.predictions.transform.LayerNorm.weight"].dtype == torch.float32
    network = make_network(seed=9)
    apply_delta(network, tmp_path)
    for name, wanted in trained.named_parameters():
        if name.startswith("cls."):
            assert torch.allclose(network.get_parameter(name), wanted, rtol=2**-8, atol=0), name


def test_thin_matrices_are_multiplied(tmp_path):
    torch.manual_seed(3)
    up, down = torch.randn(32, 4), torch.randn(4, 32)
    save_file({f"{QUERY}.up": up.bfloat16(), f"{QUERY}.down": down.bfloat16()}, tmp_path / FILE)
    network, base = make_network(), copy_weights(make_network())
    apply_delta(network, tmp_path)
    change = network.get_parameter(QUERY) - base.pop(QUERY)
    assert torch.allclose(change, up.bfloat16().float() @ down.bfloat16().float(), atol=1e-5)
    assert all(torch.equal(network.get_parameter(name), value) for name, value in base.items())


def test_a_network_in_bfloat16_takes_a_delta(trained, tmp_path):
    write_delta(trained, copy_weights(make_network()), tmp_path)
    network = make_network().bfloat16()
    apply_delta(network, tmp_path)
    for made, wanted in zip(network.parameters(), trained.parameters(), strict=True):
        assert made.dtype == torch.bfloat16
        assert torch.allclose(made.float(), wanted, rtol=2**-7, atol=1e-3)


@pytest.mark.parametrize(
    "damage",
    [
        lambda stored: stored.pop(f"{QUERY}.scale"),
        lambda stored: stored.update({f"{QUERY}.scale": torch.ones(31)}),
        lambda stored: stored.update({f"{QUERY}.scale": torch.ones(1)}),  # torch would stretch it
        lambda stored: stored.update({f"{QUERY}.rows": torch.tensor([0, 1])}),
        lambda stored: stored.update({f"{QUERY}.rows": torch.arange(32) + 5}),
        lambda stored: stored.update({f"{QUERY}.up": torch.ones(32, 4), f"{QUERY}.down": torch.ones(3, 32)}),
        lambda stored: stored.update({f"{QUERY}.up": torch.ones(32, 4)}),
        lambda stored: stored.update({"cls.predictions.bias": torch.ones(1)}),
        lambda stored: stored.update({"no.such.weight": torch.ones(3)}),
        lambda stored: stored.update({"no.such.weight.change": torch.ones(3, 3, dtype=torch.int8)}),
    ],
)
def test_a_delta_that_does_not_fit_is_refused(trained, tmp_path, damage):
    write_delta(trained, copy_weights(make_network()), tmp_path / "small")
    stored = load_file(tmp_path / "small" / FILE)
    damage(stored)
    save_file(stored, tmp_path / "small" / FILE)
    with pytest.raises(ModelRefused, match="bundled weights in small are missing or damaged; get a fresh copy"):
        apply_delta(make_network(), tmp_path / "small")


@pytest.mark.parametrize("kept_bytes", [0, 5, 100, -1, None])
def test_a_file_that_was_cut_or_is_missing_is_refused(trained, tmp_path, kept_bytes):
    write_delta(trained, copy_weights(make_network()), tmp_path / "small")
    path = tmp_path / "small" / FILE
    if kept_bytes is None:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:kept_bytes])
    with pytest.raises(ModelRefused, match="small are missing or damaged"):
        apply_delta(make_network(), tmp_path / "small")


@pytest.mark.parametrize("card", SHIPPED, ids=lambda card: card.name)
def test_what_is_shipped_is_small_and_finite(card):
    path = ASSETS / "models" / card.source.folder / FILE
    assert path.stat().st_size <= LARGEST_BYTES
    with safe_open(path, framework="pt") as stored:
        for name in stored.keys():  # noqa: SIM118 - not a mapping
            tensor = stored.get_tensor(name)
            assert tensor.dtype == torch.int8 or not tensor.is_floating_point() or tensor.isfinite().all(), name


@pytest.mark.parametrize("card", SHIPPED, ids=lambda card: card.name)
def test_what_is_shipped_fills_blanks(card, shipped_registry):
    expectations = {
        "She was one ___ the best players in the team.": {"of"},
        "He did not want ___ go.": {"to"},
        "There ___ two dogs in the garden.": {"are", "were"},
        "He was born ___ London.": {"in"},
    }
    for text, expected in expectations.items():
        fills = shipped_registry.run(card.name, partial(fill_blanks, text=text, top_k=10))
        (blank,) = fills.blanks
        probabilities = [choice.probability for choice in blank.choices]
        assert probabilities == sorted(probabilities, reverse=True)
        assert 0 < sum(probabilities) <= 1 + 1e-5
        assert blank.choices[0].text in expected
        assert blank.choices[0].probability > 0.4


def test_a_damaged_shipped_model_is_refused(tmp_path, monkeypatch, shipped_registry):
    card = SHIPPED[0]
    folder = tmp_path / "models" / card.source.folder
    shutil.copytree(ASSETS / "models" / card.source.folder, folder)
    (folder / FILE).write_bytes((folder / FILE).read_bytes()[:10_000])
    monkeypatch.setattr("explorer.models.folders.ASSETS", tmp_path)
    import explorer

    with pytest.raises(ModelRefused, match="get a fresh copy"):
        explorer.open_registry().run(card.name, partial(fill_blanks, text="The cat ___."))
