"""The model that a tuned one started from, to go with it where nobody could fetch it; importable without torch."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.models.card import LocalFolder, ModelCard
from explorer.models.model_files import SMALL_FILES, weights_names
from explorer.models.registry import FindModel
from explorer.training.tuning.tuned_card import read_facts
from explorer.training.writing import writing_to

if TYPE_CHECKING:
    from explorer.models.backend import LoadedModel

BASE = "base"  # where recipe.py looks for it, beside itself


def find_base(folder: Path, find_model: FindModel, room: Path) -> Path | None:
    """Where the model is that a tuned one started from, in the format of save_pretrained.

    Args:
        folder: The tuned model.
        find_model: Name -> registry that has the model, and its name there.
        room: Folder in which a model that we ship in parts is kept whole, once for all.

    Returns:
        None = its recipe needs none: the base is on the Hub, none of its weights were used, or there is no script.

    Raises:
        ExplorerError: The base is no longer there, or cannot be loaded.
        UnwritableFolder: The disk is full, or the room may not be written.
    """
    facts = read_facts(folder)
    if facts.base_id or facts.recipe.method == "scratch" or not (folder / "recipe.py").is_file():
        return None
    registry, name = find_model(facts.base)
    card = registry.card(name)
    if isinstance(card.source, LocalFolder):
        return Path(card.source.path)
    whole = room / _folder_name(card)
    if not whole.is_dir():
        registry.run(name, lambda model: _keep(model, whole))
    return whole


def base_files(base: Path) -> list[Path]:
    """The files of a folder that load its model; examples and other things beside them are nobody's business.

    Args:
        base: As find_base returns it.
    """
    names = {path.name for path in base.iterdir()}
    return [base / name for name in sorted(names & {*SMALL_FILES, *weights_names(names, "safetensors")})]


def put_base(folder: Path, find_model: FindModel) -> None:
    """Put the base into the folder of a tuned model, where its recipe looks for it; otherwise as find_base."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as room, writing_to(folder):
        if base := find_base(folder, find_model, Path(room)):
            (folder / BASE).mkdir(exist_ok=True)
            for path in base_files(base):
                shutil.copyfile(path, folder / BASE / path.name)


def _folder_name(card: ModelCard) -> str:
    """Of its own for each version of a model."""
    version = hashlib.sha256(repr(card.source).encode()).hexdigest()[:12]
    return f"{re.sub(r'[^a-z0-9]+', '-', card.name.lower()).strip('-')}-{version}"


def _keep(model: LoadedModel, whole: Path) -> None:
    from explorer.training.network_files import save_network

    with writing_to(whole.parent):
        whole.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=whole.parent, prefix=".keeping-") as unfinished:
            part = Path(unfinished) / whole.name
            save_network(model.network, model.tokenizer, part)
            if not whole.is_dir():  # somebody else may have been as quick
                part.rename(whole)
