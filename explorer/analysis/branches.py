"""What a visitor had a model write after one prompt, as a tree: every token that was clicked away is still there."""

from dataclasses import dataclass, replace
from math import fsum, log

from explorer.analysis.generation_results import GenerationStep, TokenOption

ROOT = -1  # the end of the prompt, which every branch grows from
BY_HAND = "chosen by hand"
LEAST_PROBABILITY = 1e-45  # the least that float32 knows; 0 has no logarithm


@dataclass(frozen=True)
class Node:
    """One token of the tree.

    Attributes:
        parent: Index of the token before it; ROOT = it follows the prompt.
        step: The token and its numbers.
        how: The settings that it was written under, or BY_HAND.
    """

    parent: int
    step: GenerationStep
    how: str


@dataclass(frozen=True)
class Tree:
    """Everything that was written after one prompt.

    Attributes:
        model: Who wrote.
        prompt: What it went on from.
        nodes: In the order in which they were written, so that each stands behind its parent.
        here: Index of the last token of the branch in sight; ROOT = nothing yet.
    """

    model: str
    prompt: str
    nodes: tuple[Node, ...] = ()
    here: int = ROOT


def grow(tree: Tree, step: GenerationStep, how: str) -> Tree:
    """One more token at the end of the branch in sight; what stands there by the same settings is not doubled.

    Under others the same token has other chances, so that it is another node.
    """
    for child in children(tree, tree.here):
        if tree.nodes[child].step.token_id == step.token_id and tree.nodes[child].how == how != BY_HAND:
            nodes = (*tree.nodes[:child], Node(tree.here, step, how), *tree.nodes[child + 1 :])
            return replace(tree, nodes=nodes, here=child)
    return replace(tree, nodes=(*tree.nodes, Node(tree.here, step, how)), here=len(tree.nodes))


def choose(tree: Tree, node: int, token_id: int) -> Tree:
    """The branch in sight ends with another token in the place of a node's; what followed the node stays in the tree.

    Args:
        tree: The tree.
        node: Index of the token to replace.
        token_id: One of its alternatives.

    Raises:
        ValueError: There is no such node, or it has no such alternative.
    """
    if not 0 <= node < len(tree.nodes):
        raise ValueError(f"the tree has no node {node}")
    parent, step = tree.nodes[node].parent, tree.nodes[node].step
    at_parent = replace(tree, here=parent)
    for rank, option in enumerate(step.alternatives, start=1):
        if option.token_id == token_id:
            known = [child for child in children(tree, parent) if _stands_for(tree, child, node, option)]
            if known:
                return replace(tree, here=known[0])
            chosen = replace(
                step, token_id=token_id, text=option.text, probability=option.probability, chance=option.chance,
                rank=rank, stop="",
            )  # fmt: skip
            return grow(at_parent, chosen, BY_HAND)
    raise ValueError(f"token {token_id} is no alternative to node {node}")


def _stands_for(tree: Tree, child: int, node: int, option: TokenOption) -> bool:
    """Whether a token is an alternative to a node that was written before, or chosen, with the same chance."""
    known = tree.nodes[child]
    is_chosen = known.how == BY_HAND and known.step.chance == option.chance
    return known.step.token_id == option.token_id and (is_chosen or known.how == tree.nodes[node].how)


def go_to(tree: Tree, node: int) -> Tree:
    """The tree with another branch in sight: the one that ends with a node.

    Raises:
        ValueError: There is no such node.
    """
    if not ROOT <= node < len(tree.nodes):
        raise ValueError(f"the tree has no node {node}")
    return replace(tree, here=node)


def children(tree: Tree, node: int) -> list[int]:
    """Indices of the tokens that were written after a node, oldest first."""
    return [index for index, other in enumerate(tree.nodes) if other.parent == node and index > node]


def leaves(tree: Tree) -> list[int]:
    """Indices of the tokens that nothing follows, oldest first: one for each branch."""
    parents = {node.parent for node in tree.nodes}
    return [index for index in range(len(tree.nodes)) if index not in parents]


def path_to(tree: Tree, node: int) -> list[int]:
    """Indices from the first token after the prompt to a node."""
    path = []
    while node != ROOT:
        path.append(node)
        node = tree.nodes[node].parent
    return path[::-1]


def token_ids(tree: Tree, node: int) -> tuple[int, ...]:
    """Ids from the first token after the prompt to a node."""
    return tuple(tree.nodes[index].step.token_id for index in path_to(tree, node))


def drawn_since(tree: Tree, how: str) -> int:
    """How many tokens at the end of the branch in sight were written one after another under the same settings."""
    others = (index for index in reversed(path_to(tree, tree.here)) if tree.nodes[index].how != how)
    last = next(others, None)
    return len(path_to(tree, tree.here)) - (0 if last is None else len(path_to(tree, last)))


def written_text(tree: Tree, node: int) -> str:
    """What stands after the prompt on the branch that ends with a node."""
    return "".join(tree.nodes[index].step.text for index in path_to(tree, node))


def log_probability(tree: Tree, node: int) -> float:
    """Sum of ln p of the model's own probabilities along the branch that ends with a node, in nats."""
    return fsum(log(max(tree.nodes[index].step.probability, LEAST_PROBABILITY)) for index in path_to(tree, node))


def shared_length(tree: Tree, node: int, other: int) -> int:
    """With how many tokens two branches both begin, under whatever settings they were written."""
    pairs = zip(token_ids(tree, node), token_ids(tree, other), strict=False)
    return next((depth for depth, (one, two) in enumerate(pairs) if one != two), min(
        len(path_to(tree, node)), len(path_to(tree, other))
    ))  # fmt: skip


def parting(tree: Tree, leaf: int) -> tuple[int, int]:
    """Where a branch leaves those that were there before it.

    Returns:
        The older leaf that it shares most tokens with, the oldest of these, and how many it shares; (ROOT, 0) for the
        first branch.
    """
    older = [other for other in leaves(tree) if other < leaf]
    shared = {other: shared_length(tree, leaf, other) for other in older}
    best = max(older, key=lambda other: (shared[other], -other), default=ROOT)
    return best, shared.get(best, 0)
