"""The rules of the code, checked on the code."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import explorer
from explorer.analysis import ANALYSES

PACKAGE = Path(explorer.__file__).parent
ROOT = PACKAGE.parent
LAYERS = ["models", "analysis", "training", "figures", "tabs"]  # each imports only from those before it and itself
PAGE = {  # stand above every layer: nothing below imports them
    "app",
    "cli",
    "terminal",
    "shell",
    "scoring_commands",
    "writing_commands",
    "embedding_commands",
    "corpus_commands",
    "anisotropy_commands",
    "terminal_anisotropy",
    "terminal_scores",
    "head_commands",
    "job_commands",
    "terminal_heads",
    "terminal_embeddings",
    "tuning_commands",
    "terminal_tuning",
}
COMPUTING = {"models", "analysis", "training"}
HOMES = {
    "torch": COMPUTING,
    "transformers": COMPUTING,
    "safetensors": COMPUTING,
    "tokenizers": COMPUTING,
    "plotly": {"figures", "tabs"},  # in tabs as a type only
    "gradio": {"tabs", "app"},
}
LONGEST_FILE_LINES = 300
TEXTS = {"text", "texts", "other_text", "prompt", "options"}  # what an analysis takes by position, after the model

SOURCES = sorted(PACKAGE.rglob("*.py"))
PROGRAM = [*SOURCES, *ROOT.glob("*.py")]
TRACKED = [*PROGRAM, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "benchmarks").rglob("*.py"))]

DRESS = [path for kind in ("js", "css") for path in sorted((ROOT / "assets").glob(f"*.{kind}"))]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def layer_of(module: str) -> str:
    """The folder or the file below explorer that a module belongs to: "models", "settings", "" for explorer itself."""
    parts = module.split(".")
    return parts[0] if parts[0] != "explorer" else parts[1] if len(parts) > 1 else ""


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(tree: ast.AST) -> set[str]:
    """Full names of everything imported anywhere in a file, inside functions and TYPE_CHECKING blocks too."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute here"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def is_frozen_dataclass(node: ast.ClassDef) -> bool:
    return any(
        isinstance(mark, ast.Call)
        and ast.unparse(mark.func).endswith("dataclass")
        and any(word.arg == "frozen" and ast.literal_eval(word.value) is True for word in mark.keywords)
        for mark in node.decorator_list
    )


def swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a handler takes any fault at all and does nothing about it."""
    caught = "" if handler.type is None else ast.unparse(handler.type)
    idle = all(isinstance(step, ast.Pass | ast.Continue | ast.Break) for step in handler.body) or (
        len(handler.body) == 1 and ast.unparse(handler.body[0]) in {"...", "return", "return None"}
    )
    return bool(re.fullmatch(r"|Exception|BaseException", caught)) and idle


def for_each(paths: list[Path]):
    """Check a rule on all of the files in one test, as each of thousands would take its time; every breach is told."""

    def decorate(rule):
        def check():
            breaches = []
            for path in paths:
                try:
                    rule(path)
                except AssertionError as breach:
                    breaches.append(f"{name_of(path)}: {breach}")
            assert paths and not breaches, "\n".join(breaches)

        check.__name__, check.__doc__ = rule.__name__, rule.__doc__
        return check

    return decorate


@for_each(PROGRAM)
def test_a_layer_imports_only_from_those_below(path):
    layer = layer_of(module_of(path))
    for name in imports(parse(path)):
        other = layer_of(name) if name.split(".")[0] in {"explorer", "app"} else None
        if layer in LAYERS and other is not None:
            assert other not in PAGE, f"{layer} must not import {name}"
            if other in LAYERS:
                assert LAYERS.index(other) <= LAYERS.index(layer), f"{layer} must not import {name}"
        if layer in LAYERS:
            assert name != "explorer.open_registry", f"{layer} gets its registry as an argument"


@for_each(PROGRAM)
def test_libraries_stay_at_home(path):
    layer = layer_of(module_of(path))
    for name in imports(parse(path)):
        library = name.split(".")[0]
        assert layer in HOMES.get(library, {layer}), f"{library} belongs in {sorted(HOMES[library])}"


@for_each([p for p in SOURCES if layer_of(module_of(p)) == "tabs"])
def test_tabs_draw_nothing_themselves(path):
    """A tab may say that a handler returns a figure; only figures/ makes one."""
    calls = [ast.unparse(node.func) for node in ast.walk(parse(path)) if isinstance(node, ast.Call)]
    assert not [call for call in calls if call.startswith(("go.", "plotly.", "px.", "make_subplots"))]


@for_each([p for p in SOURCES if layer_of(module_of(p)) == "figures"])
def test_shares_are_pointed_at_as_they_are_written(path):
    """Plotly's own format says 5%, where all else on the page says 5 %: style.SHARE is for this."""
    assert not re.search(r"%\{{1,2}[^{}]+:[^{}]*[%p]\}", path.read_text(encoding="utf-8"))


@for_each([*TRACKED, *DRESS])
def test_files_are_short_and_named_after_one_thing(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE_LINES
    assert path.stem not in {"utils", "util", "helpers", "common", "misc"}, "name the file after what it does"


@for_each(TRACKED)
def test_no_fault_is_swallowed(path):
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.ExceptHandler):
            assert not swallows(node), f"line {node.lineno}: an unknown fault must not disappear"
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"suppress", "contextlib.suppress"}:
            assert not {"Exception", "BaseException"} & {ast.unparse(kind) for kind in node.args}, f"line {node.lineno}"


@for_each(PROGRAM)
def test_public_names_have_docstrings(path):
    tree = parse(path)
    assert ast.get_docstring(tree), "say in one line what the file is for"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{node.name} has no docstring"


@for_each(sorted((PACKAGE / "analysis").rglob("*.py")))
def test_results_are_frozen(path):
    """A class that others see is a result or a plain record; only private ones may hold the state of a search."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            kinds = {ast.unparse(base).split("[")[0] for base in node.bases}
            assert is_frozen_dataclass(node) or kinds & {"StrEnum", "NamedTuple", "Protocol"}, node.name


@pytest.mark.parametrize("name", ANALYSES)
def test_an_analysis_is_a_function_of_model_and_text(name):
    path = ROOT / (ANALYSES[name].replace(".", "/") + ".py")
    tree = parse(path)
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    arguments = function.args
    given = [argument.arg for argument in arguments.posonlyargs + arguments.args]
    assert re.fullmatch(r"[a-z]+(_[a-z]+)+", name), "verb_noun"
    assert given[0] == "model"
    assert set(given[1:]) <= TEXTS, "everything but the model and its texts is given by keyword"
    assert arguments.vararg is None and arguments.kwarg is None, "no *args, no **kwargs"
    files = (PACKAGE / "analysis").glob("*results.py")
    results = {node.name for file in files for node in parse(file).body if isinstance(node, ast.ClassDef)}
    assert function.returns is not None
    assert set(re.findall(r"[A-Z]\w+", ast.unparse(function.returns))) & results, "it returns a result"


def run_python(program: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=240)


PAGE_MODULES = [
    "explorer",
    "explorer.errors",
    "explorer.settings",
    "explorer.models",
    "explorer.models.backend",
    "explorer.models.card",
    "explorer.models.catalogue",
    "explorer.models.registry",
    "explorer.analysis",
    "explorer.analysis.results",
    *[module_of(path) for path in SOURCES if layer_of(module_of(path)) in {"figures", "tabs", *PAGE}],
    *[module_of(path) for path in ROOT.glob("app.py")],
]


def test_the_page_does_not_wait_for_torch():
    slow = ["torch", "transformers", "umap", "numba", "bertviz", "sklearn", "scipy"]
    program = f"import sys, {', '.join(PAGE_MODULES)}; print([name for name in {slow} if name in sys.modules])"
    process = run_python(program)
    assert process.returncode == 0, process.stderr
    assert process.stdout.strip().splitlines()[-1] == "[]"


def test_computing_imports_without_gradio_and_plotly():
    """The GPU machine has torch and transformers, and neither gradio nor plotly."""
    modules = [module_of(path) for path in SOURCES if layer_of(module_of(path)) in COMPUTING]
    program = f"""
import importlib, sys
sys.modules.update(dict.fromkeys(["gradio", "gradio_client", "plotly"]))  # None: importing it fails
for name in {modules}:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "ray":  # an optional extra
            raise
"""
    process = run_python(program)
    assert process.returncode == 0, process.stderr
