"""Explore pre-trained language models.

Data flows one way, and each folder may import only from the folders above it:

    models    what models exist, and how to send an analysis to one
    analysis  what to compute: a loaded model and text in, a frozen result out
    training  how the bundled models were made: corpus, objective, loop
    figures   how to draw a result: a frozen result in, a plotly figure or HTML out
    tabs      what the visitor sees: layout, one handler, one figure

In a notebook:

    from functools import partial
    import explorer
    from explorer.analysis import fill_blanks

    registry = explorer.open_registry()
    registry.run("MiniLM (masked)", partial(fill_blanks, text="The cat ___ on the mat."))
"""

from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.settings import settings

__all__ = ["open_registry"]


def open_registry() -> Registry:
    """The catalogue on the backend that the settings choose; nothing is imported or loaded before the first use."""
    return Registry(CATALOGUE, _open_backend)


def _open_backend() -> object:
    if settings().ray_application:
        from explorer.models.ray_serve import RayServeBackend  # ray is an optional dependency

        return RayServeBackend(settings().ray_application)
    from explorer.models.local import LocalBackend

    return LocalBackend(cards=CATALOGUE)
