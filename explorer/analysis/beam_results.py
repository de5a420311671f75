"""What a beam search gives, step by step: frozen, free of torch, so that figures and the page can read it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Beam:
    """One beginning that was looked at.

    Attributes:
        text: All that it wrote behind the prompt.
        token: What its last token adds, its space included; the end of a text is spelled.
        token_id: Its last token.
        parent: Place, among those that lived after the step before, of the beam it grew from; 0 at the first step.
        log_probability: Of all its tokens, in nats; after the repetition penalty, if there is one.
        score: The same per token, by which those that ended are compared.
        fate: A key of FATES.
    """

    text: str
    token: str
    token_id: int
    parent: int
    log_probability: float
    score: float
    fate: str


FATES = {
    "lives": "Among the likeliest; the next step goes on from it.",
    "ended": "Its text has ended, and is likely enough to be kept.",
    "dropped": "Others are likelier.",
}


@dataclass(frozen=True)
class BeamStep:
    """All beams after one more token.

    Attributes:
        beams: Those that live, those that end now, those that are dropped now; each likeliest first.
        ended: The best texts that have ended so far, best first; at most as many as there are beams.
        stop: Why the search is over, of which ended[0] is what it found: a key of STOPS; "" = it goes on.
    """

    beams: tuple[Beam, ...]
    ended: tuple[Beam, ...]
    stop: str = ""


@dataclass(frozen=True)
class BeamSearch:
    """A whole search, as it is taken away.

    Attributes:
        model: Who was asked.
        prompt: What it went on from.
        steps: One for each token.
    """

    model: str
    prompt: str
    steps: tuple[BeamStep, ...]
