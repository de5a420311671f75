"""The loopback Hub, the small checkpoint and the settings that the tests of models use; and what the log says."""

import logging
from io import StringIO

import pytest

from explorer.logs import FORMAT, TextlessFormatter
from tests.hostile.small_page import http, page  # noqa: F401
from tests.models.conftest import bert_copy, bert_folder, hub, set_settings  # noqa: F401


@pytest.fixture
def log(capfd):
    """All that is logged or printed, as app.py logs it; read when it is called."""
    logged = StringIO()
    handler = logging.StreamHandler(logged)
    handler.setFormatter(TextlessFormatter(FORMAT))
    root = logging.getLogger()
    root.addHandler(handler)
    yield lambda: logged.getvalue() + "".join(capfd.readouterr())
    root.removeHandler(handler)
