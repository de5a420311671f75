"""Whatever is sent to whichever handler: it is answered, the answer can be sent, and no fault of ours is logged.

In processes of their own: the tests check annotations that bind nobody in production, and the inputs depend on what
modules are loaded.
"""

import os
import subprocess
import sys

import pytest

from tests.program import ROOT


def run(arguments: list[str], **environment: str) -> str:
    """What Python prints, from the root of the project."""
    ended = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=os.environ | environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-4000:]
    return ended.stdout


@pytest.mark.slow
def test_a_page_without_models_answers_anything(tmp_path):
    told = run(
        ["-m", "tests.hostile.anything_page", "250"],
        EXPLORER_JOBS_FOLDER=str(tmp_path),
        PYTHONHASHSEED="0",  # what is drawn depends on it
    )
    assert "250 inputs" in told


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_program_with_the_shipped_models_answers_anything(shipped_registry):
    assert "10000 inputs" in run(["benchmarks/anything_sent.py", "--inputs", "10000"])
