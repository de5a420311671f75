"""Gradio's queue of questions, but fair: nobody's questions keep all others waiting."""

from collections import Counter
from collections.abc import Hashable
from typing import Any

from gradio.data_classes import PredictBodyInternal
from gradio.exceptions import Error
from gradio.queueing import Event, Queue
from gradio.server_messages import EventMessage, ProcessCompletedMessage
from gradio.utils import error_payload
from starlette.requests import Request

TOO_MANY = "Too many questions are waiting, and of all visitors you have asked most of them. Ask again in a minute."


def may_have_one_more(own: int, free: int) -> bool:
    """Whether a visitor may have one more place, so that some stay free for those who have none.

    One visitor comes to half of all places so, two to three quarters of them, and so on.

    Args:
        own: Places that he has.
        free: Places that nobody has.
    """
    return own < free


def visitor_name(session: str | None, event_id: str | None, request: Request | None) -> str:
    """By what a visitor is known: his page, or his address where he asks over HTTP without one.

    Args:
        session: As the question names it; Gradio makes one of the event's id where it names none.
        event_id: Of the question.
        request: With which it came; the page's own events of loading may have none.
    """
    return session if session and session != event_id else address_of(request)


def address_of(request: Request | None) -> str:
    """Where a question came from."""
    client = getattr(request, "client", None)
    return client.host if client else "somebody"


class FairQueue(Queue):
    """Whoever has fewest questions at work is next, and of those the first to come.

    A visitor gets no further place at work while he has as many as are free (may_have_one_more). When no more may wait,
    the last question of the visitor who has most of those that do makes room for those of others. Where so many pages
    are known as can be, the oldest makes room of the address that has most of them.
    """

    _nothing_next_in: Hashable = None  # the state in which none could be next

    def __init__(self, *given: Any, **named: Any) -> None:
        """As Queue."""
        super().__init__(*given, **named)
        self._addresses: dict[str, str] = {}  # of sessions, some of which may be gone

    @classmethod
    def instead_of(cls, queue: Queue) -> "FairQueue":
        """One with the settings of another, which is still empty."""
        return cls(
            live_updates=queue.live_updates,
            concurrency_count=queue.max_thread_count,
            update_intervals=queue.update_intervals,
            max_size=queue.max_size,
            blocks=queue.blocks,
            default_concurrency_limit=queue.default_concurrency_limit,
        )

    async def push(self, body: PredictBodyInternal, request: Request, username: str | None) -> tuple:
        """Let a question wait; as Queue does."""
        body.session_hash = body.session_hash or None  # "" is nobody, whom Queue would take for a page
        if self.max_size is not None and len(self) >= self.max_size:
            self._make_room_for(visitor_name(body.session_hash, None, request))
        known = self.pending_messages_per_session
        if body.session_hash not in known and len(known) >= known.max_size:
            await self._forget_one_of_most(address_of(request))
        answer = await super().push(body, request, username)
        if body.session_hash:
            self._addresses[body.session_hash] = address_of(request)
        return answer

    async def drop(self, session: str) -> None:
        """End what a page has asked for, and forget it with the answers that it has not read."""
        await self.clean_events(session_hash=session)
        self.forget(session)

    def forget(self, session: str) -> None:
        """Keep nothing of a page for which nothing is at work."""
        self.pending_messages_per_session.pop(session, None)
        self.pending_event_ids_session.pop(session, None)

    def send_message(self, event: Event, event_message: EventMessage) -> None:
        """Have a question's visitor read something, as Queue does; nothing where he is not listening any more."""
        if event.session_hash in self.pending_messages_per_session:
            super().send_message(event, event_message)

    def compute_analytics_summary(self, records: list[dict]) -> dict:
        """Nothing: Queue counts the last 10,000 questions anew after each, for a page that is not open here."""
        return self.cached_event_analytics_summary

    def get_events(self) -> tuple[list[Event], bool, str] | None:
        """The question that is next, as Queue gives it; None = none can be now. Asked a thousand times a second."""
        free = self.active_jobs.count(None)
        if (state := (self.events_recorded, free)) == self._nothing_next_in:
            return None
        at_work = Counter(_visitor_of(event) for job in self.active_jobs if job for event in job)
        able = [
            event
            for queue in self.event_queue_per_concurrency_id.values()
            if queue.concurrency_limit is None or queue.current_concurrency < queue.concurrency_limit
            for event in queue.queue
            if may_have_one_more(at_work[_visitor_of(event)], free)
        ]
        if not able:
            self._nothing_next_in = state
            return None
        event = min(able, key=lambda event: (at_work[_visitor_of(event)], event.enqueue_time))
        self.event_queue_per_concurrency_id[event.concurrency_id].queue.remove(event)
        return [event], False, event.concurrency_id

    async def _forget_one_of_most(self, asking: str) -> None:
        """Forget the oldest page of the address that has most of them; of equals, of the one that asks."""
        known = self.pending_messages_per_session
        self._addresses = {session: self._addresses.get(session, "") for session in known}
        counts = Counter(self._addresses.values())
        crowded = max(counts, key=lambda address: (counts[address], address == asking))
        await self.drop(next(session for session in known if self._addresses[session] == crowded))

    def _make_room_for(self, asking: str) -> None:
        """Send the last question away of who has most waiting, unless that is who asks."""
        waiting = [event for queue in self.event_queue_per_concurrency_id.values() for event in queue.queue]
        counts = Counter(map(_visitor_of, waiting))
        [(visitor, most)] = counts.most_common(1)
        if most <= counts[asking] + 1:
            return
        last = max((event for event in waiting if _visitor_of(event) == visitor), key=lambda event: event.enqueue_time)
        self.event_queue_per_concurrency_id[last.concurrency_id].queue.remove(last)
        self.event_ids_to_events.pop(last._id, None)
        said = error_payload(Error(TOO_MANY, print_exception=False), show_error=True)
        self.send_message(last, ProcessCompletedMessage(output=said, success=False, title="Error"))


def _visitor_of(event: Event) -> str:
    return visitor_name(event.session_hash, event._id, event.request)
