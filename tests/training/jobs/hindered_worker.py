"""The real worker, started by its command, but without room on the disk, memory, or a gentle learning rate."""

import argparse
import resource
import signal
import sys
from pathlib import Path

from explorer.training.jobs import runs, worker
from explorer.training.tuning import fine_tuning
from explorer.training.tuning.session import Session


def address_space() -> int:
    """Of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def train_in_little(train, more_memory):
    """Training that may have so many bytes more than the process has when it begins."""

    def limited(*args, **options):
        most = address_space() + more_memory
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
        yield from train(*args, **options)

    return limited


def step_wildly(take_step, rate):
    """Steps that, at this learning rate, make the weights as large as it would at length."""

    def wild(session):
        count = take_step(session)
        if session.recipe.learning_rate == rate:
            for weight in session.weights.values():
                weight.data.mul_(1e30)
        return count

    return wild


def stand_still(take_step, at):
    """Steps up to one at which the process waits to be killed."""

    def held(session):
        while session.step == at:
            signal.pause()
        return take_step(session)

    return held


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--largest-file", type=int, default=0, help="in bytes, as if the disk were full beyond it")
    parser.add_argument("--more-memory", type=int, default=0, help="in bytes, that a run may have beside what is there")
    parser.add_argument("--wild-rate", type=float, default=0.0, help="learning rate at which no loss stays a number")
    parser.add_argument("--hold-at-step", type=int, default=-1, help="of each run, to wait there to be killed")
    parser.add_argument("--checkpoint-seconds", type=float, default=fine_tuning.CHECKPOINT_SECONDS)
    given, others = parser.parse_known_args()
    sys.argv[1:] = others
    fine_tuning.CHECKPOINT_SECONDS, fine_tuning.LARGEST_CHECKPOINT_SHARE = given.checkpoint_seconds, 1.0
    if given.largest_file:
        resource.setrlimit(resource.RLIMIT_FSIZE, (given.largest_file, given.largest_file))
    if given.more_memory:
        runs.fine_tune_anyhow = train_in_little(runs.fine_tune_anyhow, given.more_memory)
    Session.take_step = stand_still(step_wildly(Session.take_step, given.wild_rate), given.hold_at_step)
    worker.be_modest = lambda: None  # beside other tests, that take all cores, it would get a tenth of one
    worker.main()
