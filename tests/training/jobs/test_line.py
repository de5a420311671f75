"""Who is next."""

from explorer.training.jobs.line import HALF_LIFE_SECONDS, Use, Waiting, order_line
from explorer.training.jobs.shelf import Shelf


def waiting(*owners: str) -> list[Waiting]:
    return [Waiting(f"{owner}{number}", owner, number) for number, owner in enumerate(owners)]


def test_owners_take_turns_whoever_asked_for_more():
    assert order_line(waiting("a", "a", "a", "b", "b", "c"), {}) == ("a0", "b3", "c5", "a1", "b4", "a2")


def test_who_used_less_comes_first():
    assert order_line(waiting("a", "b", "a"), {"a": 90.0}) == ("b1", "a0", "a2")
    assert order_line(waiting("a", "b", "b"), {"a": 30.0}) == ("b1", "a0", "b2")


def test_thirty_owners_are_each_served_once_before_any_is_served_twice():
    owners = [f"owner {number}" for number in range(30)]
    line = order_line([Waiting(f"{owner}-{turn}", owner, 3 * place + turn)
                       for place, owner in enumerate(owners) for turn in range(3)], {})  # fmt: skip
    for turn in range(3):
        assert [id.rpartition("-")[0] for id in line[30 * turn : 30 * (turn + 1)]] == owners


def test_what_was_used_is_forgotten_and_a_clock_going_backwards_changes_nothing():
    use = Use(100.0, at=1e9)
    assert use.counted(1e9 + HALF_LIFE_SECONDS) == 50.0
    assert use.counted(0.0) == 100.0


def test_use_is_kept_on_disk_and_outlives_deleted_jobs(tmp_path):
    shelf = Shelf(tmp_path, clock=lambda: 1e9)
    with shelf.changing():
        shelf.charge("a", 40.0)
        shelf.charge("b", 5.0)
        shelf.charge("a", 2.0)
    assert Shelf(tmp_path)._use()["a"] == Use(42.0, 1e9)
    (tmp_path / "use.json").write_text("{")
    assert Shelf(tmp_path)._use() == {}
