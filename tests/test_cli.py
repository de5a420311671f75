import csv
import json
import subprocess
import sys
from io import StringIO

import pytest

from tests.analysis.writing_models import build


def test_fill_blanks_prints_choices_and_texts(explorer, folder):
    status, out, _ = explorer("fill-blanks", "The ___ is ___.", "--model", folder, "--top-k", "3", "--count", "2")
    assert status == 0
    assert "Blank 1 (entropy" in out and "Blank 2 (entropy" in out
    assert " %" in out
    assert out.count("  The") == 2
    assert "Model: tiny" in out


def test_fill_blanks_as_json_is_the_frozen_result(explorer, folder):
    arguments = ["--model", folder, "--top-k", "3", "--count", "2", "--strategy", "independent", "--json"]
    status, out, _ = explorer("fill-blanks", "The ___ is ___.", *arguments)
    fills = json.loads(out)
    assert status == 0
    assert fills["model"] == "tiny"
    assert fills["strategy"] == "independent"
    assert [len(blank["choices"]) for blank in fills["blanks"]] == [3, 3]
    assert [set(completion) for completion in fills["completions"]] == [{"text", "fills", "log_probability"}] * 2


def test_sample_languages_needs_no_model(explorer):
    status, out, _ = explorer("sample-languages")
    assert status == 0 and len(out.splitlines()) == 101 and "Chinese (simplified)" in out
    status, out, _ = explorer("sample-languages", "--alpha", "1", "--json")
    assert status == 0
    assert all(row["sampled"] == pytest.approx(row["share"]) for row in json.loads(out))
    status, _, err = explorer("sample-languages", "--alpha", "2")
    assert status == 1 and "alpha must be a number from 0 to 1; it is 2.0." in err


def test_text_from_standard_input(explorer, folder):
    status, out, _ = explorer("fill-blanks", "-", "--model", folder, "--json", stdin="he is\n in ___\n")
    assert status == 0
    assert json.loads(out)["text"] == "he is\n in ___"


def test_reveal_blanks(explorer, folder):
    status, out, _ = explorer("reveal-blanks", "The ___ is ___.", "--model", folder, "--strategy", "left_to_right")
    assert status == 0
    assert "Step 1: The ___ is ___." in out and "Step 2: The" in out and "Filled: The" in out


def test_rank_candidates_takes_one_list_per_blank(explorer, folder):
    lists = ["--candidates", "cat, dog,new york", "--candidates", ""]
    status, out, _ = explorer("rank-candidates", "The ___ is ___.", *lists, "--model", folder, "--json")
    assert status == 0
    first, second = json.loads(out)["blanks"]
    assert {candidate["text"] for candidate in first if candidate["is_own"]} == {"cat", "dog", "new york"}
    assert second == []
    status, out, _ = explorer("rank-candidates", "The ___ is ___.", *lists, "--model", folder)
    assert status == 0
    assert "  *  new york" in out


def test_contrast_texts(explorer, folder):
    status, out, _ = explorer("contrast-texts", "he is ___", "she is ___", "--model", folder, "--top-k", "4")
    assert status == 0
    assert "First: he is ___\nOther: she is ___" in out
    assert "Jensen-Shannon divergence: 0." in out


def test_fill_spans_says_lengths_and_what_the_numbers_are_of(explorer, folder):
    status, out, _ = explorer("fill-spans", "The ___ is ___.", "--model", folder, "--count", "2")
    assert status == 0
    assert "Blank 1\n" in out and "Blank 2\n" in out
    assert " tokens" in out
    assert "Numbers: pseudo-log-likelihood" in out
    status, out, _ = explorer("fill-spans", "The ___ is ___.", "--model", folder, "--count", "2", "--json")
    assert [len(span["choices"]) for span in json.loads(out)["spans"]] == [2, 2]


def test_read_attention_prints_the_strongest_links(explorer, folder):
    ask = ["read-attention", "The cat is walking", "a dog", "--model", folder, "--head", "2-1"]
    status, out, _ = explorer(*ask, "--top", "4", "--level", "words", "--hide-special")
    assert status == 0
    assert "encoder: layer 2, head 1 · the strongest 4 of 36 links between words" in out
    assert "Hidden: [CLS] [SEP] [SEP], which get" in out and "walking" in out
    status, out, _ = explorer(*ask, "--json")
    view = json.loads(out)
    assert status == 0 and (view["layers"], view["heads"], view["second_text"]) == ([1], [0], "a dog")
    status, out, _ = explorer(*ask, "--csv")
    rows = list(csv.DictReader(StringIO(out)))
    assert status == 0 and len(rows) == len(view["stack"]["keys"]) ** 2
    assert float(rows[1]["weight"]) == view["stack"]["weights"][0][0][0][1]


def test_read_attention_averages_what_is_not_named(explorer, folder):
    for options, average, layers in ((["--head", "2"], "heads", [1]), (["--stack", "encoder"], "both", [])):
        status, out, _ = explorer("read-attention", "The cat", "--model", folder, *options, "--json")
        view = json.loads(out)
        assert status == 0 and (view["average"], view["layers"], view["heads"]) == (average, layers, [])
    for options, layer in (([], 2), (["--head", "1"], 1)):
        status, out, _ = explorer("read-attention", "The cat", "--model", folder, "--rollout", *options)
        assert status == 0 and f"layer {layer}, rollout up to this layer" in out
    status, _, err = explorer("read-attention", "The cat", "--model", folder, "--head", "3-1")
    assert status == 1 and "layers 1 to 2 of the encoder" in err


@pytest.fixture(scope="module")
def writer_folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "writer"
    model = build("gpt2")
    model.network.save_pretrained(path)
    model.tokenizer.save_pretrained(path)
    return str(path)


def test_continue_text_streams_the_text_and_says_why_it_ends(explorer, writer_folder):
    arguments = ["continue-text", "the cat", "--model", writer_folder, "--strategy", "greedy", "-n", "5"]
    status, out, _ = explorer(*arguments)
    assert status == 0
    assert out.startswith("the cat") and "5 tokens. As many new tokens as were asked for." in out
    status, told, _ = explorer(*arguments, "--json")
    written = json.loads(told)
    assert status == 0 and set(written) == {"model", "prompt", "strategy", "text", "stop", "steps"}
    assert out.startswith("the cat" + written["text"]) and len(written["steps"]) == 5
    status, out, _ = explorer(*arguments, "--steps", "--alternatives", "2")
    assert "likeliest" in out and out.count(" nats  ") == 5
    status, out, err = explorer("continue-text", "the cat", "--model", writer_folder, "--temperature", "0")
    assert (status, out) == (1, "") and "temperature must be a number from 0.01 to 10" in err


def test_search_beams_prints_each_step_and_the_best(explorer, writer_folder):
    arguments = ["search-beams", "the cat", "--model", writer_folder, "--beams", "2", "-n", "3"]
    status, out, _ = explorer(*arguments)
    assert status == 0
    assert "Token 1" in out and "  dropped" in out and "Best: the cat" in out
    status, out, _ = explorer(*arguments, "--json")
    assert {beam["fate"] for beam in json.loads(out)["steps"][0]["beams"]} <= {"lives", "ended", "dropped"}


def test_tokenize(explorer, folder):
    status, out, _ = explorer("tokenize", "The ___", "--model", folder)
    assert status == 0
    assert "[MASK]" in out
    assert "4 tokens; tiny reads at most" in out


def test_scores_and_layers_in_the_shell(explorer, folder):
    status, out, _ = explorer("score-text", "he is happy .", "--model", folder)
    assert status == 0 and "Pseudo-perplexity" in out and "bits" in out and "nats" in out and "Model: tiny" in out
    status, out, _ = explorer("score-text", "he is happy", "--model", folder, "--protocol", "word_masked", "--json")
    assert status == 0 and json.loads(out)["protocol"] == "word_masked"
    status, out, _ = explorer("score-text", "he is happy", "--model", folder, "--other-model", folder)
    assert status == 0 and "+0.00 bits" in out
    options = ["--option", "happy", "--option", "a dog", "--normalise", "tokens"]
    status, out, _ = explorer("choose-option", "he is {} .", *options, "--model", folder)
    assert status == 0 and "1. " in out and "2. " in out and " = -" in out
    status, out, _ = explorer("read-layers", "he is ___ .", "--model", folder, "--top-k", "2")
    assert status == 0 and "layer" in out and "Answer: " in out
    status, _, err = explorer("next-tokens", "he is", "--model", folder)
    assert status == 1 and "cannot write: it was not trained to say what comes next" in err


def test_next_tokens_in_the_shell(explorer):
    status, out, _ = explorer("next-tokens", "Once upon a", "--top-k", "3")
    assert status == 0 and out.count(" %") == 3 and "entropy" in out


def test_uses_in_the_shell(explorer, tmp_path, shipped_registry):
    file = tmp_path / "uses.tsv"
    file.write_text("a\tThey {play} the piano.\nb\tA play in three acts.\na\tWe play a song.\n", encoding="utf-8-sig")
    status, out, _ = explorer("embed-occurrences", "play", "--sentences", str(file), "--layer", "0", "--layer", "6")
    assert status == 0 and "They {play} the piano." in out and "3 vectors of 384 numbers in each of 2 layers" in out
    status, out, _ = explorer("embed-occurrences", "play", "-s", "-", "--json", stdin="A play.\n")
    assert status == 0 and len(json.loads(out)["vectors"]) == 7
    status, out, _ = explorer(
        "find-neighbours", "play", "-s", str(file), "--query", "She will play the harp.", "-k", "1"
    )
    assert status == 0 and "Query: She will {play} the harp." in out and "nearest of 3 uses" in out
    weighted = ["--combine", "weighted", *["--weight", "1"] * 7, "--adjust", "centred"]
    status, out, _ = explorer("find-neighbours", "play", "-s", str(file), *weighted)
    assert status == 0 and "weighted sum of layers, centred · nearest of 2 uses" in out
    status, out, _ = explorer("score-senses", "play", "-s", str(file))
    assert status == 0 and "bag of words" in out and "3 uses: a 2, b 1" in out and "single use" in out
    status, out, _ = explorer("score-senses", "die", "--layer", "6", "--without", "article (German)")
    assert status == 0 and "84 uses" in out and "chance 32.5 %" in out and "German" not in out
    status, out, _ = explorer("find-static-neighbours", "play", "-k", "3")
    assert status == 0 and out.count("\n") > 4 and "token embeddings" in out
    glove = tmp_path / "glove.txt"
    glove.write_text("play 1 0\ngame 1 0.1\ntree 0 1\n")
    status, out, _ = explorer("find-static-neighbours", "play", "--file", str(glove), "-k", "1")
    assert status == 0 and "game" in out and "tree" not in out
    file.write_bytes(b"A play.\n\xe4 play\n")
    for arguments, message in [
        (["embed-occurrences", "play", "-s", str(file)], "is not UTF-8"),
        (["embed-occurrences", "play", "-s", str(tmp_path / "no.txt")], "cannot be read"),
        (["score-senses", "table"], "There are no sentences"),
        (["score-senses", "die", "--without", "<b>"], "No use has the sense"),
        (["find-static-neighbours", "play", "--file", str(tmp_path)], "cannot be read"),
    ]:
        status, out, err = explorer(*arguments)
        assert (status, out) == (1, "") and message in err


def test_models_lists_the_catalogue(explorer):
    status, out, _ = explorer("models")
    assert status == 0
    assert "MiniLM (masked)" in out and "BERT base" in out
    status, out, _ = explorer("models", "--ability", "fill_blanks", "--json")
    assert status == 0
    assert all("fill_blanks" in card["abilities"] for card in json.loads(out))


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["fill-blanks", "no blank", "--model", "FOLDER"], "explorer: The text has no blank."),
        (["fill-blanks", "a ___", "--model", "FOLDER", "--top-k", "0"], "top_k must be a whole number from 1"),
        (["fill-blanks", "a ___", "--model", "BERT bass"], "Did you mean BERT base"),
        (["fill-blanks", "a ___", "--model", "GPT-2"], "GPT-2 has no masked LM head"),
        (["rank-candidates", "a ___", "--candidates", "🙂", "--model", "FOLDER"], "cannot spell"),
    ],
)
def test_what_cannot_be_done_is_said_on_stderr(explorer, folder, arguments, message):
    status, out, err = explorer(*[folder if argument == "FOLDER" else argument for argument in arguments])
    assert status == 1
    assert out == ""
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [["fill-blanks"], ["fill-blanks", "a ___", "--top-k", "x"], ["sing"]])
def test_a_command_that_is_not_understood_exits_with_2(explorer, arguments):
    status, out, err = explorer(*arguments)
    assert status == 2
    assert err


def test_help_does_not_wait_for_torch():
    program = "import sys; sys.argv = ['explorer', '--help']\nimport atexit; atexit.register(lambda: print("
    program += "'torch' in sys.modules)); from explorer.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    commands = (
        "fill-blanks reveal-blanks rank-candidates contrast-texts tokenize models continue-text search-beams "
        "next-tokens read-layers score-text choose-option embed-occurrences find-neighbours find-static- "
        "neighbours score-senses score-cured-senses pretrain"
    )
    for command in commands.split():
        assert command in done.stdout
    assert done.stdout.rstrip().endswith("False")
