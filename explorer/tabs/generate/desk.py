"""Where a visitor's writing lies between two clicks."""

from dataclasses import dataclass, field

from explorer.analysis.branches import Tree


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
    """

    tree: Tree
    turn: int = 0
    is_writing: bool = False
    codes: dict[int, str] = field(default_factory=dict)

    def take(self) -> int:
        """Begin a turn, which ends the one before; returns its number."""
        self.turn += 1
        self.is_writing = True
        return self.turn

    @property
    def code_in_sight(self) -> str:
        """The code that writes the branch in sight; "" = there is none."""
        return self.codes.get(self.tree.here, "")

    def end(self, turn: int) -> None:
        """A turn has ended, by itself or not."""
        if self.turn == turn:
            self.is_writing = False
