"""What visitors share: bounded, computed once, errors told to all who wait."""

import threading

import pytest

from explorer.tabs.kept import Kept


def test_the_oldest_leave_when_there_is_no_room():
    kept = Kept(room_mib=1, size_of=lambda value: value)
    kept.put("a", 600_000)
    kept.put("b", 400_000)
    assert kept.get("a", lambda: 0) == 600_000  # now b is the oldest
    kept.put("c", 300_000)
    assert kept.has("a") and not kept.has("b") and kept.size_bytes == 900_000
    kept.put("d", 2**21)  # larger than all the room
    assert not kept.has("d") and kept.size_bytes <= 2**20


def test_an_error_reaches_all_who_wait_and_is_not_kept():
    kept, gate, raised = Kept(1, len), threading.Event(), []

    def fail():
        gate.wait(10)
        raise ValueError("no")

    def ask():
        try:
            kept.get("key", fail)
        except ValueError as error:
            raised.append(str(error))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    while not kept.knows("key"):
        pass
    gate.set()
    for thread in threads:
        thread.join(10)
    assert raised == ["no"] * 3 and not kept.knows("key")
    assert kept.get("key", lambda: "yes") == "yes"
    with pytest.raises(ZeroDivisionError):
        kept.get("other", lambda: 1 // 0)
