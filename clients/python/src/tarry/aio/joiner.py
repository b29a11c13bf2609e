"""Joiner: single calls of many tasks go together in one request, as in ..joiner."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Dict, List, Set, Tuple, TypeVar

from ..calls import Lane
from ..errors import InvalidRequest, TarryError
from ..joiner import take_batch
from ..model import Result

T = TypeVar("T")
_Waiting = Tuple[bytes, "asyncio.Future[Result[Any]]"]
Send = Callable[[Lane, List[bytes], Callable[[Any], Any]], Awaitable[List[Result[Any]]]]


class Joiner:
    """For one event loop."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._lanes: Dict[Lane, List[_Waiting]] = {}  # there: a task sends
        self._tasks: Set[asyncio.Task[None]] = set()

    async def ask(self, lane: Lane, item: bytes, read: Callable[[Any], T]) -> T:
        """The item's result; raises its error. A caller that is cancelled stops nobody else."""
        future: asyncio.Future[Result[T]] = asyncio.get_running_loop().create_future()
        if lane in self._lanes:
            self._lanes[lane].append((item, future))
        else:
            self._lanes[lane] = [(item, future)]
            task = asyncio.ensure_future(self._work(lane, read))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        result = await future
        if isinstance(result, TarryError):
            raise result
        return result

    async def _work(self, lane: Lane, read: Callable[[Any], Any]) -> None:
        while self._lanes[lane]:
            batch, self._lanes[lane] = take_batch(self._lanes[lane], lambda one: len(one[0]))
            results: List[Result[Any]] = [
                TarryError("the event loop ended during the request", "unknown_outcome")
            ] * len(batch)
            try:
                results = await self._results(lane, [item for item, _ in batch], read)
            finally:
                for (_, future), result in zip(batch, results):
                    if not future.done():
                        future.set_result(result)
        del self._lanes[lane]

    async def _results(self, lane: Lane, items: List[bytes], read: Callable[[Any], Any]
                       ) -> List[Result[Any]]:
        try:
            return await self._send(lane, items, read)
        except InvalidRequest as error:
            if len(items) == 1:
                return [error]
        except TarryError as error:
            return [error] * len(items)
        return [(await self._results(lane, [item], read))[0] for item in items]
