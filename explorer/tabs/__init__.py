"""The tabs of the page, in order. To add one, write its file and list it here."""

import explorer.tabs.lean_gradio  # noqa: F401, I001  before all that import gradio
from explorer.tabs import anisotropy, attention, fill_blanks, fine_tune, generate, models, neighbours

TABS = (
    fill_blanks.build,
    generate.build,
    attention.build,
    neighbours.build,
    anisotropy.build,
    fine_tune.build,
    models.build,
)
