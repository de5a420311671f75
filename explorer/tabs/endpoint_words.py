"""What each endpoint does and what each of its parameters takes, in words, for the page's API documentation."""

from __future__ import annotations

from collections.abc import Iterable

from gradio.components import Component

from explorer.analysis import (
    attention_view,
    decoding_strategies,
    objectives,
    option_results,
    projections,
    scoring_results,
    strategies,
    vectors,
)
from explorer.analysis.cures import CURES
from explorer.analysis.objectives import NOISES
from explorer.analysis.text_search import POOLING_WORDS
from explorer.settings import settings
from explorer.training.tuning.recipe import METHODS, TASKS

PIECES, UNITS, SPAN_METHODS = ("first", "mean", "last"), ("tokens", "words"), ("beams", "sampling")  # without torch
OWN_CORPUS = "The corpus. None: our own."
SUMMARIES = {  # name of an endpoint -> what it does
    "fill_blanks": "Fill the blanks of a text: the likeliest tokens of each, and the likeliest ways to fill them all.",
    "reveal_blanks": "Fill one blank after another, and tell what every other is expected to be before each step.",
    "rank_candidates": "Rank words and names for each blank among the model’s own choices.",
    "contrast_texts": "Compare what a model expects in a blank of two texts.",
    "fill_spans": "Fill the blanks of a text, each with as many words as it takes.",
    "tokenize_text": "Cut a text into the tokens that the model sees.",
    "compute_loss": "Make a training example of a text as an objective does, and tell the model’s loss.",
    "show_objective": "Make a training example by a tokenizer alone, of an objective whose models are not at hand.",
    "find_telling_example": "Look for a seed whose example shows what is special about an objective.",
    "draw_replacements": "Mask 15 % of a text, and draw what could stand there: ELECTRA’s generator at work.",
    "sample_languages": "How often XLM-R reads each of its languages, and how much text there is of each.",
    "next_tokens": "What a causal model expects next.",
    "read_layers": "Read the vector of each layer as words: the logit lens.",
    "score_text": "How expected a text is: surprisal of each token and word, rank, perplexity.",
    "score_texts": "Score texts together, which is faster than one by one.",
    "compare_scores": "How expected each word of a text is to two models.",
    "choose_option": "Choose an option by its log-probability, without any training for the task.",
    "read_attention": "Read the attention weights of a model over a text, or two.",
    "continue_text": "Go on writing a text; what is written so far is told from time to time.",
    "search_beams": "Look for the likeliest text of several tokens, keeping some beginnings side by side.",
    "measure_heads": "Measure every attention head: where it looks, how widely, how far.",
    "match_relations": "How often each head points from a word to the word that it depends on, by relation.",
    "ablate_heads": "Switch attention heads off, and compare what the model says with what it says intact.",
    "rank_heads": "Switch every head off by itself, and tell which one matters most.",
    "embed_occurrences": "The vector of each use of a word in its sentence, in every layer.",
    "find_neighbours": "The uses of a word whose vectors are nearest to that of one use.",
    "find_static_neighbours": "The words whose token embeddings are nearest to that of a word.",
    "project_occurrences": "Uses of a word on a map, layer by layer.",
    "score_senses": "How well each layer of a model tells the senses of a word apart.",
    "score_cured_senses": "How well each layer tells the senses of a word apart after cures of anisotropy.",
    "measure_anisotropy": "How the vectors of each layer use the directions there are.",
    "measure_cures": "How they do so before and after several cures.",
    "find_rogue_dimensions": "The dimensions that add most to the mean cosine, and what is lost without them.",
    "compare_similarity": "Spearman’s correlation of cosines with the scores of pairs, by layer, pooling and cure.",
    "find_texts": "The texts that are nearest to a query by cosine.",
    "list_jobs": "All jobs of an owner, newest first.",
    "find_job": "How a job stands, with its steps.",
    "stop_job": "Stop a job; it keeps what it has done.",
    "resume_job": "Let a job go on where it was stopped.",
    "delete_job": "Delete a job and its models.",
}


def explain_parameters(name: str, inputs: Iterable[tuple[str, Component]]) -> None:
    """Write on the inputs of an endpoint what they are called and what they take.

    Args:
        name: Of the endpoint.
        inputs: Name of a parameter, and what Gradio has made for it.

    Raises:
        KeyError: Nothing is known of a parameter.
    """
    known = _parameters() | _of_endpoints().get(name, {})
    for parameter, component in inputs:
        component.label = parameter
        component._api_info = component.api_info() | {"additional_description": known[parameter]}


def _one_of(keys: Iterable[str]) -> str:
    return "One of: " + ", ".join(keys) + "."


def _some_of(keys: Iterable[str]) -> str:
    return "Some of: " + ", ".join(keys) + "."


def _parameters() -> dict[str, str]:
    """Name -> what it takes, wherever nothing else is said."""
    now = settings()
    return {
        "text": f"At most {now.longest_text_characters:,} characters.",
        "texts": f"At most {now.most_texts:,}.",
        "prompt": "The beginning of a text; may be empty where the model has a token that starts one.",
        "model": "A name as in the tab Models, or the id of a model on the Hugging Face Hub.",
        "other_model": "The model that is compared with it.",
        "other_text": "The other text.",
        "top_k": f"How many, from 1 to {now.most_choices}.",
        "count": f"How many, from 1 to {now.most_choices}.",
        "k": f"How many, from 1 to {now.most_choices}.",
        "strategy": _one_of(strategies.STRATEGIES),
        "blank": "Which blank, counted from 1.",
        "seed": "Of all that is drawn at random: the same seed gives the same answer.",
        "written": "Token ids that stand behind the text already, such as those that were generated.",
        "alternatives": f"How many of the likeliest tokens stand beside each, at most {now.most_choices}.",
        "max_new_tokens": f"From 1 to {now.most_new_tokens}.",
        "protocol": _one_of(scoring_results.PROTOCOLS) + " Empty: the model’s own.",
        "second_text": "For an encoder, the second text of a pair; for a causal model, what was written behind the "
        "text; for an encoder-decoder, what the decoder reads.",
        "stack": "One of: encoder, decoder, cross. Empty: the first that the model has.",
        "sentences": "One for each use of the word. None: our own labelled sentences of the word.",
        "positions": "For each sentence, where the use stands: [start, end] in characters, the end exclusive. None: "
        "wherever the word is found.",
        "word": "The word whose uses are looked at.",
        "forms": "Forms of the word that count as uses, too, such as “played”.",
        "senses": "The sense of each use; at least two different ones.",
        "without": "Senses that are left out.",
        "layers": "Which, as a list; 0 = input embeddings, negative ones are counted from the last. None: all.",
        "layer": "0 = input embeddings; negative ones are counted from the last.",
        "pieces": "Which vector a word of several tokens has: " + ", ".join(PIECES) + ".",
        "combine": _one_of(vectors.COMBINATIONS),
        "weights": "Of “weighted”: one for each layer, the input embeddings first.",
        "softmax": "Whether the softmax of the weights is taken.",
        "adjust": "What is done to all vectors: " + ", ".join(vectors.ADJUSTMENTS) + ".",
        "corpus": "What the corpus is called.",
        "unit": "What has a vector: " + " or ".join(UNITS) + ".",
        "specials": "Whether special tokens such as [CLS] are counted, too.",
        "cure": _one_of(CURES),
        "cures": _some_of(CURES),
        "pooling": "How a text gets one vector: " + ", ".join(POOLING_WORDS) + ".",
        "poolings": "How a text gets one vector; some of: " + ", ".join(POOLING_WORDS) + ".",
        "components": "How many principal components “all_but_the_top” takes away.",
        "least_uses": "Self-similarity is of tokens or words with so many uses, from 2.",
        "owner": "A token of yours, 16 random characters or more: whoever has it has the jobs.",
        "job": "The id of a job, as start_fine_tuning gives it.",
    }  # fmt: skip


def _of_endpoints() -> dict[str, dict[str, str]]:
    """Endpoint -> name of a parameter -> what it takes there."""
    controls = {
        key: f"{one.hint} From {one.lowest:g} to {one.highest:,}." for key, one in decoding_strategies.CONTROLS.items()
    }
    blanks = f"With 1 to {settings().most_blanks} blanks, each written ___."
    return {
        "fill_blanks": {"text": blanks, "top_k": f"Choices per blank, from 1 to {settings().most_choices}."},
        "reveal_blanks": {
            "text": blanks,
            "strategy": _one_of(key for key, one in strategies.STRATEGIES.items() if one.reveals),
        },
        "rank_candidates": {"text": blanks, "candidates": "For each blank a list of words or names; [] where none."},
        "contrast_texts": {"text": "With a blank, written ___.", "other_text": "The same with other words around it."},
        "fill_spans": {
            "text": blanks,
            "most_tokens": "Longest span that an encoder-decoder may write, from 1 to 32.",
            "method": _one_of(SPAN_METHODS),
        },
        "compute_loss": {
            "text": "Without blanks, of 2 to 256 tokens.",
            "objective": _one_of(objectives.OBJECTIVE_CARDS),
            "noise": "Of “denoising”; one of: " + ", ".join(NOISES) + ".",
            "other_text": "Of “next_sentence”: the sentence that comes next.",
            "generator": "Of “replaced”: a masked model that draws what is to be detected. Empty: drawn at random.",
        },
        "show_objective": {
            "text": "Without blanks, of 2 to 256 tokens.",
            "objective": _one_of(sorted(objectives.SHOWN_WITHOUT)),
            "noise": "Of “denoising”; one of: " + ", ".join(NOISES) + ".",
            "other_text": "Of “next_sentence”: the sentence that comes next.",
        },
        "find_telling_example": {
            "text": "Without blanks, of 2 to 256 tokens.",
            "objective": _one_of(objectives.TELLING),
            "seed": "After which to look.",
        },
        "sample_languages": {"alpha": "Exponent: 1 = as much as there is text, 0 = all languages alike."},
        "read_layers": {"prompt": "The beginning of a text for a causal model; for a masked one a text with blanks."},
        "choose_option": {
            "text": "With a slot, written {} or ___, or none: then the options follow it. Empty: the options are whole "
            "sentences.",
            "options": f"From 2 to {settings().most_candidates}, all different.",
            "normalise": "What is ranked by; one of: " + ", ".join(option_results.NORMALISATIONS) + ".",
            "domain": "Of “pmi”: the neutral text that stands in the place of the text. It ends as the text does "
            "behind its slot, unless it has a slot of its own.",
        },
        "read_attention": {
            "layer": "Counted from 0; None: all, if the text is short.",
            "head": "Counted from 0; None: all.",
            "level": _one_of(attention_view.LEVELS),
            "average": "Over what the mean is taken; one of: " + ", ".join(attention_view.AVERAGES) + ".",
            "hide_special": "Leave special tokens out.",
            "rescale": "Whether what is left then sums to 1 again.",
        },
        "continue_text": controls | {"strategy": _one_of(decoding_strategies.STRATEGIES)},
        "search_beams": {name: controls[name] for name in ("beams", "repetition_penalty")},
        "measure_heads": {"texts": "None: our own set of English sentences."},
        "match_relations": {"least_count": "Relations with fewer words are left out, from 1."},
        "ablate_heads": {
            "heads": "Which are switched off: “3-5” is head 5 of layer 3, “3” all of layer 3, counted from 0.",
            "all_but": "Whether these are the only ones that stay on, instead.",
        },
        "find_neighbours": {"use": "Whose neighbours: the number of a use, counted from 0."},
        "project_occurrences": {
            "method": _one_of(projections.METHODS),
            "dimensions": "2 or 3.",
        },
        "score_cured_senses": {"corpus": "Sentences that the cures are fitted on. None: our own corpus."},
        "measure_anisotropy": {"sentences": OWN_CORPUS},
        "measure_cures": {"sentences": OWN_CORPUS},
        "find_rogue_dimensions": {
            "sentences": OWN_CORPUS,
            "k": "How many of the top dimensions, from 1 to 50.",
            "places": "How many predictions are compared with and without them, one in a sentence; 0 = none.",
            "ablated": "Without the top dimensions of which layer; negative ones are counted from the last.",
            "value": "What stands in their place: mean (of the corpus) or zero.",
        },
        "compare_similarity": {
            "pairs": "Two words or sentences and people’s score each: [[text, other text, score], …].",
            "name": "What the pairs are called.",
        },
        "find_texts": {"query": "A word or a sentence.", "texts": "To be searched."},
        "start_fine_tuning": {
            "task": _one_of(TASKS),
            "methods": _some_of(METHODS) + " Several make a race.",
            "sizes": "From how many examples to learn; several make a learning curve; 0 = all.",
            "examples": "Rows, as objects or as a table in csv, tsv or jsonl. None: our own small set.",
            "held_out": "Rows to measure on, likewise. None: a fifth of the examples.",
            "columns": "What a column is, where it is guessed wrongly: {\"text\": \"review\"}.",
            "title": "What the job is called.",
            "options": "Fields of a Recipe, such as epochs, batch_size and learning_rate.",
            "scored": "Of “similarity” without examples: our pairs with scores, not our triplets.",
        },
        "find_job": {"since": "Steps from this number on."},
    }  # fmt: skip
