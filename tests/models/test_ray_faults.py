"""Replicas that die or hang, and callers who leave, on a real cluster of two replicas: slow to start."""

import os
import signal
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason="needs the extra 'ray': pip install -e '.[ray]'")

from explorer.errors import ModelUnavailable, NobodyWaits, TooBusy  # noqa: E402
from explorer.models.backend import LoadedModel  # noqa: E402
from explorer.models.callers import Caller, calling, current_caller  # noqa: E402
from tests.models.ray_cluster import SLOW, cluster  # noqa: E402
from tests.models.tiny_loader import A, B, wait_until  # noqa: E402

pytestmark = pytest.mark.slow

REPLICAS = 2


@pytest.fixture(scope="module")
def whole_cluster():
    with cluster(__name__, replicas=REPLICAS) as backend:
        yield backend


@pytest.fixture
def backend(whole_cluster):
    """With all its replicas: one that died in the test before is replaced first."""
    wait_until(lambda: _replicas(whole_cluster) == REPLICAS, seconds=60)
    return whole_cluster


def _replicas(backend) -> int:
    try:
        return len(backend._look())
    except ModelUnavailable:
        return 0


def who_asks(model: LoadedModel) -> tuple[str, float]:
    return current_caller().name, current_caller().longest_seconds


def who_asks_twice(model: LoadedModel):
    yield who_asks(model)
    yield who_asks(model)


def process(model: LoadedModel) -> int:
    return os.getpid()


def stay_until_left(model: LoadedModel, folder: Path) -> None:
    (folder / "begun").touch()
    wait_until(lambda: not current_caller().is_waiting())
    (folder / "ended").touch()


def stay_between_steps(model: LoadedModel, folder: Path):
    yield 1
    stay_until_left(model, folder)
    yield 2


def die(model: LoadedModel, folder: Path, times: int) -> int:
    """End the process, so many times; then say how often it was asked."""
    asked = len(list(folder.iterdir()))
    (folder / str(asked)).touch()
    if asked < times:
        os._exit(1)
    return asked + 1


def die_before_a_step(model: LoadedModel, folder: Path, times: int):
    yield die(model, folder, times)


def die_after_a_step(model: LoadedModel, folder: Path):
    yield "seen"
    wait_until((folder / "seen").exists)
    die(model, folder, 99)
    yield "never"


def leaver(folder: Path) -> Caller:
    """One who leaves as soon as his question is at work."""
    return Caller("leaver", lambda: not (folder / "begun").exists())


def test_replicas_know_who_asks(backend):
    with calling(Caller("anna", longest_seconds=7.0)):
        assert backend.run(A, who_asks) == ("anna", 7.0)
        assert list(backend.stream(A, who_asks_twice)) == [("anna", 7.0)] * 2
    assert backend.run(A, who_asks)[0] == ""


def test_a_question_that_nobody_waits_for_ends_there(backend, tmp_path):
    with calling(leaver(tmp_path)), pytest.raises(NobodyWaits):
        backend.run(A, partial(stay_until_left, folder=tmp_path))
    wait_until((tmp_path / "ended").exists)


def test_a_stream_that_nobody_waits_for_ends_there(backend, tmp_path):
    with calling(leaver(tmp_path)):
        steps = backend.stream(A, partial(stay_between_steps, folder=tmp_path))
        assert next(steps) == 1
        with pytest.raises(NobodyWaits):
            next(steps)
    wait_until((tmp_path / "ended").exists)


def test_a_download_that_nobody_waits_for_ends(backend):
    with pytest.raises(ModelUnavailable, match="The download of slow was stopped"):
        backend.load(SLOW, lambda: SLOW not in backend.status())
    wait_until(lambda: SLOW not in backend.status())


def test_what_another_visitor_uses_is_not_unloaded(backend):
    backend.load(B)
    for _ in range(2 * REPLICAS):
        with calling(Caller("anna")):
            backend.run(B, process)
    with calling(Caller("ben")), pytest.raises(TooBusy, match="another visitor used it"):
        backend.unload(B)
    assert B in backend.status()
    backend.unload(B)  # the operator may
    assert B not in backend.status()


@pytest.mark.parametrize("is_stream", [False, True], ids=["run", "stream"])
def test_a_question_whose_replica_dies_is_asked_once_more(backend, tmp_path, is_stream):
    if is_stream:
        assert list(backend.stream(A, partial(die_before_a_step, folder=tmp_path, times=1))) == [2]
    else:
        assert backend.run(A, partial(die, folder=tmp_path, times=1)) == 2


def test_one_that_two_replicas_die_of_is_not_asked_again(backend, tmp_path):
    with pytest.raises(ModelUnavailable, match="^The model server does not answer"):
        backend.run(A, partial(die, folder=tmp_path, times=99))
    assert 2 <= len(list(tmp_path.iterdir())) <= 4  # that it had begun may be lost, too


def test_an_answer_that_has_been_seen_in_part_is_not_begun_again(backend, tmp_path):
    steps = backend.stream(A, partial(die_after_a_step, folder=tmp_path))
    assert next(steps) == "seen"
    (tmp_path / "seen").touch()
    with pytest.raises(ModelUnavailable, match="^The model server does not answer"):
        next(steps)
    assert len(list(tmp_path.iterdir())) == 2  # the sign, and one attempt


@contextmanager
def halted(process_id: int):
    os.kill(process_id, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process_id, signal.SIGCONT)


def test_a_replica_that_hangs_keeps_nobody_from_the_page(backend):
    backend.load(A)
    limit_bytes = backend.budget().limit_bytes
    with halted(backend.run(A, process)):
        began = time.monotonic()
        assert backend.status()[A].device == "cpu"  # of the other alone
        assert backend.budget().limit_bytes == limit_bytes // REPLICAS
        assert time.monotonic() - began < 10
    wait_until(lambda: backend.budget().limit_bytes == limit_bytes)
