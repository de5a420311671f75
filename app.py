"""Start the explorer: lay out the page, open it, and bring the first model into memory behind it."""

import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from threading import Event, Thread
from urllib.request import getproxies_environment

from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

import explorer
from explorer.logs import LOG, begin_log, take_over
from explorer.models.catalogue import DEFAULT_MODEL
from explorer.settings import settings
from explorer.tabs.browser_files import browser_files_route, pack_plotly
from explorer.tabs.connections import bound_connections
from explorer.tabs.fine_tune.download import download_route
from explorer.tabs.first_page import drawn_route, left_route, page_routes
from explorer.tabs.guards import guards
from explorer.tabs.leaving import hear_signals, serve_until_told
from explorer.tabs.page import THEME, build_page, page_style
from explorer.tabs.unread import Unread
from explorer.training.jobs.supervising import open_jobs, watch_jobs

MOST_SECONDS_TO_DRAW = 5  # and as long for nobody to come
MOST_PAGES = 2000  # that Gradio remembers, with what their States hold; those that asked longest ago are forgotten
MOST_THREADS = 100  # also the most events that Gradio lets be at work, streams of a class of 30 included


def main() -> None:
    """Serve the page until SIGINT (Ctrl+C) or SIGTERM comes, then answer what is at work, and leave with 0."""
    heard = hear_signals()
    ask_itself_directly()
    begin_log()
    registry = explorer.open_registry()
    page = build_page(registry)
    Unread.watch(page)
    drawn = Event()
    page.launch(
        theme=THEME,
        **page_style(),
        max_threads=MOST_THREADS,
        state_session_capacity=MOST_PAGES,
        prevent_thread_lock=True,
        _frontend=False,  # else it gives up where its own first page takes it longer than 3 s
        run_history=False,
        ssr_mode=False,
        show_error=False,
        enable_monitoring=False,
        footer_links=["api"],
        max_file_size=f"{int(settings().largest_upload_mib)}mb",
        app_kwargs={
            "middleware": [Middleware(GZipMiddleware, compresslevel=4), *guards(page)],
            "routes": [
                *page_routes(),
                browser_files_route(),
                drawn_route(drawn),
                left_route(page),
                download_route(registry, open_jobs()),
            ],
        },
    )
    bound_connections(page)
    take_over("uvicorn")
    Thread(target=watch_jobs, args=(open_jobs(), Event()), daemon=True).start()
    Thread(target=warm_up, args=(registry, drawn), daemon=True).start()
    serve_until_told(page, heard)


def ask_itself_directly() -> None:
    """Let no proxy that the environment names stand between Gradio and its own page: a school's does not know it."""
    if proxies := getproxies_environment():
        os.environ["no_proxy"] = ",".join(filter(None, [proxies.get("no"), "127.0.0.1", "localhost"]))


def warm_up(registry: explorer.models.registry.Registry, drawn: Event) -> None:
    """Make ready what the first visitor needs: plotly's script, then, in memory, the model of the first view.

    Args:
        registry: Of the models.
        drawn: Set when a browser has drawn the page; torch takes seconds to import, and a page that is opened meanwhile
            as many to come.
    """
    pack_plotly()
    drawn.wait(MOST_SECONDS_TO_DRAW)
    try:
        registry.load(DEFAULT_MODEL)
    except explorer.errors.ExplorerError as error:
        LOG.warning("%s", error)


if __name__ == "__main__":
    main()
