"""Scripts that make a tuned model again without this package, joined from parts so that no part is written twice."""

import ast
import sys
from importlib.resources import files

PACKAGE = "explorer.training.tuning.scripts."
RECIPE_MARK = "RECIPE: dict = {}"
RUN_MARK = 'if __name__ == "__main__":'


def join_script(name: str, recipe: dict) -> str:
    """One script that stands by itself: a task's file, with what it imports of its neighbours put before it.

    Args:
        name: Of a file of this folder, without its ending.
        recipe: Stands in the script.
    """
    imports: dict[str, set[str]] = {}  # module -> names taken from it; "" = the module itself
    bodies: dict[str, str] = {}
    docstring = _add_part(name, imports, bodies)
    own = bodies.pop(name)
    shared = [body.split(RUN_MARK)[0].strip() for body in bodies.values()]
    text = f"{docstring}\n\n{_show_imports(imports)}\n\n" + "\n\n\n".join([*shared, own])
    lines = "".join(f"    {key!r}: {value!r},\n" for key, value in recipe.items())
    return text.replace(RECIPE_MARK, f"RECIPE: dict = {{\n{lines}}}") + "\n"


def _add_part(name: str, imports: dict[str, set[str]], bodies: dict[str, str]) -> str:
    """Collect a file and, before it, all that it needs; returns its docstring as it is written."""
    text = (files(__name__) / f"{name}.py").read_text(encoding="utf-8")
    lines, statements = text.splitlines(), ast.parse(text).body
    end = statements[0].end_lineno
    docstring = "\n".join(lines[:end])
    for statement in statements[1:]:
        if isinstance(statement, ast.Import):
            for one in statement.names:
                imports.setdefault(one.name, set()).add("")
        elif isinstance(statement, ast.ImportFrom):
            if statement.module.startswith(PACKAGE):
                neighbour = statement.module.removeprefix(PACKAGE)
                if neighbour not in bodies:
                    _add_part(neighbour, imports, bodies)
            else:
                names = (f"{one.name} as {one.asname}" if one.asname else one.name for one in statement.names)
                imports.setdefault(statement.module, set()).update(names)
        else:
            break
        end = statement.end_lineno
    bodies[name] = "\n".join(lines[end:]).strip()
    return docstring


def _show_imports(imports: dict[str, set[str]]) -> str:
    """Those of Python first, then the others."""
    groups: tuple[list[str], list[str]] = ([], [])
    plain = [(module, f"import {module}") for module in sorted(imports) if "" in imports[module]]
    named = [(module, f"from {module} import {', '.join(sorted(imports[module] - {''}, key=str.lower))}")
             for module in sorted(imports) if imports[module] - {""}]  # fmt: skip
    for module, line in plain + named:
        groups[module.split(".")[0] not in sys.stdlib_module_names].append(line)
    return "\n\n".join("\n".join(group) for group in groups if group)
