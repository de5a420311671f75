"""How a tuned model is asked outside of this explorer, for its model card; importable without torch."""

from explorer.training.tuning.recipe import Recipe

ALL_TOKENS = "the mean of the vectors of all tokens, marks such as [CLS] among them"
LAST_TOKEN = "the vector of the last token"
FIRST_PIECES = "the vector of each word’s first token, one row of weights for each tag"
EACH_TOKEN = "the vector of each token: its first row tells where the answer starts, its second where it ends"
HEADLESS = (
    "`transformers` loads the network from this folder, but not the head of the task: classes such as "
    "`AutoModelForSequenceClassification` would put a new one with random weights in its place."
)
MIXED = (
    "That is taken in all layers, the input embeddings first, and mixed: layer-normalised, summed with the softmax of "
    "`mix.weights` as weights, and multiplied by `mix.gamma`."
)
CODE = """import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer

folder = "."  # this one
tokenizer, network = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
head = load_file(f"{{folder}}/head.safetensors")
given = tokenizer("A text of yours.", truncation=True, max_length={length}, return_tensors="pt")
with torch.inference_mode():
    layers = torch.stack(network(**given, output_hidden_states=True).hidden_states)[:, 0]  # [layer, token, dim]
vectors = {pooled}  # [layer, dim]
vector = {vector}
probabilities = (head["linear.weight"] @ vector + head["linear.bias"]).softmax(dim=0)
print(dict(zip({labels}, probabilities.tolist())))
"""
LAST_LAYER = "vectors[-1]"
MIX = (
    'head["mix.gamma"] * (\n'
    '    head["mix.weights"].softmax(dim=0) @ torch.nn.functional.layer_norm(vectors, vectors.shape[-1:])\n)'
)
POOLED = {ALL_TOKENS: "layers.mean(dim=1)", LAST_TOKEN: "layers[:, -1]"}


def asking_words(
    reads: str, recipe: Recipe, labels: tuple[str, ...], *, has_head: bool, model_type: str, has_encoder: bool
) -> str:
    """How it is asked, as Markdown; "" = as any model of transformers.

    Args:
        reads: As of Task.head_reads.
        recipe: How it was tuned.
        labels: Classes or tags, in the order of the head's rows.
        has_head: Whether the task added a head.
        model_type: As of TunedFacts.
        has_encoder: Whether it is an encoder-decoder, whose encoder alone is read.
    """
    if not reads:
        return ""
    if not has_head:
        return f"Two texts are compared by the cosine of {reads}, of the last layer."
    mixes = recipe.method == "layers"
    compares = "; two texts are compared by the cosine of what it gives" if recipe.task == "similarity" else ""
    of_encoder = ", of the encoder" if has_encoder else ""
    words = f"`head.safetensors` is a linear layer that reads {reads}{of_encoder}{compares}."
    words += f" {MIXED}" if mixes else ""
    if model_type == "elmo":  # transformers has none
        return words
    words = f"{HEADLESS} {words}"
    if recipe.task != "classification" or has_encoder:
        return words
    code = CODE.format(
        length=recipe.length_tokens, vector=MIX if mixes else LAST_LAYER, pooled=POOLED[reads], labels=repr(labels)
    )
    return f"{words} For one text:\n\n```python\n{code}```"
