"""The page with models that are long on their way or never come, and texts long at work, to be stopped."""

import time

import app
import explorer
from explorer import analysis
from explorer.errors import ModelUnavailable, NobodyWaits
from explorer.models.catalogue import CATALOGUE
from explorer.models.loading import load_model
from explorer.models.local import LocalBackend
from explorer.models.progress import Progress
from explorer.models.registry import Registry
from explorer.models.turns import go_on

SLOW_MODELS = ("MiniLM (masked, early)", "all-MiniLM-L6-v2")
LOST_MODEL, NO_WAY = "T5 mini", "T5 mini cannot be reached: check the network."
SLOW_WORD = "slowly"
LOAD_SECONDS, FILL_SECONDS, STEPS = 20, 30, 50
TOKEN_SECONDS = 0.5
fill_blanks, continue_text = analysis.fill_blanks, analysis.continue_text


def load(card, *, device, progress):
    if card.name in SLOW_MODELS:
        for step in range(STEPS):
            progress(Progress(step, STEPS, "downloading"))
            time.sleep(LOAD_SECONDS / STEPS)
    if card.name == LOST_MODEL:
        raise ModelUnavailable(NO_WAY)
    return load_model(card, device=device, progress=progress)


def fill(model, text, **options):
    if SLOW_WORD in text:
        until = time.monotonic() + FILL_SECONDS
        try:
            while time.monotonic() < until:
                go_on()  # as each forward pass does
                time.sleep(0.05)
        except NobodyWaits:
            print(f"nobody waits for: {text}", flush=True)
            raise
    return fill_blanks(model, text, **options)


def write(model, prompt, **options):
    try:
        for step in continue_text(model, prompt, **options):
            yield step
            time.sleep(TOKEN_SECONDS)
    except (GeneratorExit, NobodyWaits):  # not at its end, a minute and a half later
        print("nobody reads what is written", flush=True)
        raise


if __name__ == "__main__":
    analysis.fill_blanks, analysis.continue_text = fill, write
    explorer.open_registry = lambda: Registry(CATALOGUE, lambda: LocalBackend(load, cards=CATALOGUE))
    app.main()
