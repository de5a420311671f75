"""Results as small as they can be, to draw."""

from explorer.analysis.results import (
    Blank,
    BlankFills,
    BlankReveal,
    CandidateRanking,
    Choice,
    Completion,
    ContrastWord,
    Piece,
    RankedCandidate,
    RevealStep,
    TextContrast,
    Tokenization,
)

CAT = Choice("cat", "cat", 1, 0.7)
ING = Choice("##ing", "##ing", 2, 0.2)
TAG = Choice("<b>", "<b>", 3, 0.1)
BLANK = Blank(2, (CAT, ING, TAG), 1.25)


def fills(text: str = "The ___ sat on a ___.", *, filled: str = "The cat sat on a sat.") -> BlankFills:
    return BlankFills(
        model="M & M",
        text=text,
        tokens=("the", "[MASK]"),
        strategy="joint",
        score="sum of ln p",
        blanks=(BLANK, Blank(5, (ING, CAT), 0.5)),
        completions=(Completion(filled, ("cat", "sat"), -1.5),),
    )


def reveal() -> BlankReveal:
    return BlankReveal(
        model="M",
        text="The ___ sat on a ___.",
        strategy="left_to_right",
        steps=(
            RevealStep("The ___ sat on a ___.", (BLANK, BLANK), 1, CAT),
            RevealStep("The ___ sat on a cat.", (BLANK, None), 0, CAT),
        ),
        completion=Completion("The cat sat on a cat.", ("cat", "cat"), -0.7),
    )


def ranking() -> CandidateRanking:
    own = RankedCandidate("the <i>moon</i>", ("the", "moon"), -4.0, -2.0, True)
    model = RankedCandidate("cat", ("cat",), -0.5, -0.5, False)
    return CandidateRanking("M", "The ___ sat.", "ln p", ((), (model, own)))


def contrast() -> TextContrast:
    words = (ContrastWord("his", 0.6, 0.1, 2.6), ContrastWord("her", 0.05, 0.7, -3.8))
    return TextContrast("M", "The king took ___ hat.", "The queen took ___ hat.", words, 0.4)


def tokenization() -> Tokenization:
    pieces = (
        Piece("[CLS]", 101, True, False, None, None),
        Piece("<b>", 7, False, False, 0, 3),
        Piece("[UNK]", 100, False, True, 4, 5),
    )
    return Tokenization("M", "<b> 😀", pieces, 30522, 2)
