"""Small networks of every family, through the same door as the published models."""

import pytest
import torch

from explorer.models.card import Ability
from explorer.models.loading import load_model
from explorer.models.progress import ignore
from tests.models.families import FAMILIES, FINDS, SPANS, Family
from tests.models.small_models import make_card

TEXT = "The cat sat on the mat."
EAGER = {"deberta", "deberta-v2", "mpnet", "openai-gpt", "xlnet"}  # transformers has no faster attention for these
ENDLESS = {"deberta-v2", "llama", "modernbert", "t5", "xlnet"}  # relative positions: the limit is what was trained


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: f"{family.model_type}-{family.ability}")
def test_family(family: Family, tokenizers_folder, tmp_path):
    torch.manual_seed(0)
    tokenizer = family.tokenizer(tokenizers_folder)
    tokenizer.save_pretrained(tmp_path)
    config = family.config(len(tokenizer))
    for name, value in family.overrides:
        setattr(config, name, value)
    saved = family.saved_as(config).eval()
    saved.save_pretrained(tmp_path)
    for name, _ in family.overrides:  # the published configuration lacks them
        file = tmp_path / "config.json"
        file.write_text("".join(line for line in file.open() if f'"{name}"' not in line))
    card = make_card(
        tmp_path,
        model_type=family.model_type,
        abilities=frozenset({family.ability, Ability.EMBED}),
        config_overrides=family.overrides,
    )

    model = load_model(card, device="cpu", progress=ignore)

    assert type(model.network) is family.saved_as
    assert model.limit_tokens == family.limit_tokens
    assert model.network.dtype == torch.float32
    assert model.network.config._attn_implementation == ("eager" if family.model_type in EAGER else "explorer")
    assert model.tokenizer.get_vocab() == tokenizer.get_vocab()
    ids = model.tokenizer(TEXT, return_tensors="pt").input_ids
    assert 5 < ids.shape[1] < 40
    inputs = {"input_ids": ids}
    if family.ability is SPANS:
        inputs["decoder_input_ids"] = torch.tensor([[0, 5]])
    with torch.inference_mode():
        output, expected = model.network(**inputs)[0], saved(**inputs)[0]
    torch.testing.assert_close(output, expected)  # no weight was made up
    length = 2 if family.ability is SPANS else ids.shape[1]
    last = {FINDS: (), Ability.EMBED: (32,)}.get(family.ability, (config.vocab_size,))
    assert output.shape == (1, length, *last)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: f"{family.model_type}-{family.ability}")
def test_the_limit_is_what_the_network_bears(family: Family):
    network = family.saved_as(family.config(20)).eval()
    decoder = {"decoder_input_ids": torch.tensor([[0]])} if family.ability is SPANS else {}
    with torch.inference_mode():
        assert network(torch.full((1, family.limit_tokens), 5), **decoder)[0].isfinite().all()
        if family.model_type not in ENDLESS:
            with pytest.raises((IndexError, RuntimeError)):
                network(torch.full((1, family.limit_tokens + 1), 5), **decoder)


def test_a_really_trained_model_writes_stories(stories_folder):
    card = make_card(stories_folder, model_type="llama", abilities=frozenset({Ability.GENERATE, Ability.EMBED}))
    model = load_model(card, device="cpu", progress=ignore)
    assert type(model.network).__name__ == "LlamaForCausalLM"
    assert model.limit_tokens == 512
    ids = model.tokenizer("Once upon a time, there was a little", return_tensors="pt").input_ids
    with torch.inference_mode():
        written = model.network.generate(ids, max_new_tokens=12, do_sample=False)
    assert model.tokenizer.decode(written[0], skip_special_tokens=True).startswith(
        "Once upon a time, there was a little girl named"
    )
