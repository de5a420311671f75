"""Where a visitor's writing lies between two clicks."""

from dataclasses import dataclass, field

from explorer.analysis.branches import ROOT, Tree, go_to
from explorer.models.callers import current_caller

MOST_KEPT = 4  # trees of other prompts


@dataclass
class Desk:
    """One visitor's tree, and who may write on it: whoever asked last.

    It is changed in place, so that a click that arrives while text is still being written needs no word from the page
    to end that, and so that what was written is here whenever the page stops listening.

    Attributes:
        tree: What was written so far.
        turn: Counts what was asked for; work that belongs to an earlier turn ends at its next token.
        is_writing: Whether the latest turn is at work.
        codes: Python that writes each branch of the tree, by the index of the token that it ends with.
        kept: The latest trees with their codes, by model and prompt.
        question: Whose turn it is, by Caller.question.
    """

    tree: Tree
    turn: int = 0
    is_writing: bool = False
    codes: dict[int, str] = field(default_factory=dict)
    kept: dict[tuple[str, str], tuple[Tree, dict[int, str]]] = field(default_factory=dict)
    question: int = 0

    def take(self) -> int:
        """Begin a turn, which ends the one before; returns its number, 0 = the visitor has asked for another since."""
        question = current_caller().question
        if 0 < question < self.question:
            return 0
        self.question = question
        self.turn += 1
        self.is_writing = True
        return self.turn

    def turn_to(self, model: str, prompt: str) -> None:
        """Stand at the prompt of the tree that was written from it before, while it is kept, else of an empty one."""
        now = self.tree.model, self.tree.prompt
        self.kept.pop(now, None)
        self.kept[now] = self.tree, self.codes
        tree, self.codes = self.kept.get((model, prompt), (Tree(model, prompt), {}))
        self.tree = go_to(tree, ROOT)
        for old in list(self.kept)[: -MOST_KEPT - 1]:
            del self.kept[old]

    @property
    def code_in_sight(self) -> str:
        """The code that writes the branch in sight; "" = there is none."""
        return self.codes.get(self.tree.here, "")

    def end(self, turn: int) -> None:
        """A turn has ended, by itself or not."""
        if self.turn == turn:
            self.is_writing = False
