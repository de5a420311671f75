"""The program in a process of its own, on loopback."""

import os
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def start(arguments: list[str], folder: Path, **streams: object) -> tuple[subprocess.Popen, str]:
    """Start a page on a free port of loopback, offline; whoever starts it ends it.

    Args:
        arguments: What Python runs, from the root of the project.
        folder: For the jobs of its visitors, unless the environment names another.
        streams: As Popen takes them.

    Returns:
        The process, and the address that the page will have.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"GRADIO_SERVER_PORT": str(port), "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"}
    environment["PYTHONPATH"] = str(ROOT)
    environment.setdefault("EXPLORER_JOBS_FOLDER", str(folder / "jobs"))
    return subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, env=environment, **streams
    ), f"http://127.0.0.1:{port}/"
