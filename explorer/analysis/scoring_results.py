"""Next tokens, what layers would say, and scores of texts: frozen, free of torch, so that figures can read them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class NextToken:
    """A token that may come next.

    Attributes:
        token_id: Its id.
        text: What it would add to the text, its space included.
        token: As the vocabulary spells it.
        probability: Of the whole vocabulary, in [0, 1].
    """

    token_id: int
    text: str
    token: str
    probability: float


@dataclass(frozen=True)
class LayerReading:
    """What one layer would say, were it the last.

    Attributes:
        layer: 0 = input embeddings.
        tokens: The likeliest, best first.
        rank: Place of the final answer, the likeliest token of the last layer, among all tokens; 1 = the likeliest.
        probability: Of the final answer, in [0, 1].
        entropy_nats: Of the distribution over the whole vocabulary.
    """

    layer: int
    tokens: tuple[NextToken, ...]
    rank: int
    probability: float
    entropy_nats: float


@dataclass(frozen=True)
class LayerReadings:
    """What each layer of a model would say next, or at a blank.

    Attributes:
        model: Its name.
        prompt: As given.
        seen: What the model read, special tokens included.
        position: Which of these tokens the layers were read at.
        predicts: "next" = the token after it; "blank" = the one that is masked there.
        applied: What stands between a layer and the words.
        layers: From the input embeddings to the last, whose answer is the model's own.
    """

    model: str
    prompt: str
    seen: tuple[str, ...]
    position: int
    predicts: str
    applied: str
    layers: tuple[LayerReading, ...]


@dataclass(frozen=True)
class TokenScore:
    """How expected one token of a text was.

    Attributes:
        text: As it stands in the text, without white space around it.
        token: As the vocabulary spells it.
        token_id: Its id; of ELMo's words the place in its vocabulary.
        start: Where it stands in the text, in characters.
        end: Likewise, exclusive.
        log_probability: In nats, of what TextScore.score says; None = not scored, for nothing stands before it.
        surprisal_bits: The same as surprisal, -log2 p.
        rank: Its place among all tokens; 1 = the likeliest.
        entropy_bits: Of the distribution it was drawn from: how unsure the model was before it saw the token.
        alternatives: The likeliest tokens at its place, best first.
    """

    text: str
    token: str
    token_id: int
    start: int
    end: int
    log_probability: float | None
    surprisal_bits: float | None
    rank: int | None
    entropy_bits: float | None
    alternatives: tuple[NextToken, ...]


@dataclass(frozen=True)
class WordScore:
    """How expected one word was: what stands between white space, its punctuation included.

    Attributes:
        text: As it stands in the text.
        start: Where it stands, in characters.
        end: Likewise, exclusive.
        tokens: How many tokens it has.
        log_probability: Sum over its tokens, in nats; None = one of them was not scored.
        surprisal_bits: The same as surprisal, in bits.
        rank: Of its least expected token.
        has_unknown: Whether the vocabulary lacks some of it: what is scored there is any unknown word.
    """

    text: str
    start: int
    end: int
    tokens: int
    log_probability: float | None
    surprisal_bits: float | None
    rank: int | None
    has_unknown: bool = False


@dataclass(frozen=True)
class ScoringPass:
    """A text as read once.

    Attributes:
        direction: "forward" = each token from those before it; "backward" = from those behind it; "both" = from both.
        tokens: In the order of the text.
        words: Likewise.
        log_probability: Sum over the tokens that were scored, in nats.
        perplexity: exp of the mean surprisal of a token, in [1, inf).
    """

    direction: str
    tokens: tuple[TokenScore, ...]
    words: tuple[WordScore, ...]
    log_probability: float
    perplexity: float


@dataclass(frozen=True)
class TextScore:
    """How expected a text was.

    Attributes:
        model: Its name.
        text: As given.
        protocol: How it was scored: a key of PROTOCOLS.
        score: What the log-probability of a token is of.
        passes: One; two for a model that reads in both directions apart (ELMo).
        log_probability: Sum over all passes, in nats.
        surprisal_bits: The same as surprisal, in bits.
        perplexity: exp of the mean surprisal of a token over all passes.
        bits_per_character: Mean over passes of surprisal in bits over characters of the text: it does not depend on
            how a vocabulary cuts words.
        token_count: Tokens of one pass that were scored.
        remarks: What to know about it, in plain words.
    """

    model: str
    text: str
    protocol: str
    score: str
    passes: tuple[ScoringPass, ...]
    log_probability: float
    surprisal_bits: float
    perplexity: float
    bits_per_character: float
    token_count: int
    remarks: tuple[str, ...]

    @property
    def perplexity_name(self) -> str:
        """What the perplexity is called: of pseudo-log-likelihoods it is another thing."""
        return "Pseudo-perplexity" if "masked" in self.protocol else "Perplexity"

    @property
    def bits_a_reading(self) -> float:
        """Surprisal in bits, the mean over passes."""
        return self.surprisal_bits / len(self.passes)


PROTOCOLS = {
    "left_to_right": "ln p(token | all before it)",
    "one_masked": "pseudo-log-likelihood: ln p(token | all others), with this token alone masked",
    "word_masked": "pseudo-log-likelihood: ln p(token | all others but the later tokens of its word), masked with them",
    "both_directions": "ln p(token | all before it), and ln p(token | all behind it), by two models that share words",
}


@dataclass(frozen=True)
class WordDifference:
    """One word, as two models expected it.

    Attributes:
        word: As it stands in the text.
        start: Where it stands, in characters.
        surprisal_bits: In the first and in the second model; None = not scored.
        ranks: Likewise, of its least expected token.
        tokens: Into how many each cuts it.
        difference_bits: Second less first: above 0, the first model expected it more; None = one did not score it, or
            does not know it.
        unknown_to: Names of the models whose vocabulary lacks some of it.
    """

    word: str
    start: int
    surprisal_bits: tuple[float | None, float | None]
    ranks: tuple[int | None, int | None]
    tokens: tuple[int, int]
    difference_bits: float | None
    unknown_to: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScoreComparison:
    """Two scores of one text, word by word.

    Attributes:
        models: The names of the two.
        text: The text.
        protocols: How each was scored.
        scores: The two themselves.
        words: In the order of the text.
        difference_bits: Sum over the words that both scored and know.
        words_compared: How many these are.
    """

    models: tuple[str, str]
    text: str
    protocols: tuple[str, str]
    scores: tuple[TextScore, TextScore]
    words: tuple[WordDifference, ...]
    difference_bits: float
    words_compared: int

    @property
    def left_alone(self) -> str:
        """That of a model which reads twice one reading counts; "" where none does."""
        twice = " and ".join(score.model for score in self.scores if len(score.passes) > 1)
        return f"Of {twice} the reading from the left alone is compared." if twice else ""
