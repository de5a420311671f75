"""Every limit of the explorer, with its unit and the environment variable that sets it."""

import os
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

GIB = 2**30


@dataclass(frozen=True)
class Settings:
    """What an operator may change. Field `x_y` is read from the environment variable `EXPLORER_X_Y`.

    Attributes:
        device: Where models run: "auto", "cpu", "cuda", "cuda:1", "mps".
        memory_budget_gib: Memory for model weights per device, in GiB; 0 = half of what the device has.
        largest_model_gib: Weights above this size are not downloaded or loaded, in GiB.
        idle_minutes: A model that nobody used for this long is unloaded; 0 = never.
        analyses_at_once: How many analyses may be at work on one device.
        longest_wait_seconds: How long an analysis waits for its turn before the visitor is told that it is busy.
        hub_models: Whether visitors may name any model of the Hugging Face Hub.
        hub_token: Whether the operator's Hub token (HF_TOKEN) is used, so that gated and private models can be had;
            every visitor can then use whatever that token may read.
        local_models: Folder under which visitors may name model folders; empty = they may not.
        longest_text_characters: Longer input is refused before it is tokenized.
        most_blanks: Most blanks in one text.
        most_choices: Most choices per blank, and most completions.
        most_candidates: Most candidates of the visitor's own per blank.
        most_texts: Most texts in one batch call.
        largest_request_mib: Larger HTTP bodies are refused, in MiB.
        most_waiting: How many clicks may wait in the page's queue.
        ray_application: Name of a Ray Serve application to run models on; empty = this process.
    """

    device: str = "auto"
    memory_budget_gib: float = 0.0
    largest_model_gib: float = 6.0
    idle_minutes: float = 30.0
    analyses_at_once: int = 16
    longest_wait_seconds: float = 120.0
    hub_models: bool = True
    hub_token: bool = False
    local_models: str = ""
    longest_text_characters: int = 20_000
    most_blanks: int = 10
    most_choices: int = 50
    most_candidates: int = 20
    most_texts: int = 256
    largest_request_mib: float = 8.0
    most_waiting: int = 256
    ray_application: str = ""


@cache
def settings() -> Settings:
    """The settings of this process, read from the environment once.

    Raises:
        ValueError: A variable cannot be read as its type; the message names it.
    """
    given = {}
    for field in fields(Settings):
        variable = f"EXPLORER_{field.name.upper()}"
        if variable not in os.environ:
            continue
        text = os.environ[variable].strip()
        try:
            given[field.name] = text.lower() in {"1", "true", "yes"} if field.type is bool else field.type(text)
        except ValueError as error:
            raise ValueError(f"{variable}={text!r} is not a {field.type.__name__}") from error
    return Settings(**given)


ASSETS = Path(__file__).parent.parent / "assets"
