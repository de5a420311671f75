"""What the page opens on is what the model says."""

import math

from explorer.tabs.first_view import compute_first_view, read_first_view


def test_the_stored_first_view_is_the_models_own_answer(shipped_registry):
    stored, live = read_first_view(), compute_first_view(shipped_registry)
    assert stored.tokens == live.tokens
    for before, now in zip(stored.blanks, live.blanks, strict=True):
        assert [choice.token for choice in before.choices] == [choice.token for choice in now.choices]
        assert all(
            math.isclose(a.probability, b.probability, rel_tol=1e-3)
            for a, b in zip(before.choices, now.choices, strict=True)
        )
    assert [completion.fills for completion in stored.completions] == [c.fills for c in live.completions]
