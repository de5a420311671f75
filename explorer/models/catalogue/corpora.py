"""What this project's own models were trained on, and under which licences, as their cards say it."""

_WIKIPEDIA = "English Wikipedia (CC BY-SA 3.0)"
_NOVELS = "novels in the public domain"
_WIKINEWS = "Wikinews (CC BY 2.5)"
_STORIES = "children's stories of African Storybook (CC BY 4.0)"

ALL_TEXT = f"{_WIKIPEDIA}, {_NOVELS}, {_WIKINEWS} and {_STORIES}"
LONG_TEXT = f"{_WIKIPEDIA}, {_NOVELS} and {_WIKINEWS}"
