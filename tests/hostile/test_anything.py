"""Whatever is sent to whichever handler: it is answered, the answer can be sent, and no fault of ours is logged."""

import asyncio
import subprocess
import sys

import pytest
from gradio.state_holder import SessionState
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from explorer import analysis
from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.tabs import messages
from explorer.tabs.page import build_page
from explorer.training.jobs.supervising import WorkerStarter
from tests.hostile.anything import Senders, clicks
from tests.hostile.anything_page import answers, handlers_of, no_faults
from tests.hostile.test_every_handler import Nobody
from tests.program import ROOT

STEADY = settings(
    max_examples=500, database=None, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@pytest.fixture
def page(tmp_path, monkeypatch, set_settings):
    """Without models; jobs go to a folder of this test, where they wait for ever."""
    set_settings(jobs_folder=tmp_path / "jobs")
    monkeypatch.setattr(WorkerStarter, "__call__", lambda self: None)
    monkeypatch.setattr(messages, "LATE_SECONDS", 0)  # no browser is there to be late
    for name in analysis.ANALYSES:  # each is imported when it is first asked for
        getattr(analysis, name)
    return build_page(Registry(CATALOGUE, Nobody))


@pytest.mark.unsteady  # Hypothesis takes constants from what modules are loaded, and annotations are checked here
def test_a_page_without_models_answers_anything(page):
    handlers, senders, state = handlers_of(page), Senders(page), SessionState(page)
    loop = asyncio.new_event_loop()

    @STEADY
    @given(st.sampled_from(handlers), clicks(), st.data())
    def ask(handler, click, data):
        sent = data.draw(senders.values(handler), label=f"{handler.fn}")
        with no_faults():
            assert loop.run_until_complete(answers(page, handler, sent, click, state))

    try:
        ask()
    finally:
        loop.close()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_program_with_the_shipped_models_answers_anything(shipped_registry):
    """Over HTTP, and in processes of their own: here annotations are checked that bind nobody in production."""
    benchmark = [sys.executable, "benchmarks/anything_sent.py", "--inputs", "10000"]
    ended = subprocess.run(benchmark, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert "10000 inputs" in ended.stdout
