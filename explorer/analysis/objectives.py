"""What each pre-training objective is, as data; importable without torch."""

from dataclasses import dataclass

from explorer.analysis.training_results import TrainingExample
from explorer.errors import NothingFound, UnsuitableModel, UnsuitableText
from explorer.models.card import Ability, ModelCard
from explorer.models.suggesting import suggest_models

NOISES = {  # of BART: key of noises.MAKE_NOISE -> label, and what it does in one line
    "text_infilling": ("Text infilling", "Each span becomes a single mask."),
    "token_masking": ("Token masking", "Single tokens become masks."),
    "token_deletion": ("Token deletion", "Tokens disappear: where was something?"),
    "sentence_permutation": ("Sentence permutation", "The sentences come in another order."),
    "document_rotation": ("Document rotation", "The text begins at another token."),
    "infilling_and_permutation": ("Infilling and permutation", "What the published BART was trained with."),
}


@dataclass(frozen=True)
class ObjectiveCard:
    """One way to train a language model on plain text.

    Attributes:
        key: What `objective=` takes.
        label: What the visitor reads.
        hint: In one line, what it does to the text.
        ability: What a model needs to be asked for it.
        formula: The loss, in LaTeX.
        explanation: What to see in it, in Markdown.
        paper: Authors and year.
        paper_url: Link to it.
        rolls: Whether anything in it is left to chance.
        only: Architectures it is for; empty = all that have the ability.
        never: Architectures that have the ability and were trained otherwise.
    """

    key: str
    label: str
    hint: str
    ability: Ability
    formula: str
    explanation: str
    paper: str
    paper_url: str
    rolls: bool = True
    only: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()

    def suits(self, card: ModelCard) -> bool:
        """Whether a model can be asked for this objective."""
        allowed = card.model_type in self.only if self.only else card.model_type not in self.never
        return self.ability in card.abilities and allowed


SHOWN_WITHOUT = frozenset({"next_sentence", "denoising"})  # objectives that a tokenizer alone can show
TELLING = {  # objectives with a roll to look for -> what it shows
    "masked": "one of each",
    "whole_word": "a word in pieces",
    "span_masked": "a span of three words or more",
}
TRIES = 500  # rolls that are looked through
MASKED_LOSS = r"\mathcal{L} = -\frac{1}{|M|} \sum_{i \in M} \ln p(x_i \mid \tilde{x})"
DENOISERS = frozenset({"bart", "mbart"})

OBJECTIVE_CARDS: dict[str, ObjectiveCard] = {
    card.key: card
    for card in (
        ObjectiveCard(
            key="masked",
            label="Masked language model (BERT)",
            hint="15 % of the tokens are picked and predicted from both sides.",
            ability=Ability.FILL_BLANKS,
            formula=MASKED_LOSS,
            explanation="$M$ are the picked tokens, $\\tilde{x}$ is the text as the model reads it. Of the picked "
            "tokens 80 % become the mask, 10 % a random token, and 10 % stay: the model never knows which of the words "
            "it reads are right, and so keeps a good vector for every one. All other tokens have no loss. BERT drew "
            "its masks once, before the training (**static**: ten copies of the text, each read four times); RoBERTa "
            "draws new ones whenever it reads a text (**dynamic**; [Liu et al. 2019]"
            "(https://arxiv.org/abs/1907.11692)).",
            paper="Devlin et al. 2019",
            paper_url="https://arxiv.org/abs/1810.04805",
        ),
        ObjectiveCard(
            key="whole_word",
            label="Whole-word masking",
            hint="Words are picked instead of tokens: a word in several pieces is hidden as a whole.",
            ability=Ability.FILL_BLANKS,
            formula=MASKED_LOSS,
            explanation="If only *##ing* is hidden, *play* gives it away. So all pieces of a picked word are picked. "
            "Each piece still meets its own fate of 80/10/10. Words of one piece are picked as before.",
            paper="Devlin et al. 2019, code of May 2019; Cui et al. 2021",
            paper_url="https://arxiv.org/abs/1906.08101",
        ),
        ObjectiveCard(
            key="span_masked",
            label="Span masking (SpanBERT)",
            hint="Spans of words are picked, short ones more often than long ones: 3.8 words on average.",
            ability=Ability.FILL_BLANKS,
            formula=r"\begin{aligned} \mathcal{L} = -\frac{1}{|M|} \sum_{i \in M} \big[ &\ln p(x_i \mid \tilde{x}) \\ "
            r"{} + {} &\ln p(x_i \mid \mathbf{x}_{s-1}, \mathbf{x}_{e+1}, \mathbf{p}_{i-s+1}) \big] \\ "
            r"\ell \sim \mathrm{Geo}(0.2),\; & \ell \le 10 \end{aligned}",
            explanation="A span from $s$ to $e$ is $\\ell$ words long, and shares one fate of 80/10/10; short texts "
            "cut spans short, because 15 % is soon reached. The second term is the **span boundary objective**: each "
            "token of the span is predicted from the vectors of the two tokens just outside it and from its place in "
            "the span, so that the ends of a span learn to know what is inside. The numbers here are of the first "
            "term only: the published weights hold no head for the second.",
            paper="Joshi et al. 2020",
            paper_url="https://arxiv.org/abs/1907.10529",
        ),
        ObjectiveCard(
            key="replaced",
            label="Replaced token detection (ELECTRA)",
            hint="Some tokens were replaced, in training by a generator: the model says of each whether it was.",
            ability=Ability.DETECT_REPLACED,
            formula=r"\mathcal{L} = -\frac{1}{n} \sum_{i=1}^{n} \begin{cases} \ln D(\tilde{x}, i) & "
            r"\tilde{x}_i = x_i \\ \ln\,(1 - D(\tilde{x}, i)) & \tilde{x}_i \ne x_i \end{cases}",
            explanation="$D$ is the probability that a token is the text's own. Every token has a loss, not only "
            "15 %, and so the model learns more from the same text. Where the generator happens to draw the right "
            "word, it counts as original. In training the generator's own masked loss is added, with this one "
            "weighted 50 times; ELECTRA mini, whose generator shares all of its layers, was trained with 5.",
            paper="Clark et al. 2020",
            paper_url="https://arxiv.org/abs/2003.10555",
        ),
        ObjectiveCard(
            key="next_sentence",
            label="Next sentence prediction (BERT)",
            hint="Does the second sentence follow the first? In training, half of the time it does.",
            ability=Ability.NEXT_SENTENCE,
            formula=r"\mathcal{L} = -\ln p(y \mid A, B), \quad y \in \{\text{next}, \text{other}\}",
            explanation="$y$ is what is true of the pair. A classifier on the vector of [CLS] says whether $B$ "
            "followed $A$ or came from another document. It is easy: a change of topic gives the answer away. RoBERTa "
            "dropped it and lost nothing "
            "([Liu et al. 2019](https://arxiv.org/abs/1907.11692)), and so did XLNet and SpanBERT; ALBERT asks "
            "instead which of two neighbouring sentences comes first "
            "([Lan et al. 2020](https://arxiv.org/abs/1909.11942)).",
            paper="Devlin et al. 2019",
            paper_url="https://arxiv.org/abs/1810.04805",
            rolls=False,
        ),
        ObjectiveCard(
            key="causal",
            label="Causal language model (GPT)",
            hint="Each token is predicted from those before it; nothing is hidden.",
            ability=Ability.GENERATE,
            formula=r"\mathcal{L} = -\frac{1}{n} \sum_{i=1}^{n} \ln p(x_i \mid x_1, \dots, x_{i-1})",
            explanation="There is a loss at every token that has another before it, so that each text teaches about "
            "seven times as much as with 15 % masked; but no token ever sees what comes behind it.",
            paper="Radford et al. 2018",
            paper_url="https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf",
            never=frozenset({"xlnet"}),  # learnt every order of the tokens
            rolls=False,
        ),
        ObjectiveCard(
            key="bilm",
            label="Both directions, apart (ELMo)",
            hint="One model predicts each token from its left, another from its right.",
            ability=Ability.PREDICT_BOTH_WAYS,
            formula=r"\begin{aligned} \mathcal{L} = -\frac{1}{2n} \sum_{i=1}^{n} \big[ "
            r"&\ln p(x_i \mid x_1, \dots, x_{i-1}) \\ {} + {} &\ln p(x_i \mid x_{i+1}, \dots, x_n) \big] \end{aligned}",
            explanation="Two LSTMs share words and softmax, but neither sees what the other reads: no prediction uses "
            "both sides at once. That is what masking made possible.",
            paper="Peters et al. 2018",
            paper_url="https://arxiv.org/abs/1802.05365",
            rolls=False,
        ),
        ObjectiveCard(
            key="span",
            label="Span corruption (T5)",
            hint="Spans become sentinels; the decoder writes what each stands for.",
            ability=Ability.FILL_SPANS,
            formula=r"\mathcal{L} = -\frac{1}{|y|} \sum_{t} \ln p(y_t \mid y_1, \dots, y_{t-1}, \tilde{x})",
            explanation="15 % of the tokens, in spans of 3 on average, leave the text $\\tilde{x}$. The target $y$ "
            "holds only them, each span behind its sentinel, and a last sentinel: much shorter than the text.",
            paper="Raffel et al. 2020",
            paper_url="https://arxiv.org/abs/1910.10683",
            never=DENOISERS,
        ),
        ObjectiveCard(
            key="denoising",
            label="Denoising (BART)",
            hint="The text is damaged in one of several ways; the decoder writes all of it anew.",
            ability=Ability.FILL_SPANS,
            formula=r"\mathcal{L} = -\frac{1}{n} \sum_{t=1}^{n} \ln p(x_t \mid x_1, \dots, x_{t-1}, \tilde{x})",
            explanation="$\\tilde{x}$ is the damaged text, and the target is the whole text. Infilling takes 30 % of "
            "the tokens in spans of Poisson length with mean 3; a span of length 0 puts in a mask where nothing is "
            "missing. How many tokens are masked or deleted one by one is not published; here 15 %.",
            paper="Lewis et al. 2020",
            paper_url="https://arxiv.org/abs/1910.13461",
            only=DENOISERS,
        ),
    )
}


def check_objective(card: ModelCard, objective: str) -> None:
    """Refuse an objective that is not known, or a model that it does not suit.

    Raises:
        UnsuitableText: There is no such objective.
        UnsuitableModel: The model cannot be asked for it; the message says which can.
    """
    if objective not in OBJECTIVE_CARDS:
        raise UnsuitableText(f"There is no objective {objective!r}. Choose one of: {', '.join(OBJECTIVE_CARDS)}.")
    wanted = OBJECTIVE_CARDS[objective]
    if not wanted.suits(card):
        able = suggest_models(wanted.suits)
        raise UnsuitableModel(f"{card.name} was not trained so: {wanted.label}. {able}")


def found_telling(example: TrainingExample | None, objective: str) -> TrainingExample:
    """What find_telling_example found.

    Raises:
        NothingFound: It found nothing.
    """
    if example is None:
        raise NothingFound(
            f"None of the next {TRIES} rolls shows {TELLING[objective]} in this text. A longer text can."
        )
    return example
