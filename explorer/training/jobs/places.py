"""Where things are: the folder of all jobs, and the files of one."""

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import constants

from explorer.errors import UnknownJob, UnwritableFolder
from explorer.settings import settings
from explorer.training.jobs.records import Standing, write_record

ID = re.compile(r"[0-9a-f]{12}")
LEAST_TOKEN_CHARACTERS, MOST_TOKEN_CHARACTERS = 16, 200
BALLAST_BYTES = 65_536  # given up when the disk is full, so that it can still be said why a job failed
OWNER = "owner-"


def jobs_folder() -> Path:
    """Where all jobs are: where the operator says, else beside the Hub's cache, as downloads from elsewhere are."""
    if settings().jobs_folder:
        return Path(settings().jobs_folder).expanduser()
    return Path(constants.HF_HUB_CACHE).parent / "explorer" / "jobs"


def hash_owner(token: str) -> str:
    """What the disk knows of a visitor's token.

    Args:
        token: Random characters that the visitor's browser, or a caller over HTTP, keeps.

    Raises:
        UnknownJob: It is too short to be random, or no text that can be printed.
    """
    is_text = isinstance(token, str) and token.isprintable()
    if not is_text or not LEAST_TOKEN_CHARACTERS <= len(token) <= MOST_TOKEN_CHARACTERS:
        raise UnknownJob(
            f"Jobs belong to whoever has their token, {LEAST_TOKEN_CHARACTERS} to {MOST_TOKEN_CHARACTERS} random "
            f"characters. The page makes one by itself: reload it. Over HTTP, give the same one with every call."
        )
    return hashlib.sha256(f"explorer jobs {token}".encode()).hexdigest()[:32]


@dataclass(frozen=True)
class JobPlace:
    """The files of one job.

    Attributes:
        folder: Named after its id.
    """

    folder: Path

    @property
    def id(self) -> str:
        return self.folder.name

    @property
    def asked(self) -> Path:
        return self.folder / "job.json"

    @property
    def standing(self) -> Path:
        return self.folder / "state.json"

    @property
    def examples(self) -> Path:
        return self.folder / "examples.json"

    @property
    def log(self) -> Path:
        return self.folder / "steps.jsonl"

    @property
    def stop(self) -> Path:
        """Is there while somebody wants the job stopped."""
        return self.folder / "stop"

    @property
    def gone(self) -> Path:
        """Is there once the job was deleted, until nobody works on it any more."""
        return self.folder / "deleted"

    @property
    def ballast(self) -> Path:
        return self.folder / "ballast"

    def run(self, index: int) -> Path:
        """What fine_tune writes to: checkpoint, and at the end the model."""
        return self.folder / "runs" / str(index)

    def model(self, index: int) -> Path:
        """The tuned model of a run, once its outcome is there."""
        return self.run(index) / "model"

    def last(self, index: int) -> Path:
        """The newest step of a run."""
        return self.folder / f"last-{index}.json"

    def outcome(self, index: int) -> Path:
        """What a run gave; is there once it is done."""
        return self.folder / f"outcome-{index}.json"

    def summary(self, index: int) -> Path:
        """The same without the examples that were judged, for lists of jobs; written before it."""
        return self.folder / f"summary-{index}.json"

    def owner(self) -> str:
        """The hash of whose it is, which a damaged file does not take with it; "" = nobody's."""
        found = next(self.folder.glob(f"{OWNER}*"), None)
        return found.name.removeprefix(OWNER) if found else ""

    def set_standing(self, standing: Standing) -> None:
        """Keep how the job stands; on a full disk in the room of the ballast.

        Raises:
            UnwritableFolder: There is no room at all, or the folder may not be written.
        """
        try:
            write_record(self.standing, standing)
        except UnwritableFolder:
            self.ballast.unlink(missing_ok=True)
            write_record(self.standing, standing)

    def add_ballast(self) -> None:
        """Take the room that set_standing may need; random bytes, for some disks compress."""
        self.ballast.write_bytes(os.urandom(BALLAST_BYTES))
