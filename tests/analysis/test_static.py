"""Static neighbours: input embeddings against a plain loop, files of vectors, and files that are none."""

import gzip
from functools import partial

import numpy as np
import pytest

from explorer.analysis import find_static_neighbours
from explorer.analysis.static_vectors import find_file_neighbours, read_static_vectors
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.settings import Settings
from tests.analysis.test_embeddings import elmo, own


def write(folder, text, name="vectors.txt"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def table(count=50, dim=4, seed=0):
    numbers = np.random.default_rng(seed).standard_normal((count, dim)).round(5)
    return [f"w{index} {' '.join(map(str, row))}" for index, row in enumerate(numbers)], numbers.astype(np.float32)


@pytest.mark.parametrize("name, word", [("word_piece", "cat"), ("byte_level", "cat"), ("sentence_piece", "Paris")])
def test_neighbours_by_input_embeddings_are_those_of_the_definition(name, word):
    model = own(name)
    found = find_static_neighbours(model, word=word, k=5)
    ids = model.tokenizer.convert_tokens_to_ids(list(found.tokens))
    vectors = model.network.get_input_embeddings().weight.detach().double().numpy()
    query = vectors[ids].mean(axis=0)
    cosines = {
        token: float(vectors[index] @ query / np.linalg.norm(vectors[index]) / np.linalg.norm(query))
        for token, index in model.tokenizer.get_vocab().items()
        if index not in {*ids, *model.tokenizer.all_special_ids} and np.linalg.norm(vectors[index])
    }
    for one in found.neighbours:
        assert one.cosine == pytest.approx(cosines[one.token], abs=1e-5)
        assert not one.token.startswith("##") and any(letter.isalnum() for letter in one.text)
    starts = {"word_piece": lambda t: not t.startswith("##"), "byte_level": lambda t: t.startswith("Ġ")}
    begins = starts.get(name, lambda t: t.startswith("▁"))
    lowest = found.neighbours[-1].cosine
    better = [t for t, c in cosines.items() if c > lowest + 1e-5 and begins(t) and any(map(str.isalnum, t.strip("Ġ▁")))]
    kept = {one.token for one in found.neighbours}
    assert set(better) <= kept
    assert [one.cosine for one in found.neighbours] == sorted((one.cosine for one in found.neighbours), reverse=True)


def test_a_word_of_several_pieces_is_their_mean():
    found = find_static_neighbours(own("word_piece"), word="walks", k=1)
    assert found.tokens == ("walk", "##s")
    assert len(found.remarks) == 1 and "only its pieces: the mean of walk ##s" in found.remarks[0]
    assert find_static_neighbours(own("word_piece"), word="cat", k=1).remarks == ()


def test_tokens_that_no_text_is_made_of_are_no_neighbours(shipped_registry):
    found = shipped_registry.run("all-MiniLM-L6-v2", partial(find_static_neighbours, word="بنك", k=20))
    assert len(found.neighbours) == 20
    assert not [one.token for one in found.neighbours if one.token.startswith("[")]


def test_words_that_cannot_be_looked_up_are_refused():
    for word, message in (("", "no word"), ("🙂", "lacks “🙂”"), ("\x00", "control characters")):
        with pytest.raises(UnsuitableText, match=message):
            find_static_neighbours(own("word_piece"), word=word)
    with pytest.raises(UnsuitableModel, match="reads the characters"):
        find_static_neighbours(elmo(), word="cat")


def test_trained_embeddings_know_related_words(shipped_registry):
    found = shipped_registry.run("all-MiniLM-L6-v2", partial(find_static_neighbours, word="play", k=10))
    assert {"plays", "playing", "played"} & {one.text for one in found.neighbours}


@pytest.mark.parametrize("header", ["", "50 4\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_files_of_glove_and_word2vec_are_read(tmp_path, header, packed):
    lines, numbers = table()
    text = (header + "\n".join(lines) + "\n").encode()
    vectors = read_static_vectors(write(tmp_path, gzip.compress(text) if packed else text))
    assert vectors.words == tuple(f"w{index}" for index in range(50)) and vectors.remarks == ()
    unit = numbers / np.linalg.norm(numbers, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors.points.unit, unit, atol=1e-6)
    found = find_file_neighbours(vectors, word="W7", k=3)
    cosines = unit @ unit[7]
    expected = [index for index in np.argsort(-cosines) if index != 7][:3]
    assert [one.text for one in found.neighbours] == [f"w{index}" for index in expected]
    assert (found.source, found.tokens, found.count) == ("vectors.txt", ("w7",), 50)
    both = find_file_neighbours(vectors, word="w7 w9", k=50)
    assert both.tokens == ("w7", "w9") and len(both.neighbours) == 48
    with pytest.raises(UnsuitableText, match="“absent” is not among the 50 words"):
        find_file_neighbours(vectors, word="w7 absent")


def test_what_is_damaged_in_a_file_is_left_out_and_said(tmp_path):
    lines, numbers = table(6)
    broken = [lines[0], "short 1 2", lines[1], "text 1 2 x 4", "not 1 2 nan 4", ". . . 1 2 3 4", lines[0]]
    data = "\n".join(broken).encode() + b"\n\xff\xfe 1 2 3 4\n" + lines[2].encode()
    vectors = read_static_vectors(write(tmp_path, data))
    assert vectors.words == ("w0", "w1", ". . .", "w2")
    assert vectors.remarks == ("4 lines were left out: they are damaged.",)
    assert find_file_neighbours(vectors, word="w0").remarks == vectors.remarks
    np.testing.assert_allclose(vectors.points.unit[1], numbers[1] / np.linalg.norm(numbers[1]), atol=1e-6)


def test_a_large_file_is_read_no_further_than_wanted(tmp_path, monkeypatch):
    monkeypatch.setattr("explorer.analysis.static_vectors.settings", lambda: Settings(most_static_words=20))
    vectors = read_static_vectors(write(tmp_path, "\n".join(table()[0])))
    assert len(vectors.words) == 20 and vectors.remarks == ("The file holds more words; the first 20 were read.",)


@pytest.mark.parametrize("line", [b"\n", b"w 1 2 3\n"], ids=["empty lines", "one word"])
def test_a_file_that_says_nothing_new_is_not_read_to_its_end(tmp_path, monkeypatch, line):
    monkeypatch.setattr("explorer.analysis.static_vectors.settings", lambda: Settings(most_static_words=20))
    bomb = gzip.compress(b"w 1 2 3\n" + line * 10**6)[:-8]  # at its end it would be damaged
    with pytest.raises(UnsuitableText, match="few words in its first 3,040 lines"):
        read_static_vectors(write(tmp_path, bomb))


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "first line"),
        (b"once upon a time\nthere was", "first line"),
        (b"PK\x03\x04rest", "zip file"),
        (b"\x1f\x8b\x08\x00 damaged", "damaged or incomplete"),
        (gzip.compress(b"w 1 2 3\n" * 999)[:40], "damaged or incomplete"),
        (b"w " + b"1 " * 40_000, "longer than|first line"),
        (b"3 4\n" + b"x" * 70_000, "longer than"),
        (b"100 3\n", "holds no vectors"),
        (b"w 1 2 3\n" + b"no numbers at all\n" * 1_001, "More than 1,000 lines"),
        (b"3000000 300\n</s> " + bytes(range(128, 256)) * 900, "longer than|hold no word|holds no vectors"),
    ],
)
def test_a_file_that_is_no_such_file_is_refused(tmp_path, data, message):
    with pytest.raises(UnsuitableText, match=message):
        read_static_vectors(write(tmp_path, data))
