"""The code of a view computes what the view shows: run as it is, it makes the JSON that stands beside it."""

import copy
import json
import re
from base64 import b64decode
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

import explorer
from explorer.analysis.branches import written_text
from explorer.analysis.exporting import to_json
from explorer.analysis.own_corpus import read_own_corpus
from explorer.tabs.attention.code import PLACE, reading_code
from explorer.tabs.attention.readings import Ask
from explorer.tabs.attention.switch_off import FIRST
from explorer.tabs.code import LONGEST, MOST_OWN, Said, code_of, lines_code
from explorer.tabs.fill_blanks.languages import draw_languages
from explorer.tabs.generate.desk import Desk
from explorer.tabs.generate.first_text import read_first_text
from explorer.tabs.generate.write import draw_foot, first_code
from explorer.tabs.page import build_page
from explorer.tabs.taking_away import code_button, download_links
from tests.figures.results import fills

CODE = re.compile(r"data-action='code' data-code='([^']*)'")
HEADLINE = re.compile(r"<b title='([^']*)'>")
JSON = re.compile(r"download='[^']*\.json' href='data:application/json;charset=utf-8;base64,([^']*)'")
MASKED, CAUSAL = "MiniLM (masked)", "MiniLM (causal)"
CORPUS = "Sentences of your own, one a line"
SENTENCES = "\n".join(read_own_corpus()[::70])
PAIRS = (
    "the cat sat\ta cat was sitting\t4.5\nthe king\ta green bicycle\t0\nit rains\tit is raining\t5\na dog\tan owl\t2"
)
COUNT = "The top: so many components"
WEIGHTED = {"Layers": "weighted", "Weight of each layer": "0, 0, 0.5, 0, 0, 0, 2"}
OWN = "children | They play in a yard.\nmusic | She plays a harp.\nchildren | A boy plays.\nmusic | Play it!"


@pytest.fixture(scope="module")
def views(shipped_registry):
    """The handler of each view that draws, by the labels of its inputs."""
    found = {}
    for handler in build_page(shipped_registry).fns.values():
        if "_noting" in getattr(handler.fn, "__qualname__", ""):
            found[tuple(str(getattr(one, "label", "")) for one in handler.inputs)] = handler
    return found


def find_view(views, *labels):
    """The first handler that takes inputs of these labels."""
    return next(handler for known, handler in views.items() if set(labels) <= set(known))


def values_of(handler, **given):
    """First values, or those given by the label of the input; of what is unseen and empty, by "State"."""
    names = [getattr(one, "label", None) or (type(one).__name__ if one.value is None else "") for one in handler.inputs]
    return [copy.deepcopy(given.get(name, one.value)) for name, one in zip(names, handler.inputs, strict=True)]


def drawn_by(handler, **given):
    """All strings that a view shows in the end, drawn of first values, or of those given by the label of the input."""
    shown = {}
    for answer in handler.fn(*values_of(handler, **given)):
        for place, one in enumerate(answer):
            told = one.get("value") if isinstance(one, dict) else getattr(one, "value", one)
            shown |= {place: told} if isinstance(told, str) else {}
    return "".join(shown.values())


def run_code(drawn, registry, monkeypatch):
    """What the code of a view names `result`, asked of models that are loaded already."""
    [code] = CODE.findall(drawn)
    monkeypatch.setattr(explorer, "open_registry", lambda: registry)
    names = {"print": lambda found: None}
    exec(compile(unescape(code), "<code>", "exec"), names)
    return names["result"]


def taken(drawn):
    """What the JSON files beside the code hold."""
    return [json.loads(b64decode(found)) for found in JSON.findall(drawn)]


def assert_holds(found, shown, where="result"):
    """A result holds all that a file says: the file may leave fields out."""
    if isinstance(shown, dict):
        for name, value in shown.items():
            assert_holds(found[name], value, f"{where}.{name}")
    elif isinstance(shown, list):
        assert len(found) == len(shown), where
        for place, value in enumerate(shown):
            assert_holds(found[place], value, f"{where}[{place}]")
    elif isinstance(shown, float):
        assert found == pytest.approx(shown, rel=1e-3, abs=1e-4), where
    else:
        assert found == shown, where


@pytest.mark.parametrize(
    ("labels", "given"),
    [
        (["Sentences", "How several blanks are filled together"], {"Words per blank": 7}),
        (["Sentence", "Order"], {}),
        (["Candidates: one line per blank, separated by commas (or is/are)"], {}),
        (["Sentence", "Second sentence", "Blank"], {}),
        (["Sentence", "Compare with", "Blank"], {}),
        (["Sentence", "Method", "Seed"], {"Models side by side": ["T5 mini", MASKED], "Words per blank": 2}),
        (["Sentence"], {}),
        (["Objective"], {}),
        (["Objective"], {"Objective": "causal", "Sentence": 'It\'s "quoted", \\ and <b>.'}),
        (["Objective"], {"Objective": "replaced", "Sentence": "The cat slept on the mat.", "Seed": 2}),
        (["What follows"], {}),
        (["Prompt", "Beams", "Tokens"], {"Beams": 2, "Tokens": 4}),
        (["Tokens of each layer"], {}),
        (["A masked model hides"], {}),
        (["A masked model hides"], {"Beside it": ""}),
        (["Options, one a line"], {}),
        (["Colour by"], {"Method": "pca", "Sentences, one a line": OWN}),
        (["Colour by"], {"Method": "pca", "Second model": "", "Sentences, one a line": OWN, **WEIGHTED}),
        (["Search for"], {CORPUS: SENTENCES, "Cure": "z_score"}),
        pytest.param(["Top dimensions"], {CORPUS: SENTENCES}, marks=pytest.mark.slow),
        pytest.param(["Top dimensions"], {CORPUS: SENTENCES, "Model": "all-MiniLM-L6-v2"}, marks=pytest.mark.slow),
    ],
)
def test_the_code_makes_the_json(views, shipped_registry, monkeypatch, labels, given):
    drawn = drawn_by(find_view(views, *labels), **given)
    shown = next(one for one in taken(drawn) if "covariance" not in one)
    assert_holds(to_json(run_code(drawn, shipped_registry, monkeypatch)), shown)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({}, marks=pytest.mark.slow),
        {"Sentences, one a line": OWN, "Compare with": CAUSAL, "Or type a sentence with the word": "They play chess."},
        {"Word": "", "Sentences, one a line": "She {plays} it.\nA {game} of chess.\nHe {ran}.", "Adjust": "centred"},
        {"Sentences, one a line": OWN, **WEIGHTED},
    ],
)
def test_the_code_finds_the_same_neighbours(views, shipped_registry, monkeypatch, given):
    drawn = drawn_by(find_view(views, "Or type a sentence with the word"), **given)
    [shown] = taken(drawn)
    shown.pop("why_no_static")  # in words, which the code does not repeat
    assert_holds(to_json(run_code(drawn, shipped_registry, monkeypatch)), shown)
    assert re.search("download='neighbours-[a-z]+-MiniLM-masked.*[.]json'", drawn)


def test_the_code_looks_words_up_in_a_file_of_yours(views, shipped_registry, monkeypatch, tmp_path):
    (tmp_path / "own.txt").write_text("play 1 0\nwork 0 1\nfun 1 0.1\n")
    monkeypatch.chdir(tmp_path)
    given = {"Sentences, one a line": OWN, "State": str(tmp_path / "own.txt")}
    drawn = drawn_by(find_view(views, "Or type a sentence with the word"), **given)
    assert [one["text"] for one in taken(drawn)[0]["static"]["neighbours"]] == ["fun", "work"]
    assert_holds(to_json(run_code(drawn, shipped_registry, monkeypatch)), taken(drawn)[0])


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"Sentences, one a line": ""}, marks=pytest.mark.slow),
        {},
        {"Layers": "last_four", "Compare with": CAUSAL},
        {"Layers": "softmax", "Weight of each layer": "1, 2, 0, 0, 0, 0, 3"},
        {"Adjust": "z_scored"},
        {"Adjust": "centred", "Compare with": CAUSAL, **WEIGHTED},
        {"Adjust": "z_scored", "Sentences, one a line": "a | {play}\nb | {plays}\na | {play}"},
    ],
)
def test_the_code_scores_the_same_senses(views, shipped_registry, monkeypatch, given):
    drawn = drawn_by(find_view(views, "A use is taken for"), **{"Sentences, one a line": OWN} | given)
    shown, found = taken(drawn)[0], to_json(run_code(drawn, shipped_registry, monkeypatch))
    found = found if isinstance(found, list) else [found]
    joined = [one.pop("joined") for one in shown]  # the code scores that vector by itself
    assert_holds(found[: len(shown)], shown)
    said = [tuple(map(float, HEADLINE.findall(line))) for line in drawn.split("</p>") if "have a nearest use" in line]
    at = [one["layers"][-1] for one in found[-len(shown) :]]
    assert [(one["nearest"]["value"], one["centroid"]["value"]) for one in at] == [pytest.approx(one) for one in said]
    assert_holds([one | {"layer": part[1]["layer"]} for one, part in zip(at, joined, strict=True) if part],
                 [part[1] for part in joined if part])  # fmt: skip


@pytest.mark.parametrize(
    ("labels", "given"),
    [
        (["Beside it", "What is measured"], {"Beside it": ["all-MiniLM-L6-v2"]}),
        pytest.param(["Cures"], {"Cures": ["none", "all_but_the_top"], COUNT: 2}, marks=pytest.mark.slow),
        pytest.param(["Pairs"], {"Beside it, up to 3": []}, marks=pytest.mark.slow),
        (["Pairs"], {"Pairs": "own", "Your pairs: two texts and a score in each line": PAIRS, "Cure": "none"}),
    ],
)
def test_the_code_measures_the_same(views, shipped_registry, monkeypatch, labels, given):
    drawn = drawn_by(find_view(views, *labels), **{CORPUS: SENTENCES} | given)
    shown, found = taken(drawn)[0], to_json(run_code(drawn, shipped_registry, monkeypatch))
    for one in shown:
        one.pop("fitted_on", "")  # in words, which the code does not repeat
    assert_holds(found if isinstance(found, list) else [found], shown)


@pytest.mark.parametrize(
    "given", [{}, {"Measured on": "own"}, {"Model": CAUSAL, "Measured on": "own", "Let the model write first": 3}]
)
def test_the_code_measures_the_same_heads(views, shipped_registry, monkeypatch, given):
    drawn = drawn_by(find_view(views, "What heads do"), **given)
    assert_holds(to_json(run_code(drawn, shipped_registry, monkeypatch)), taken(drawn))


READ = [
    {},
    {"Second text": "It was late."},
    {"Model": CAUSAL, "Let the model write first": 3},
    {"Model": CAUSAL, "Second text": " It was late."},
    {"Model": "T5 mini", "Second text": "It was late."},
]


@pytest.mark.parametrize("given", READ)
def test_the_code_switches_the_same_heads_off(views, shipped_registry, monkeypatch, given):
    off = next(one for known, one in views.items() if "Second text" in known and one.inputs[6].value == FIRST)
    drawn = drawn_by(off, **given)
    [shown] = taken(drawn)
    result = run_code(drawn, shipped_registry, monkeypatch)
    assert_holds(to_json(result), shown)
    named = re.findall(r"heads=[\"']([^\"']*)", unescape(CODE.findall(drawn)[0]))
    assert named and {one.partition("-")[0] for one in named[0].split(",")} <= set(result.head_counts)


@pytest.mark.parametrize("given", READ)
def test_the_code_reads_the_head_in_sight(views, shipped_registry, monkeypatch, given):
    head = next(one for known, one in views.items() if "Second text" in known and len(known) == 7)
    *_, (_, packed, _) = head.fn(*values_of(head, **given))
    shown = json.loads(packed)
    stack, layer, head = shown["which"].split("-")
    code = shown["code"].replace(PLACE, f"stack={stack!r}, layer={int(layer) - 1}, head={int(head) - 1}")
    [[weights]] = run_code(code_button(code), shipped_registry, monkeypatch).stack.weights
    roots = np.frombuffer(b64decode(shown["weights"]), "<u2").reshape(weights.shape)
    np.testing.assert_allclose((roots / 65535) ** 2, weights, atol=2e-4)


def test_the_code_reads_all_heads(shipped_registry, monkeypatch):
    ask = Ask(CAUSAL, "The keys", "", 2)
    code = reading_code(shipped_registry.card(CAUSAL), ask, of_a_head=False)
    assert len(run_code(code_button(code), shipped_registry, monkeypatch).tokens) == 5


def test_the_code_writes_the_branch_in_sight(shipped_registry, monkeypatch):
    first = read_first_text().tree
    desk = Desk(first, codes={first.here: first_code()})
    written = run_code(draw_foot(first, desk.code_in_sight), shipped_registry, monkeypatch)
    assert "".join(step.text for step in written) == written_text(first, first.here)
    desk.tree = replace(first, here=3)
    assert not CODE.findall(draw_foot(desk.tree, desk.code_in_sight))


def test_the_shares_of_languages_need_no_model(monkeypatch):
    drawn = draw_languages(0.3, ["English"])
    assert_holds(to_json(run_code(drawn, None, monkeypatch)), *taken(drawn))


def test_models_that_are_in_no_catalogue_are_looked_for():
    code = code_of(("org/bert", "fill_blanks", {"text": "A ___."}), (MASKED, "tokenize_text", {"text": Said("text")}))
    assert "registry, _ = find_model('org/bert')\nresult_1 = registry.run('org/bert', partial(" in code
    assert "    text=text,\n))\nresult = result_1, result_2\n" in code
    assert "import explorer\n" not in code.replace("explorer.", "")


def test_what_is_too_long_for_the_page_is_left_out_or_read_from_a_file():
    assert code_of((MASKED, "tokenize_text", {"text": "a" * LONGEST})) == ""
    assert "Copy code" not in download_links(fills(), "blanks", code="")
    assert lines_code("lines", "One.\nTwo’s.") == "lines = [\n    'One.',\n    'Two’s.',\n]"
    assert 'open("lines.txt"' in lines_code("lines", "a" * (MOST_OWN + 1))
