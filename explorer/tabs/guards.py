"""What stands between the network and Gradio, from the outside in."""

import gradio as gr
from starlette.middleware import Middleware

from explorer.tabs.answering import Answering
from explorer.tabs.doors import Doors
from explorer.tabs.fetching import Fetching
from explorer.tabs.limits import RequestLimits
from explorer.tabs.upload_room import UploadRoom


def guards(page: gr.Blocks) -> list[Middleware]:
    """The middleware of a page, for launch(app_kwargs={"middleware": …}), with the limits of the settings."""
    return [
        Answering.middleware(),
        Doors.middleware(page),
        UploadRoom.middleware(),
        RequestLimits.middleware(),
        Fetching.middleware(),
    ]
