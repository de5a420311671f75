"""Python that computes what a view shows, so that a visitor can go on with it in a notebook."""

from collections.abc import Mapping, Sequence

from explorer.models.catalogue import CATALOGUE

Asked = tuple[str, str, Mapping[str, object]]  # a model, the analysis that it was asked for, and its options
LONGEST = 8_000  # characters; the code travels with the page
MOST_OWN = 2_000  # of a visitor's own sentences
STREAMED = ("continue_text", "search_beams", "rank_heads")
CATALOGUED = frozenset(card.name for card in CATALOGUE)


class Said(str):
    """Python that stands for the value of an option."""

    __slots__ = ()


def code_of(
    *asked: Asked,
    imports: Sequence[str] = (),
    before: Sequence[str] = (),
    made: str = "",
) -> str:
    """Code that asks models the same, and names it `result`; "" where it would be too long to travel with the page.

    Args:
        asked: The models, and what each was asked.
        imports: Further imports, a line each.
        before: Lines that make what options refer to.
        made: The result, made of the answers `result_1` and so on; "" = it is the answer, or a tuple of all. Of an
            analysis that yields step by step, the answer is the tuple of its steps.
    """
    is_plain = len(asked) == 1 and not made
    names = ["result"] if is_plain else [f"result_{place}" for place in range(1, len(asked) + 1)]
    lines, needed = [], {f"from explorer.analysis import {analysis}" for _, analysis, _ in asked} | set(imports)
    for name, (model, analysis, options) in zip(names, asked, strict=True):
        if model not in CATALOGUED:  # a Hub id, a folder, or a model that was tuned on this machine
            lines.append(f"registry, _ = find_model({model!r})")
            needed.add("from explorer.shell import find_model")
        elif not lines:
            lines.append("registry = explorer.open_registry()")
            needed.add("import explorer")
        lines.append(f"{name} = {_call(model, analysis, options)}")
    if not is_plain:
        lines.append(f"result = {made or ', '.join(names)}")
    sections = (
        ["from functools import partial"] * any(options for *_, options in asked),
        sorted(needed, key=lambda line: (line.startswith("from"), line)),
        [*before, *lines, "print(result)"],
    )
    code = "\n\n".join("\n".join(section) for section in sections if section) + "\n"
    return code if len(code) <= LONGEST else ""


def lines_code(name: str, own: str) -> str:
    """A line that names a visitor's own lines; many are to be put into a file.

    Args:
        name: For them.
        own: As typed.
    """
    if len(own) > MOST_OWN:
        return f'{name} = open("{name}.txt", encoding="utf-8").read().splitlines()  # a file of yours'
    lines = "".join(f"    {line!r},\n" for line in own.splitlines())
    return f"{name} = [\n{lines}]"


def options_code(options: Mapping[str, object]) -> str:
    """Options as they stand in a call."""
    return ", ".join(f"{name}={_literal(value)}" for name, value in options.items())


def _call(model: str, analysis: str, options: Mapping[str, object]) -> str:
    given = "".join(f"    {name}={_literal(value)},\n" for name, value in options.items())
    asking = f"partial(\n    {analysis},\n{given})" if given else analysis
    return (
        f"tuple(registry.stream({model!r}, {asking}))" if analysis in STREAMED else f"registry.run({model!r}, {asking})"
    )


def _literal(value: object) -> str:
    return str(value) if isinstance(value, Said) else repr(value)
