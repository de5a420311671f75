"""Which tasks and ways suit which models, what the scores are, and what to begin with; importable without torch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from explorer.models.card import Ability
from explorer.training.tuning.recipe import METHODS, TASKS, Recipe

CLASSES = ("classification", "pairs")
LEARNS_ITSELF = ("lora", "full", "scratch")  # ways in which the network moves
LORA_OF_TOKENS = 2e-3  # at the usual 1e-3 our own sets leave every word outside of all phrases; 3e-3 may diverge
OF_VECTORS = {"full": 2e-5, "lora": 3e-4}  # as Sentence-BERT: faster, vectors lose what they could tell apart


@dataclass(frozen=True)
class Score:
    """What a score of Outcome is.

    Attributes:
        name: What it is called.
        says: What it measures, in a sentence.
        is_share: Whether it is a share in [0, 1], to be shown in per cent.
        is_better_higher: Whether more is better.
    """

    name: str
    says: str
    is_share: bool = True
    is_better_higher: bool = True


SCORES = {  # key of Outcome.scores -> what it is
    "accuracy": Score("accuracy", "The share of held-out examples that get the right label."),
    "macro_f1": Score("macro F1", "The mean of the F1 of each class: a rare class counts as much as a frequent one."),
    "unseen_answers": Score(
        "answers that are no class", "The share of answers in which the model wrote no class.", is_better_higher=False
    ),
    "f1": Score("F1", "The harmonic mean of precision and recall of an answer's words, averaged over the examples."),
    "precision": Score("precision", "Of the phrases that the model marks, the share that is right."),
    "recall": Score("recall", "Of the phrases that are there, the share that the model finds."),
    "exact_match": Score(
        "exact match", "The share of answers that are the right one, but for case, articles and punctuation."
    ),
    "recall_at_1": Score(
        "recall at 1", "The share of sentences whose paraphrase is the nearest of all sentences, by cosine."
    ),
    "mean_reciprocal_rank": Score(
        "mean reciprocal rank", "The mean of 1 / rank of the paraphrase among all sentences: 1 = always first.",
        is_share=False,
    ),
    "triplet_accuracy": Score(
        "triplet accuracy", "The share of triplets in which the paraphrase is nearer than the other sentence."
    ),
    "spearman": Score(
        "Spearman correlation", "How alike cosines and the scores order the pairs: 1 = the same, 0 = by chance.",
        is_share=False,
    ),
    "perplexity": Score(
        "perplexity", "e to the mean loss per predicted token: among how many tokens, as it were, the model wavers; "
        "lower is better.", is_share=False, is_better_higher=False,
    ),
    "bits_per_byte": Score(
        "bits per byte", "How many bits the model needs for a byte of held-out text, whatever its tokens; lower is "
        "better.", is_share=False, is_better_higher=False,
    ),
}  # fmt: skip
OTHER_SCORES = {  # (task, score) -> what it measures there
    ("tagging", "f1"): "The harmonic mean of precision and recall of phrases, as the library seqeval counts them: "
    "one is right if its ends and its kind are.",
    ("tagging", "accuracy"): "The share of words, those outside of phrases included, that get the right tag.",
    (
        "causal",
        "bits_per_byte",
    ): "How many bits the model needs for a byte of held-out text, whatever its tokens; lower "
    "is better. Where a text ends is learned, too, and not counted.",
    ("masked", "accuracy"): "The share of masked tokens whose likeliest fill is the right one. Each token of the "
    "held-out texts is masked once, a seventh of a text at a time.",
}
MAIN_SCORES = {  # task -> key of its main score; of scored pairs "similarity" has "spearman"
    "classification": "accuracy",
    "pairs": "accuracy",
    "tagging": "f1",
    "answers": "f1",
    "similarity": "recall_at_1",
    "masked": "perplexity",
    "causal": "bits_per_byte",
    "text_to_text": "exact_match",
}
OWN_MODELS = {  # task -> a model that needs no network and does it well
    "classification": "all-MiniLM-L6-v2",
    "pairs": "all-MiniLM-L6-v2",
    "tagging": "MiniLM (masked)",
    "answers": "MiniLM (masked)",
    "similarity": "all-MiniLM-L6-v2",
    "masked": "MiniLM (masked)",
    "causal": "MiniLM (causal)",
    "text_to_text": "MiniLM (span)",
}
BEFORE = "before fine-tuning"  # a baseline, where the model could do the task at all
MIXED = "an even mix of its layers"  # what a learned mix starts from: not what the model itself answers by
CAN_BEFORE = ("similarity", "masked", "causal", "text_to_text")  # tasks that need no new head
NEEDED = {  # task -> an ability that the model must have
    "masked": Ability.FILL_BLANKS,
    "causal": Ability.GENERATE,
    "text_to_text": Ability.FILL_SPANS,
}


def name_before(method: str) -> str:
    """What the baseline is called that a run starts from, where the model could do the task at all.

    Args:
        method: A key of METHODS.
    """
    return MIXED if method == "layers" else BEFORE


def name_base(base: str, method: str) -> str:
    """What answers before a run: the base, or an even mix of its layers.

    Args:
        base: How the base is called.
        method: A key of METHODS.
    """
    return f"{base}, {MIXED}" if method == "layers" else base


def explain_score(name: str, task: str) -> str:
    """What a score measures, in a sentence; "" = it is none of SCORES.

    Args:
        name: A key of Outcome.scores.
        task: A key of TASKS.
    """
    if (task, name) in OTHER_SCORES:
        return OTHER_SCORES[task, name]
    return SCORES[name].says if name in SCORES else ""


def find_ways(task: str, abilities: Collection[Ability], model_type: str) -> tuple[str, ...]:
    """Keys of METHODS in which a model can learn a task; () = it cannot.

    Args:
        task: A key of TASKS.
        abilities: Of the model.
        model_type: As transformers names it.

    Raises:
        KeyError: There is no such task.
    """
    if task not in TASKS:
        raise KeyError(task)
    needed = NEEDED.get(task, Ability.EMBED)
    is_elmo = model_type == "elmo"  # LSTMs have no matrices that LoRA knows, and its published words no offsets
    if needed not in abilities or (is_elmo and task == "answers"):
        return ()
    if task in NEEDED:
        ways: tuple[str, ...] = LEARNS_ITSELF
    elif task == "answers":  # every layer of every token would have to be kept
        ways = ("frozen", *LEARNS_ITSELF)
    else:
        ways = tuple(METHODS)
    return tuple(way for way in ways if not (is_elmo and way == "lora"))


def find_tasks(abilities: Collection[Ability], model_type: str) -> tuple[str, ...]:
    """Keys of TASKS that a model can learn.

    Args:
        abilities: Of the model.
        model_type: As transformers names it.
    """
    return tuple(task for task in TASKS if find_ways(task, abilities, model_type))


def writes_answers(task: str, method: str, abilities: Collection[Ability]) -> bool:
    """Whether what comes out is written by a decoder, so that a prefix may say what is asked; arguments as below."""
    if task == "text_to_text":
        return True
    return Ability.FILL_SPANS in abilities and task in CLASSES and method in LEARNS_ITSELF


def suggest_recipe(task: str, method: str, abilities: Collection[Ability]) -> Recipe:
    """What to begin with: enough passes for a set of a hundred examples, and no more than it takes.

    It differs from a plain Recipe in epochs, learning_rate and prefix alone.

    Args:
        task: A key of TASKS.
        method: A key of METHODS.
        abilities: Of the model.
    """
    recipe = Recipe(task=task, method=method)
    if writes_answers(task, method, abilities):  # to begin with, the decoder writes what is far from any answer
        prefix = "classify: " if task in CLASSES else ""
        return replace(recipe, epochs=8.0, learning_rate=_faster(method), prefix=prefix)
    if task in ("tagging", "answers"):  # a new head on each token, and few examples
        rate = LORA_OF_TOKENS if method == "lora" else _faster(method)
        return replace(recipe, epochs=20.0 if task == "tagging" else 8.0, learning_rate=rate)
    if task == "similarity":
        return replace(recipe, learning_rate=OF_VECTORS.get(method))
    return recipe


def fit_recipe(task: str, method: str, abilities: Collection[Ability], wanted: Mapping[str, object]) -> Recipe:
    """What to begin with, but for what somebody wants otherwise.

    Args:
        task: A key of TASKS.
        method: A key of METHODS.
        abilities: Of the model.
        wanted: Name of a field of Recipe -> its value; None = as suggest_recipe has it.
    """
    given = {name: value for name, value in wanted.items() if value is not None}
    return replace(suggest_recipe(task, method, abilities), **given)


def _faster(method: str) -> float | None:
    """Three times the usual rate where the whole network moves: the own sets have a hundred steps, not thousands."""
    return 3e-4 if method in ("full", "scratch") else None
