"""A run of the tests that leaves something behind fails, and says what."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONFTEST = """
from pathlib import Path
from tests import whole_run

whole_run.ROOT, whole_run.GONE_SECONDS = Path(__file__).parent, 0.2
"""
LEAVES_A_PROCESS = """
import subprocess, sys

def test_it():
    subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
"""
LEAVES_A_FILE = """
from pathlib import Path

def test_it():
    Path(__file__).with_name("left.txt").write_text("here")
"""
LEAVES_NOTHING = """
import subprocess, sys

def test_it(tmp_path):
    (tmp_path / "mine.txt").write_text("here")
    subprocess.run([sys.executable, "-c", ""], check=True)
"""


@pytest.mark.parametrize(
    "workers", [[], pytest.param(["-n", "1"], marks=pytest.mark.slow)], ids=["alone", "with a worker"]
)
@pytest.mark.parametrize(
    ("test", "says"),
    [(LEAVES_A_PROCESS, "LEFT BEHIND process"), (LEAVES_A_FILE, "LEFT BEHIND file left.txt"), (LEAVES_NOTHING, "")],
    ids=["process", "file", "nothing"],
)
def test_what_is_left_behind_fails_the_run(tmp_path, test, says, workers):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_left.py").write_text(test)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.whole_run", "-p", "no:cacheprovider", *workers]
    run = subprocess.run(
        [*command, "-c", tmp_path / "pytest.ini", tmp_path / "test_left.py"], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == bool(says), run.stdout + run.stderr
    assert says in run.stdout and "Most memory held at once" in run.stdout
    assert ("LEFT BEHIND" in run.stdout) == bool(says)
