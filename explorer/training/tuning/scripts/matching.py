"""When two answers are the same, as SQuAD counts it."""

import re
import string


def normalise(text: str) -> str:
    """Without case, punctuation, articles and surplus spaces."""
    text = text.lower().translate(str.maketrans("", "", string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())
