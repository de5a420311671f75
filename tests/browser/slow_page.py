"""The page with models that are long on their way, and texts that are long at work, to be stopped."""

import time

import app
import explorer
from explorer import analysis
from explorer.models.catalogue import CATALOGUE
from explorer.models.loading import load_model
from explorer.models.local import LocalBackend
from explorer.models.progress import Progress
from explorer.models.registry import Registry

SLOW_MODELS = ("MiniLM (masked, early)", "all-MiniLM-L6-v2")
SLOW_WORD = "slowly"
LOAD_SECONDS, FILL_SECONDS, STEPS = 20, 30, 50
fill_blanks = analysis.fill_blanks


def load(card, *, device, progress):
    if card.name in SLOW_MODELS:
        for step in range(STEPS):
            progress(Progress(step, STEPS, "downloading"))
            time.sleep(LOAD_SECONDS / STEPS)
    return load_model(card, device=device, progress=progress)


def fill(model, text, **options):
    if SLOW_WORD in text:
        time.sleep(FILL_SECONDS)
    return fill_blanks(model, text, **options)


if __name__ == "__main__":
    analysis.fill_blanks = fill
    explorer.open_registry = lambda: Registry(CATALOGUE, lambda: LocalBackend(load, cards=CATALOGUE))
    app.main()
