"""Joiner: single calls of many threads go together in one request.

The first caller of a lane sends its item at once. Items that come while this request is under
way wait, and go together in the next one, which one of their callers sends. So a single call
waits for nobody when it is alone, and many of them cost few requests.

Thread safe.
"""

from __future__ import annotations

import threading
from typing import Any, Callable, Dict, Generic, List, Optional, Tuple, TypeVar

from .calls import Lane
from .errors import InvalidRequest, TarryError
from .model import Result

T = TypeVar("T")

MAX_ITEMS = 1000
MAX_BYTES = 4 * 1024 * 1024


class _Waiting(Generic[T]):
    def __init__(self, item: bytes) -> None:
        self.item = item
        self.result: Optional[Result[T]] = None
        self.leads = False
        self.changed = threading.Event()


def take_batch(waiting: List[Any], size_of: Callable[[Any], int]) -> Tuple[List[Any], List[Any]]:
    """(those for the next request, the rest)."""
    size = 0
    for count, one in enumerate(waiting):
        size += size_of(one)
        if count == MAX_ITEMS or (count and size > MAX_BYTES):
            return waiting[:count], waiting[count:]
    return waiting, []


class Joiner:
    def __init__(self, send: Callable[[Lane, List[bytes], Callable[[Any], Any]],
                                      List[Result[Any]]]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._lanes: Dict[Lane, List[_Waiting[Any]]] = {}  # there: a request is under way

    def ask(self, lane: Lane, item: bytes, read: Callable[[Any], T]) -> T:
        """The item's result; raises its error."""
        mine: _Waiting[T] = _Waiting(item)
        with self._lock:
            if lane in self._lanes:
                self._lanes[lane].append(mine)
            else:
                self._lanes[lane] = []
                mine.leads = True
        if not mine.leads:
            mine.changed.wait()
        if mine.leads:
            self._lead(lane, mine, read)
        if isinstance(mine.result, TarryError):
            raise mine.result
        assert mine.result is not None
        return mine.result

    def _lead(self, lane: Lane, mine: _Waiting[Any], read: Callable[[Any], Any]) -> None:
        with self._lock:
            batch, rest = take_batch([mine, *self._lanes[lane]], lambda one: len(one.item))
            self._lanes[lane] = rest
        try:
            results = self._results(lane, [one.item for one in batch], read)
        except BaseException:
            results = [TarryError("the thread that sent the request was interrupted",
                                  "unknown_outcome")] * len(batch)
            raise
        finally:
            for one, result in zip(batch, results):
                one.result = result
                if one is not mine:
                    one.changed.set()
            self._hand_over(lane)

    def _hand_over(self, lane: Lane) -> None:
        with self._lock:
            waiting = self._lanes[lane]
            if not waiting:
                del self._lanes[lane]
                return
            next_one = waiting.pop(0)
        next_one.leads = True
        next_one.changed.set()

    def _results(self, lane: Lane, items: List[bytes], read: Callable[[Any], Any]
                 ) -> List[Result[Any]]:
        try:
            return self._send(lane, items, read)
        except InvalidRequest as error:
            if len(items) == 1:
                return [error]
        except TarryError as error:
            return [error] * len(items)
        # The request as a whole was refused, and nothing was done: one of the items is at fault.
        return [self._results(lane, [item], read)[0] for item in items]
