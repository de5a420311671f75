"""The tree of what was written, as lines of JSON that assets/writing.js draws.

One line each, and only ever added to while a model writes, so that what travels to the page is what is new.
"""

import json
import math
import re
from collections.abc import Sequence

from explorer.analysis.branches import (
    BY_HAND,
    ROOT,
    Tree,
    leaves,
    log_probability,
    parting,
    path_to,
    written_text,
)
from explorer.analysis.generation_results import STOPS
from explorer.figures.notes import UNKNOWN, WRITTEN_AS_UNKNOWN

DIGITS = 6
FREE_PLACE = re.compile(r"\[unused\d+\]|<unused\d+>")  # as BERT's and Gemma's vocabularies call them
LONGEST_BEGINNING = 70  # characters of a branch in the list


def sheet(
    tree: Tree, turn: int, *, is_writing: bool, words: str = "", is_stopped: bool = False, is_other: bool = False
) -> str:
    """The branch in sight, and below it what there is besides.

    Args:
        tree: The tree.
        turn: Counts what was asked for; the page ignores what belongs to an earlier one.
        is_writing: Whether more is on its way.
        words: What the page says below the text instead of why it ended.
        is_stopped: Whether the visitor ended it.
        is_other: Whether it was written under other settings than those that the page now shows.
    """
    path = path_to(tree, tree.here)
    lines = [head_line(tree, turn, is_other=is_other), *(step_line(tree, node) for node in path)]
    if not is_writing:
        lines += tail_lines(tree, words=words, is_stopped=is_stopped)
    return "".join(lines)


def head_line(tree: Tree, turn: int, *, is_other: bool = False) -> str:
    """What the branch goes on from, and whether it was written otherwise than the page is set now."""
    return _line("head", {"turn": turn, "model": tree.model, "prompt": tree.prompt, "is_other": is_other})


def step_line(tree: Tree, node: int) -> str:
    """One token with its numbers and alternatives."""
    step, how = tree.nodes[node].step, tree.nodes[node].how
    options = [
        [option.token_id, option.text, _short(option.probability), _short(option.chance)]
        for option in step.alternatives
    ]
    numbers = [_short(step.probability), _short(step.chance), step.rank, _short(step.entropy)]
    facts = {"node": node, "id": step.token_id, "text": step.text, "numbers": numbers, "how": how, "options": options}
    return _line("step", facts if step.is_drawn else facts | {"is_taken": True})


def tail_lines(tree: Tree, *, words: str = "", is_stopped: bool = False) -> list[str]:
    """Why the branch ends, and the other branches."""
    ends = leaves(tree)
    branches = [branch_facts(tree, leaf, number, ends) for number, leaf in enumerate(ends, start=1)]
    said = (words or why_ended(tree, is_stopped=is_stopped)) + _of_no_words(tree)
    may_go_on = tree.here == ROOT or tree.nodes[tree.here].step.stop in ("", "length")
    facts = {"words": said, "here": tree.here, "may_go_on": may_go_on, "branches": branches}
    return [_line("tail", facts | _sums(tree, tree.here))]


def why_ended(tree: Tree, *, is_stopped: bool = False) -> str:
    """Why the branch in sight goes no further, in words."""
    if is_stopped:
        return "Stopped. What was written is kept." if tree.here != ROOT else "Stopped before anything was written."
    return STOPS.get(tree.nodes[tree.here].step.stop, "") if tree.here != ROOT else ""


def _of_no_words(tree: Tree) -> str:
    """What entries of the vocabulary are that stand for no word, if such were drawn into the branch in sight."""
    texts = [tree.nodes[node].step.text.strip() for node in path_to(tree, tree.here)]
    told = ""
    unknown = next((text for text in texts if text in UNKNOWN), None)
    if unknown:
        told += (
            f" {unknown} stands for any word or sign that the vocabulary lacks, such as an emoji. {WRITTEN_AS_UNKNOWN}"
        )
    free = next((text for text in texts if FREE_PLACE.fullmatch(text)), None)
    if free:
        told += (
            f" {free} is a place that the vocabulary keeps free: no text has it. Its probability is near 0, and a high "
            "temperature draws from that far down."
        )
    return told


def branch_facts(tree: Tree, leaf: int, number: int, ends: Sequence[int]) -> dict[str, object]:
    """One branch for the list: where it parts from an older one, how it goes on, and its surprisal in bits."""
    path = path_to(tree, leaf)
    older, shared = parting(tree, leaf)
    own = path[shared:]
    begins = written_text(tree, leaf)[len(written_text(tree, path[shared - 1])) if shared else 0 :].strip()
    if shared and not own:  # under other settings
        begins = "(the same text)" if shared == len(path_to(tree, older)) else "(ends here)"
    return {
        "leaf": leaf,
        "number": number,
        "parent": ends.index(older) + 1 if shared else 0,
        "shared": shared,
        "by_hand": bool(own) and tree.nodes[own[0]].how == BY_HAND,
        "begins": begins[:LONGEST_BEGINNING] + ("…" if len(begins) > LONGEST_BEGINNING else ""),
        "how": tree.nodes[leaf].how,
        **_sums(tree, leaf),
        "nodes": path,
        "steps": [
            [step.text, _short(step.probability), step.rank, _short(step.entropy)]
            for step in (tree.nodes[node].step for node in path)
        ],
    }


def _sums(tree: Tree, node: int) -> dict[str, object]:
    """How many tokens end with a node, and their surprisal in bits, all and on average."""
    count, total = len(path_to(tree, node)), -log_probability(tree, node) / math.log(2)
    return {"tokens": count, "total": f"{total:.1f}", "mean": f"{total / max(count, 1):.1f}"}


def _short(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")


def _line(kind: str, facts: dict[str, object]) -> str:
    """JSON without "<", which Gradio takes for a tag that it warns about."""
    written = json.dumps({"kind": kind, **facts}, ensure_ascii=False, separators=(",", ":"))
    return written.replace("<", "\\u003c") + "\n"
