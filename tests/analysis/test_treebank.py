import gzip

import pytest

from explorer.analysis.treebank import ParsedSentence, read_compact, read_conllu, read_own_sentences
from tests.analysis.tiny_models import EVAL_DATA

RELATIONS = set(
    "acl acl:relcl advcl advmod amod aux aux:pass case cc ccomp compound conj cop det iobj mark nmod nmod:poss nsubj "
    "nsubj:pass nummod obj obl punct root xcomp".split()
)
CONTRACTION = """# text = I don't know.
1\tI\tI\tPRON\t_\t_\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\t_\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\t_\t_\t4\tadvmod\t_\t_
3.1\tthat\tthat\tPRON\t_\t_\t_\t_\t_\t_
4\tknow\tknow\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\t_\t_\t4\tpunct\t_\t_
"""


def check(sentence: ParsedSentence) -> None:
    assert len(sentence.words) == len(sentence.heads) == len(sentence.relations) == len(sentence.spans)
    assert [sentence.text[start:end] for start, end in sentence.spans] == list(sentence.words)
    assert sentence.heads.count(0) == 1 and sentence.relations[sentence.heads.index(0)] == "root"
    reached = {0}
    for _ in sentence.words:  # from the root downwards: a second way than the reader's own
        reached |= {place for place, head in enumerate(sentence.heads, start=1) if head in reached}
    assert reached == set(range(len(sentence.words) + 1))


def test_our_own_sentences_are_trees_of_known_relations():
    sentences = read_own_sentences()
    assert len(sentences) >= 60
    assert len({sentence.text for sentence in sentences}) == len(sentences)
    for sentence in sentences:
        check(sentence)
        assert set(sentence.relations) <= RELATIONS, sentence.text
        assert sentence.text[-1] in ".?" and sentence.text[0].isupper() and "  " not in sentence.text


def test_our_annotation_keeps_to_the_rules_of_universal_dependencies():
    """Function words have no dependents of their own that are content words; a conjunct comes after what it joins."""
    for sentence in read_own_sentences():
        for place, (word, head, relation) in enumerate(
            zip(sentence.words, sentence.heads, sentence.relations, strict=True), start=1
        ):
            if relation in {"det", "aux", "cop", "mark", "cc", "punct", "case"}:
                assert place not in sentence.heads, f"{word} is a leaf in: {sentence.text}"
            if relation == "conj":
                assert head < place, sentence.text
            if relation in {"det", "amod", "mark", "cop"}:
                assert head > place, sentence.text
            if relation == "punct":
                assert word in ".,?", sentence.text


def test_a_sentence_is_written_as_it_reads():
    [sentence] = read_compact(
        ["# a remark", "", "Anna/2/nsubj knows/0/root Bo/5/nmod:poss 's/3/case cat/2/obj ./2/punct"]
    )
    assert sentence.text == "Anna knows Bo's cat."
    check(sentence)


@pytest.mark.parametrize(
    "line",
    [
        "a/2/det cat/1/obj",  # no root
        "a/0/root cat/0/root",  # two
        "a/2/det cat/1/obj sat/0/root",  # a ring
        "a/9/det cat/0/root",  # a head that is not there
        "a/0/det cat/1/root",  # a root that is none
    ],
)
def test_what_is_no_tree_is_refused(line):
    with pytest.raises(ValueError, match="root"):
        read_compact([line])


def test_contractions_and_empty_nodes_of_conllu_are_read():
    [sentence] = read_conllu(CONTRACTION.splitlines())
    assert sentence.text == "I don't know."
    assert sentence.words == ("I", "do", "n't", "know", ".")
    check(sentence)
    with pytest.raises(ValueError, match="10 columns"):
        read_conllu(["1\tI"])


def test_a_treebank_of_universal_dependencies_is_read_whole():
    file = EVAL_DATA / "ud_ewt_dev.conllu.gz"
    if not file.is_file():
        pytest.skip("needs the evaluation data: set EXPLORER_EVAL_DATA to its folder")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        given = list(lines)
    sentences = read_conllu(given)
    texts = [line.removeprefix("# text = ").rstrip("\n") for line in given if line.startswith("# text = ")]
    assert len(sentences) == len(texts) == 2001
    same = sum(sentence.text == text for sentence, text in zip(sentences, texts, strict=True))
    assert same >= 0.99 * len(texts)  # a few have double spaces
    for sentence in sentences:
        check(sentence)
