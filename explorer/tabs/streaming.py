"""Steps of an analysis as they come, with what the visitor is told meanwhile."""

from collections.abc import Callable, Iterator

from explorer.models.backend import LoadedModel, Result
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.messages import explain, loading_words, progress_box
from explorer.tabs.visitors import find_model


def stream_steps(
    registry: Registry,
    model: str,
    analysis: Callable[[LoadedModel], Iterator[Result]],
    ability: Ability | None = Ability.GENERATE,
) -> Iterator[tuple[str, Result | None]]:
    """The message and a step each time; no step while the model is on its way or at work on one, and after an error.

    Closing the iterator ends the work. What the model is wanted for decides the suggestions about an unknown name.
    """
    try:
        models, name = find_model(registry, model, ability)
        for words in loading_words(models, name, ability):
            yield progress_box(words), None
        steps = models.stream(name, analysis)
        try:
            for step in steps:
                yield "", step
        finally:
            steps.close()
    except Exception as error:
        yield explain(error), None
