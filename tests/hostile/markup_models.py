"""Models whose tokens are markup, in folders: a masked one, and one that writes."""

from pathlib import Path

TOKENS = (
    "<img/src=x/onerror=window.broken=1>", "</script><script>window.broken=1</script>", "</style></textarea></title>",
    "\"onmouseover=window.broken=1/x=\"", "'onfocus=window.broken=1/autofocus/x='", "<svg/onload=window.broken=1>",
    "${window.broken=1}", "{{window.broken=1}}", "[a](javascript:window.broken=1)", "<iframe/srcdoc=a>", "<!--", "]]>",
    "&lt;b&gt;", "$\\href{javascript:window.broken=1}{x}$",
)  # fmt: skip
VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "play", *TOKENS)
MASKED, WRITER = "masked", "<b>writer"


def make_markup_models(folder: Path) -> None:
    """Write both beneath a folder, as save_pretrained does."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    ids = {token: index for index, token in enumerate(VOCABULARY)}
    words = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    words.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    special = {f"{name.lower()}_token": f"[{name}]" for name in ("PAD", "UNK", "CLS", "SEP", "MASK")}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, **special)
    torch.manual_seed(0)
    size = {"vocab_size": len(VOCABULARY), "pad_token_id": 0}
    bert = BertConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, **size)
    gpt = GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=128, bos_token_id=2, eos_token_id=3, **size)
    for name, network in ((MASKED, BertForMaskedLM(bert)), (WRITER, GPT2LMHeadModel(gpt))):
        network.save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
