"""Several processes train one model: the same weights in each, twice the text in a step, one set of files."""

import json
import os
import socket
import subprocess
import sys

import pytest
import torch

from explorer.training.workers import Workers, find_workers

PROGRAM = """
import hashlib, sys
from explorer.training import run
def finish(task, *rest, pretrain=run.pretrain):
    step = pretrain(task, *rest)
    weights = b"".join(weight.detach().numpy().tobytes() for weight in task.network.parameters())
    print("WEIGHTS", hashlib.sha256(weights).hexdigest(), step.tokens)
    return step
run.pretrain = finish
from explorer.cli import main
main(sys.argv[1:])
"""


def test_one_process_is_alone(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert find_workers("cpu") == Workers(0, 1)
    weight = torch.ones(3, requires_grad=True)
    weight.sum().backward()
    assert Workers().share([weight], 4.5) == 4.5
    assert torch.equal(weight.grad, torch.ones(3))


@pytest.mark.slow
def test_two_processes_train_one_model(tmp_path, start_folder, corpus_file):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = ["pretrain", "masked", "--start", start_folder, "--corpus", corpus_file, "--tokens", "2048"]
    arguments += ["--batch-tokens", "256", "--lengths", "32", "--folder", tmp_path / "run"]
    together = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "EXPLORER_DEVICE": "cpu"}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *map(str, arguments)],
            env=os.environ | together | {"RANK": str(rank), "LOCAL_RANK": str(rank), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    outputs = [process.communicate(timeout=200) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    weights = [next(line for line in out.splitlines() if line.startswith("WEIGHTS")) for out, _ in outputs]
    assert weights[0] == weights[1]
    assert weights[0].endswith(" 2048")
    tokens = [json.loads(line)["tokens"] for line in (tmp_path / "run/log.jsonl").read_text().splitlines()]
    assert tokens == [512, 1024, 1536, 2048]  # 256 of each process a step, and one log
    assert ["To ship:" in out for out, _ in outputs] == [True, False]
