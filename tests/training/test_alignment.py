"""The closed-form start of a decoder's attention to its encoder."""

import pytest
import torch
from transformers import BertConfig, EncoderDecoderConfig

from explorer.analysis.corruption.sentinels import find_sentinels, pick_spans, replace_spans
from explorer.models.warm_start import build_on_encoder
from explorer.training.alignment import align_cross_attention
from explorer.training.spans import decode, encode, shift_right
from tests.training.tiny_networks import tiny_tokenizer

DIM, HEADS = 128, 2


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_tokenizer("span")


@pytest.fixture(scope="module")
def rows(tokenizer):
    """Made-up text of the vocabulary's own words."""
    words = torch.tensor(sorted(set(range(len(tokenizer))) - {*tokenizer.all_special_ids, *find_sentinels(tokenizer)}))
    return words[torch.randint(len(words), (400, 24), generator=torch.Generator().manual_seed(1))]


@pytest.fixture
def network(tokenizer):
    """Two BERTs of shared layers; the embeddings are large, so that a state tells which token it is of."""
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=DIM,
        num_hidden_layers=2,
        num_attention_heads=HEADS,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.1,
    )
    decoder = BertConfig.from_dict({**config.to_dict(), "is_decoder": True, "add_cross_attention": True})
    both = EncoderDecoderConfig.from_encoder_decoder_configs(config, decoder, pad_token_id=0)
    both.decoder_start_token_id = both.eos_token_id = tokenizer.eos_token_id
    network = build_on_encoder(both, {}).eval()
    with torch.no_grad():
        network.get_input_embeddings().weight.normal_(std=1.0, generator=torch.Generator().manual_seed(2))
    return network


def read_at(network, tokenizer, rows):
    """Where the last layer looks from each sentinel it is given, and where that stands: [row, span] both."""
    sentinels = torch.tensor(find_sentinels(tokenizer))
    picked = pick_spans(*rows.shape, share=0.25, mean_span_tokens=2.0, generator=torch.Generator().manual_seed(5))
    inputs, targets = replace_spans(rows, picked, sentinels)
    given = shift_right(targets, network.config.decoder_start_token_id)
    network.decoder.set_attn_implementation("eager")
    memory = encode(network, inputs)
    shown = network.decoder.bert(
        input_ids=given, encoder_hidden_states=memory, output_attentions=True, use_cache=False
    ).cross_attentions[-1]
    spans = int(torch.isin(inputs[0], sentinels).sum())
    asked = torch.isin(given, sentinels[:spans])
    looked = shown.mean(dim=1).argmax(dim=-1)[asked].view(len(rows), spans)
    stands = torch.isin(inputs, sentinels).nonzero()[:, 1].view(len(rows), spans)
    return looked, stands


@torch.no_grad()
def test_each_sentinel_is_looked_for_where_it_stands(network, tokenizer, rows):
    before, stands = read_at(network, tokenizer, rows[:40])
    align_cross_attention(network, tokenizer, rows)
    looked, stands = read_at(network, tokenizer, rows[:40])
    assert (looked == stands).float().mean() > 0.9
    assert (before == stands).float().mean() < 0.5


@torch.no_grad()
def test_what_is_read_there_is_what_the_encoder_made_of_it(network, tokenizer, rows):
    sentinels = torch.tensor(find_sentinels(tokenizer))
    picked = pick_spans(*rows[:40].shape, share=0.25, mean_span_tokens=2.0, generator=torch.Generator().manual_seed(5))
    inputs, targets = replace_spans(rows[:40], picked, sentinels)
    given = shift_right(targets, network.config.decoder_start_token_id)
    alike = []
    for aligned in (False, True):
        if aligned:
            align_cross_attention(network, tokenizer, rows)
        memory = encode(network, inputs)
        written = decode(network, memory, given)
        read = memory[torch.isin(inputs, sentinels)]
        spans = torch.isin(given, sentinels) & (given != sentinels[len(read) // len(given)])
        alike.append(torch.cosine_similarity(written[spans], read).mean().item())
    assert alike[1] > max(0.6, alike[0] + 0.3)


@torch.no_grad()
def test_only_the_attention_to_the_encoder_changes_and_the_seed_decides_it(network, tokenizer, rows):
    before = {name: weight.clone() for name, weight in network.named_parameters()}
    align_cross_attention(network, tokenizer, rows, seed=3)
    once = {name: weight.clone() for name, weight in network.named_parameters()}
    changed = {name for name, weight in once.items() if not torch.equal(weight, before[name])}
    assert changed
    assert all(".crossattention." in name for name in changed)
    align_cross_attention(network, tokenizer, rows, seed=3)
    assert all(torch.equal(weight, once[name]) for name, weight in network.named_parameters())
