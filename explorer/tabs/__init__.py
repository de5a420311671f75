"""The tabs of the page, in order. To add one, write its file and list it here."""

from explorer.tabs import fill_blanks, models

TABS = (
    fill_blanks.build,
    models.build,
)
