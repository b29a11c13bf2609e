"""The verbs of schedules."""

from __future__ import annotations

from typing import List, Mapping, Optional, TypeVar, Union

from . import schedules
from .calls import Call
from .model import Bytes, Outcome
from .moments import Duration, Moment
from .schedules import Missed, Occurrence, Schedule

T = TypeVar("T")


class ScheduleVerbs:
    """A part of `Client`."""

    def run(self, call: Call[T]) -> T:
        raise NotImplementedError

    def put_schedule(self, name: str, when: str, queue: str, payload: Bytes = b"", *,
                     zone: Optional[str] = None, start: Optional[Moment] = None,
                     end: Optional[Moment] = None, jitter: Optional[Duration] = None,
                     headers: Optional[Mapping[str, str]] = None,
                     priority: Optional[int] = None,
                     missed: Optional[Union[Missed, str]] = None,
                     paused: bool = False) -> Outcome:
        """Adds a schedule, or replaces the one of that name: `added` or `replaced`.

        `when` is a cron expression, "@daily" or "every 15m"; `queue` gets the messages.
        """
        return self.run(schedules.put(name, when, queue, payload, zone, start, end, jitter,
                                      headers, priority, missed, paused))

    def schedule(self, name: str) -> Schedule:
        """Raises NotFound."""
        return self.run(schedules.get(name))

    def schedules(self, prefix: Optional[str] = None) -> List[Schedule]:
        """All schedules whose names begin with the prefix, in no particular order."""
        found, after = self.run(schedules.page(prefix, ""))
        while after:
            more, after = self.run(schedules.page(prefix, after))
            found += more
        return found

    def pause_schedule(self, name: str) -> None:
        """Until it is resumed, its occurrences do not happen. Raises NotFound."""
        self.run(schedules.pause(name))

    def resume_schedule(self, name: str) -> None:
        """Nothing makes up for occurrences in the pause. Raises NotFound."""
        self.run(schedules.resume(name))

    def run_schedule(self, name: str) -> str:
        """Pushes a message of the schedule now; the message's key. Raises NotFound."""
        return self.run(schedules.run(name))

    def remove_schedule(self, name: str) -> None:
        """Messages that it has pushed stay. Raises NotFound."""
        self.run(schedules.remove(name))

    def occurrences(self, when: str, *, zone: Optional[str] = None,
                    start: Optional[Moment] = None, end: Optional[Moment] = None,
                    jitter: Optional[Duration] = None, name: Optional[str] = None,
                    from_: Optional[Moment] = None, count: Optional[int] = None
                    ) -> List[Occurrence]:
        """The next times of a schedule that need not be saved; 5 unless `count` says otherwise.

        `from_`: occurrences after this time, else after now; `name`: the jitter follows from it.
        """
        return self.run(schedules.occurrences(when, zone, start, end, jitter, name, from_,
                                              count))
