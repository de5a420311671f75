"""Questions to a cluster end when nobody waits for them, or nobody takes them; no cluster is needed to see it."""

import gc
from queue import Queue
from threading import enumerate as threads
from weakref import ref

from explorer.errors import NobodyWaits, TooBusy
from explorer.models.ray_questions import OpenQuestions, _watch
from tests.models.tiny_loader import wait_until

MOST_SECONDS = 30


def test_one_that_is_waited_for_goes_on():
    ended = Queue()
    with OpenQuestions().asked(lambda: True, lambda: ended.put(1)) as question:
        question.end_if_over()
        assert question.error is None and ended.empty()


def test_one_whose_caller_has_left_is_ended():
    ended = Queue()
    with OpenQuestions().asked(lambda: False, lambda: ended.put(1)) as question:
        ended.get(timeout=MOST_SECONDS)
        assert isinstance(question.error, NobodyWaits)


def test_it_is_ended_again_until_that_is_so():
    ended = Queue()
    with OpenQuestions().asked(lambda: False, lambda: ended.put(1)):
        for _ in range(3):  # a replica may not know of it yet
            ended.get(timeout=MOST_SECONDS)


def test_one_that_nobody_takes_in_time_is_ended():
    ended = Queue()
    with OpenQuestions().asked(lambda: True, lambda: ended.put(1), begin_within_seconds=0.0) as question:
        ended.get(timeout=MOST_SECONDS)
        assert isinstance(question.error, TooBusy)


def test_one_that_is_taken_may_last():
    ended = Queue()
    with OpenQuestions().asked(lambda: True, lambda: ended.put(1), begin_within_seconds=MOST_SECONDS) as question:
        question.begin_by_seconds = None
        question.end_if_over()
        assert question.error is None and ended.empty()


def test_one_that_is_answered_is_looked_at_no_more():
    looks = Queue()
    questions = OpenQuestions()
    with questions.asked(lambda: looks.put(1) or True, lambda: None):
        looks.get(timeout=MOST_SECONDS)
    assert not questions._open


def test_the_thread_ends_with_them():
    before = {thread for thread in threads() if thread._target is _watch}
    questions = OpenQuestions()
    (watcher,) = {thread for thread in threads() if thread._target is _watch} - before
    gone = ref(questions)
    del questions
    gc.collect()
    assert gone() is None
    wait_until(lambda: not watcher.is_alive())
