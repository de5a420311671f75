"""The page's HTTP face: the same results, by name, for gradio_client and for curl."""

import json
import time
from functools import partial
from threading import Event

import httpx
import numpy as np
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from explorer import analysis
from explorer.analysis import fill_blanks, read_attention
from explorer.analysis.attention_view import view_attention
from explorer.analysis.embeddings import PIECES
from explorer.analysis.exporting import to_json
from explorer.analysis.language_sampling import sample_languages
from explorer.analysis.spans_by_writing import METHODS
from explorer.analysis.vector_stream import UNITS
from explorer.errors import NobodyWaits
from explorer.models.catalogue import SPAN_MODEL
from explorer.tabs import endpoint_words
from explorer.tabs.fill_blanks.training import PASSAGE
from explorer.tabs.guards import guards
from explorer.tabs.page import build_page
from tests.conftest import SHIPPED

ENDPOINTS = {
    "/fill_blanks",
    "/reveal_blanks",
    "/rank_candidates",
    "/contrast_texts",
    "/fill_spans",
    "/tokenize_text",
    "/compute_loss",
    "/show_objective",
    "/find_telling_example",
    "/draw_replacements",
    "/sample_languages",
    "/continue_text",
    "/search_beams",
    "/next_tokens",
    "/read_layers",
    "/score_text",
    "/score_texts",
    "/compare_scores",
    "/choose_option",
    "/read_attention",
    "/measure_heads",
    "/match_relations",
    "/ablate_heads",
    "/rank_heads",
    "/embed_occurrences",
    "/find_neighbours",
    "/find_static_neighbours",
    "/project_occurrences",
    "/score_senses",
    "/score_cured_senses",
    "/measure_anisotropy",
    "/measure_cures",
    "/find_rogue_dimensions",
    "/compare_similarity",
    "/find_texts",
    "/start_fine_tuning",
    "/list_jobs",
    "/find_job",
    "/stop_job",
    "/resume_job",
    "/delete_job",
}


@pytest.fixture(scope="module")
def address(shipped_registry):
    page = build_page(shipped_registry)
    guarded = {"middleware": guards(page)}
    page.launch(prevent_thread_lock=True, quiet=True, app_kwargs=guarded, ssr_mode=False, _frontend=False)
    yield page.local_url
    page.close()


@pytest.fixture(scope="module")
def client(address):
    return Client(address, verbose=False, httpx_kwargs={"timeout": 60})


def test_every_analysis_is_listed_under_its_own_name_and_nothing_else_is(client):
    assert set(client.view_api(return_format="dict")["named_endpoints"]) == ENDPOINTS


def test_every_endpoint_and_parameter_says_what_it_is(client):
    listed = client.view_api(return_format="dict")["named_endpoints"]
    for name, endpoint in listed.items():
        assert len(endpoint["description"]) > 20, name
        for parameter in endpoint["parameters"]:
            assert parameter["label"] == parameter["parameter_name"]
            assert len(parameter["python_type"]["description"]) > 5, (name, parameter["label"])
    told = {one["label"]: one["python_type"]["description"] for one in listed["/fill_blanks"]["parameters"]}
    assert told["strategy"] == "One of: independent, left_to_right, most_confident_first, joint."
    told = {one["label"]: one["python_type"]["description"] for one in listed["/continue_text"]["parameters"]}
    assert "contrastive" in told["strategy"] and "0 = all" in told["top_k"]
    named = (endpoint_words.PIECES, endpoint_words.UNITS, endpoint_words.SPAN_METHODS)
    assert named == (PIECES, UNITS, METHODS), "named there without torch"


def test_the_answer_is_the_frozen_result_with_its_drawing(client, shipped_registry):
    text = "The cat ___ on the mat."
    answer = client.predict(text=text, model=SHIPPED, top_k=3, api_name="/fill_blanks")
    figure = answer.pop("figure")
    assert answer == to_json(shipped_registry.run(SHIPPED, partial(fill_blanks, text=text, top_k=3)))
    assert list(figure["layout"]["yaxis"]["ticktext"]) == [choice["text"] for choice in answer["blanks"][0]["choices"]]


def test_the_other_analyses_answer_too(client):
    steps = client.predict(text="The ___ sat on the ___.", api_name="/reveal_blanks")["steps"]
    assert sorted(step["filled_blank"] for step in steps) == [0, 1]
    ranked = client.predict(text="She ___ home.", candidates=[["went", "was"]], api_name="/rank_candidates")
    assert {"went", "was"} <= {candidate["text"] for candidate in ranked["blanks"][0] if candidate["is_own"]}
    contrast = client.predict(text="He ___.", other_text="She ___.", top_k=4, api_name="/contrast_texts")
    assert len(contrast["words"]) == 4
    example = client.predict(text="The cat sat on the mat.", seed=3, api_name="/compute_loss")
    assert example["loss_nats"] == example["answers"][0]["loss_nats"] and example["objective"] == "masked"
    shown = client.predict(text="The cat sat.", objective="denoising", api_name="/show_objective")
    assert shown["loss_nats"] is None and shown["noise"] == "text_infilling"
    assert client.predict(text=PASSAGE, objective="span_masked", api_name="/find_telling_example")["seed"] > 0
    drawn = client.predict(text="The cat sat on the mat.", api_name="/draw_replacements")["drawn"]
    assert len(drawn) == 1
    languages = client.predict(alpha=0.5, api_name="/sample_languages")
    assert languages == to_json(sample_languages(0.5))
    spans = client.predict(text="He was born in ___.", count=3, api_name="/fill_spans")
    assert spans["model"] == SPAN_MODEL
    assert len(spans["spans"][0]["choices"]) == 3
    assert spans["wrote"]
    written = client.predict(prompt="Once upon a", strategy="greedy", max_new_tokens=3, api_name="/continue_text")
    assert written["text"] == "".join(step["text"] for step in written["steps"]) and written["stop"] == "length"
    again = client.predict(prompt="Once upon a", written=[step["token_id"] for step in written["steps"][:1]],
                           strategy="greedy", max_new_tokens=2, api_name="/continue_text")  # fmt: skip
    assert [step["token_id"] for step in again["steps"]] == [step["token_id"] for step in written["steps"][1:]]
    searched = client.predict(prompt="Once upon a", beams=2, max_new_tokens=2, api_name="/search_beams")
    assert [len(step["beams"]) for step in searched["steps"]] == [4, 4] and searched["steps"][-1]["stop"]
    pieces = client.predict(text="unbelievably", api_name="/tokenize_text")["pieces"]
    assert [piece["token"] for piece in pieces][0] == "[CLS]"


def test_uses_are_embedded_found_and_scored(client, shipped_registry):
    sentences = ["They play the piano.", "A play in three acts.", "The children play football."]
    spans = [[5, 9], [2, 6], [13, 17]]
    answer = client.predict(sentences=sentences, word="play", layers=[0, -1], api_name="/embed_occurrences")
    positions = [tuple(span) for span in spans]
    ask = partial(analysis.embed_occurrences, sentences=sentences, positions=positions, layers=[0, -1])
    assert answer == to_json(shipped_registry.run("all-MiniLM-L6-v2", ask))
    near = client.predict(sentences=sentences, positions=spans, use=0, layer=4, k=2, api_name="/find_neighbours")
    assert [one["index"] for one in near["neighbours"]] == [2, 1] and near["vector"] == "layer 4"
    near = client.predict(word="bass", combine="last_four", adjust="centred", k=3, api_name="/find_neighbours")
    assert len(near["neighbours"]) == 3 and all(one["sense"] for one in near["neighbours"])
    scores = client.predict(word="bass", layers=[-1], api_name="/score_senses")
    assert scores["layers"][0]["centroid"]["low"] > scores["most_frequent"]
    english = client.predict(word="die", without=["article (German)"], layers=[-1], api_name="/score_senses")
    assert english["uses"] == 84 and len(english["senses"]) == 3
    drawn = client.predict(word="bass", layers=[0, 4], dimensions=3, api_name="/project_occurrences")
    assert drawn["layers"] == [0, 4] and len(drawn["maps"]["coordinates"][1][0]) == 3 and len(drawn["senses"]) == 112
    shares, quality = drawn["maps"]["shares"][1], drawn["quality"][1]
    assert 0.1 < sum(shares) < 1 and 0.5 < quality["trustworthiness"] < 1
    with pytest.raises(AppError, match="method must be one of"):
        client.predict(word="bass", method="som", api_name="/project_occurrences")
    static = client.predict(word="play", k=5, api_name="/find_static_neighbours")
    assert static["tokens"] == ["play"] and len(static["neighbours"]) == 5
    for ask, message in [
        ({"word": "table"}, "There are no sentences"),
        ({"sentences": ["A play."] * 300, "word": "play"}, "There are 300 uses"),
        ({"sentences": ["A play."], "positions": [[2, 99]]}, "within the 7 characters"),
    ]:
        with pytest.raises(AppError, match=message):
            client.predict(**ask, api_name="/embed_occurrences")


def test_anisotropy_is_measured_explained_and_cured(client, shipped_registry):
    sentences = ["The old man sold his boat.", "The boat was old.", "A man and a dog walked by the boat."]
    options = {"sentences": sentences, "model": "GPT mini", "layers": [0, -1]}
    answer = client.predict(**options, least_uses=2, api_name="/measure_anisotropy")
    ask = partial(analysis.measure_anisotropy, sentences=sentences, corpus="The caller's sentences", least_uses=2)
    assert answer == to_json(shipped_registry.run("GPT mini", partial(ask, layers=[0, -1])))
    cured = client.predict(**options, cures=["mean_removal", "rank"], api_name="/measure_cures")
    assert [one["cure"] for one in cured] == ["mean_removal", "rank"]
    rogue = client.predict(**options, k=2, api_name="/find_rogue_dimensions")
    assert [len(top) for top in rogue["top"]] == [2, 2] and rogue["ablation"]["places"] == 3
    pairs = [["old", "new", 1.6], ["boat", "ship", 9], ["man", "tree", 0.5]]
    scores = client.predict(pairs=pairs, model="GPT mini", layers=[-1], api_name="/compare_similarity")
    assert [one["pooling"] for one in scores["scores"]] == ["cls", "mean", "max"]
    found = client.predict(query="An old ship.", texts=sentences, k=1, api_name="/find_texts")
    assert found["found"][0]["text"] == sentences[1]
    corpus = {"corpus": ["The old man sold his boat.", "A dog walked by.", "Two more boats came."], "word": "bass"}
    before, after = client.predict(**corpus, model="GPT mini", cures=["none", "rank"], api_name="/score_cured_senses")
    assert (before["cure"], after["cure"]) == ("none", "rank") and before["layers"][1]["centroid"]["p"] == 1
    for ask, message in [({"sentences": ["word"]}, "Give more"), ({"sentences": ["a b " * 5_000] * 60}, "over HTTP")]:
        with pytest.raises(AppError, match=message):
            client.predict(**ask, api_name="/measure_anisotropy")


def test_a_text_is_told_while_it_is_written_and_whole_at_the_end(client):
    options = {"prompt": "Once upon a", "max_new_tokens": 90, "seed": 1, "api_name": "/continue_text"}
    told = client.submit(**options)
    *parts, whole = list(told)
    assert parts and len(whole["steps"]) == 90
    for part in parts:
        assert part["steps"] == whole["steps"][: len(part["steps"])]
    assert client.predict(**options)["text"] == whole["text"]


def test_nobody_writes_for_a_caller_who_has_left(address, monkeypatch):
    left, write = Event(), analysis.continue_text

    def slowly(*arguments, **options):
        try:
            for step in write(*arguments, **options):
                yield step
                time.sleep(0.3)
        except (GeneratorExit, NobodyWaits):  # not at its end, a minute later
            left.set()
            raise

    monkeypatch.setattr(analysis, "continue_text", slowly)
    asked = {"prompt": "Once upon a", "max_new_tokens": 200}
    event = httpx.post(f"{address}gradio_api/call/v2/continue_text", json=asked, timeout=60).json()["event_id"]
    with httpx.stream("GET", f"{address}gradio_api/call/v2/continue_text/{event}", timeout=30) as stream:
        assert "event: generating" in stream.iter_lines()
    assert left.wait(120)


def test_scores_layers_and_options_answer(client):
    following = client.predict(prompt="Once upon a", top_k=4, api_name="/next_tokens")
    assert len(following["tokens"]) == 4 and "logits" not in following
    written = [following["tokens"][0]["token_id"]]
    assert client.predict(prompt="Once upon a", written=written, api_name="/next_tokens")["written"] == written
    layers = client.predict(prompt="Paris is the capital of ___.", model=SHIPPED, api_name="/read_layers")["layers"]
    assert layers[-1]["rank"] == 1
    score = client.predict(text="The cat sat.", api_name="/score_text")
    [same] = client.predict(texts=["The cat sat."], api_name="/score_texts")
    assert same["log_probability"] == pytest.approx(score["log_probability"], abs=1e-4)
    compared = client.predict(text="The cat sat.", api_name="/compare_scores")
    assert [word["word"] for word in compared["words"]] == ["The", "cat", "sat."]
    choice = client.predict(text="The sky is", options=["blue", "wooden"], api_name="/choose_option")
    assert choice["options"][0]["option"] == "blue"
    with pytest.raises(AppError, match="there are 1"):
        client.predict(text="The sky is", options=["blue"], api_name="/choose_option")


def test_attention_is_answered_up_to_a_limit(client, shipped_registry):
    text = "The cat sat on the mat."
    view = client.predict(text=text, layer=2, head=3, level="words", hide_special=True, api_name="/read_attention")
    read = shipped_registry.run(SHIPPED, partial(read_attention, text=text))
    wanted = view_attention(read, layer=2, head=3, level="words", hide_special=True)
    assert view == to_json(wanted)
    whole = client.predict(text=text, api_name="/read_attention")
    assert np.array(whole["stack"]["weights"], np.float32).tolist() == read.weights.tolist()
    written = client.predict(text="Once upon", model="GPT mini", written=[20, 30], api_name="/read_attention")
    assert [token["segment"] for token in written["stack"]["keys"]][-2:] == [1, 1]
    with pytest.raises(AppError, match="at most 300,000 are given at once. Ask for one layer and head"):
        client.predict(text="the " * 300, api_name="/read_attention")
    assert len(client.predict(text="the " * 300, layer=0, head=0, api_name="/read_attention")["key_places"]) == 302
    with pytest.raises(AppError, match="no attention"):
        client.predict(text=text, model="ELMo mini", api_name="/read_attention")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"text": "no blank here"}, "no blank"),
        ({"text": "a ___", "model": "MiniLM (maskd)"}, "Did you mean MiniLM"),
        ({"text": "a ___", "model": "../../etc/passwd"}, "passwd"),
        ({"text": "a ___", "top_k": 10**6}, "whole number"),
        ({"text": "a ___", "strategy": "guess"}, "joint"),
        ({"text": "a \0 ___"}, "control"),
    ],
)
def test_errors_reach_the_caller_in_words(client, arguments, says):
    with pytest.raises(AppError, match=says):
        client.predict(**arguments, api_name="/fill_blanks")


def test_curl_gets_the_same(address):
    call = f"{address}gradio_api/call/v2/fill_blanks"  # keywords, with defaults for those left out
    asked = httpx.post(call, json={"text": "The cat ___ on the mat."}, timeout=60)
    lines = httpx.get(f"{call}/{asked.json()['event_id']}", timeout=60).text.splitlines()
    assert "event: complete" in lines
    data = json.loads(lines[lines.index("event: complete") + 1].removeprefix("data: "))
    assert data[0]["model"] == SHIPPED


def test_a_body_that_is_too_large_is_refused_unread(address):
    url = f"{address}gradio_api/call/fill_blanks"
    assert httpx.post(url, content=b"x" * (9 * 2**20), timeout=60).status_code == 413

    def chunks():
        for _ in range(9):
            yield b"x" * 2**20

    assert httpx.post(url, content=chunks(), timeout=60).status_code == 413
