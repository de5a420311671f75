"""The worker with steps that are counted instead of trained: started as the real one is, by its command."""

import argparse
import signal
from pathlib import Path

from explorer.training.jobs.executing import WorkerEnded
from explorer.training.jobs.shelf import Shelf
from explorer.training.jobs.worker import be_modest, end_gently, work_off
from tests.training.jobs.jobs_made import choose, count_steps, find

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--device")
    parser.add_argument("--largest-file", type=int, default=0, help="in bytes, as if the disk were full beyond it")
    given = parser.parse_args()
    if given.largest_file:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (given.largest_file, given.largest_file))
    be_modest()
    signal.signal(signal.SIGTERM, end_gently)
    try:
        worked = work_off(
            Shelf(given.folder), given.device, count_steps, find, choose, most_seconds=60.0, idle_seconds=0.5
        )
        print("worked" if worked else "somebody else works", flush=True)
    except WorkerEnded:
        print("ended from outside", flush=True)
