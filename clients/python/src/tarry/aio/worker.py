"""Worker: claims due messages and runs a coroutine for each, in one event loop."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections import deque
from dataclasses import replace
from typing import Any, Awaitable, Callable, Deque, Dict, List, Mapping, Optional, Set, Union

from .. import tracing, verbs
from ..book import Book, Counts, Held, Settlement, is_passing
from ..calls import Backoff, Lane
from ..connection import NotSent
from ..delivery import WorkerOptions
from ..errors import TarryError, error_of
from ..model import Action, Claim, Claimed, Result, Settled
from ..moments import elapsed
from ..verdicts import settlement_of
from ..worker import CLAIM_WAIT
from .client import Client
from .connection import Connection

log = logging.getLogger("tarry")


class Delivery:
    """A message in a handler's hands. `stop` is set when the worker stops, and when the claim is
    lost (`lost`): another delivery may begin."""

    def __init__(self, message: Claimed) -> None:
        self.message = message
        self.queue = message.queue
        self.id = message.id
        self.key = message.key
        self.payload = message.payload
        self.headers = message.headers
        self.attempt = message.attempt
        self.stop = asyncio.Event()
        self.lost = False

    @property
    def text(self) -> str:
        return self.message.text


Handler = Callable[[Delivery], Awaitable[Any]]


class Worker:
    """As tarry.Worker, with coroutines as handlers; `concurrency` is how many run at once."""

    def __init__(self, client: Client, handlers: Mapping[str, Handler],
                 options: Optional[WorkerOptions] = None, **more: Any) -> None:
        if not handlers:
            raise ValueError("a worker needs a handler for at least one queue")
        self._client = client
        self._handlers: Dict[str, Handler] = dict(handlers)
        self._options = replace(options or WorkerOptions(concurrency=64), **more)
        self._book = Book()
        self._waiting: Deque[Held] = deque()
        self._running: Dict[str, Delivery] = {}
        self._tasks: Set[asyncio.Task[None]] = set()
        self._stopping = False
        self._finished = False
        self._claim_task: Optional[asyncio.Task[None]] = None
        self._claim_idle = False
        self._claim_settles = False
        self._failure: Optional[TarryError] = None
        self._room_news = asyncio.Event()
        self._settle_news = asyncio.Event()
        self._extend_news = asyncio.Event()
        self._idle = asyncio.Event()

    @property
    def counts(self) -> Counts:
        return replace(self._book.counts)

    def stop(self) -> None:
        """Claims nothing more; `run` returns once handlers have ended and all is settled."""
        if self._stopping:
            return
        self._stopping = True
        self._book.stop(elapsed())
        claiming = self._claim_task
        if self._claim_settles and claiming is not None:  # it does not wait: let it end
            asyncio.get_running_loop().call_later(10, claiming.cancel)
        elif claiming is not None and claiming is not asyncio.current_task():
            claiming.cancel()
        for delivery in self._running.values():
            delivery.stop.set()
        while self._waiting:
            self._book.end(self._waiting.popleft(), Action.RELEASE)
        self._note_idle()
        self._settle_news.set()

    async def run(self, *, signals: bool = False) -> Counts:
        """Works until `stop`. Raises the error by which the server became unusable."""
        if signals:
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self.stop)
        claiming = self._claim_task = asyncio.ensure_future(self._claim_all())
        settling = asyncio.ensure_future(self._settle_all())
        extending = asyncio.ensure_future(self._extend_all())
        try:
            await asyncio.wait([claiming])
            try:
                await asyncio.wait_for(self._idle.wait(), self._options.drain)
            except asyncio.TimeoutError:
                for task in self._tasks:
                    task.cancel()
            self._finished = True
            self._settle_news.set()
            await asyncio.wait([settling], timeout=10)
        finally:
            for one in (claiming, settling, extending):
                one.cancel()
            await asyncio.gather(claiming, settling, extending, return_exceptions=True)
        if self._failure is not None:
            raise self._failure
        return self.counts

    def _note_idle(self) -> None:
        if self._stopping and not self._running:
            self._idle.set()

    # -- claims

    async def _claim_all(self) -> None:
        backoff = Backoff()
        connection: Optional[Connection] = None
        try:
            while not self._stopping:
                room = await self._room()
                try:
                    if connection is None or not connection.is_open():
                        self._claim_idle = False
                        self._settle_news.set()
                        connection = await self._client.pool.take()
                    if not await self._claim(connection, room):
                        connection.close()
                        connection = None
                    backoff.reset()
                except NotSent as error:
                    await self._pause(error_of("unavailable", str(error)), backoff)
                except TarryError as error:
                    if connection is not None:
                        connection.close()
                    connection = None
                    await self._pause(error, backoff)
        finally:
            if connection is not None:
                connection.close()

    async def _room(self) -> int:
        self._claim_idle = True
        while True:
            room = self._space()
            if room > 0:
                return room
            self._room_news.clear()
            await self._room_news.wait()

    def _space(self) -> int:
        """How many messages to claim now."""
        options = self._options
        if len(self._waiting) > options.prefetch // 2:
            return 0
        return options.concurrency + options.prefetch - len(self._book.held)

    def _claim_takes_them(self) -> bool:
        """Whether the next claim is about to be sent, and takes the settlements with it."""
        takes = (self._claim_idle and self._book.joins and not self._stopping
                 and self._space() > 0)
        if takes:
            self._room_news.set()
        return takes

    async def _claim(self, connection: Connection, room: int) -> bool:
        """Claims once; whether the connection can be kept."""
        batch = self._book.joined()
        self._claim_idle = False
        self._claim_settles = bool(batch)
        call = verbs.claim(list(self._handlers), room, None, self._options.lease,
                           None if batch else CLAIM_WAIT, settle=[one.item for one in batch])
        sent = elapsed()
        keep = False
        answer: Union[Claim, TarryError] = error_of("unknown_outcome", "the claim was cancelled")
        try:
            claim, http = await self._client.once(connection, call)
            answer, keep = claim, http.keep
        except TarryError as failed:
            answer = failed
        finally:
            error = self._claimed(batch, answer, sent)
        if error is not None:
            raise error
        return keep

    def _claimed(self, batch: List[Settlement], answer: Union[Claim, TarryError], sent: float
                 ) -> Optional[TarryError]:
        """Takes an answer; the error that the claim has."""
        self._claim_settles = False
        error = self._book.claimed(batch, answer, elapsed())
        self._tell_refusals()
        if isinstance(answer, Claim):
            begun = sent + answer.waited_ms / 1000 if answer.waited_ms >= 0 else elapsed()
            for message in answer.messages:
                held = self._book.hold(message, begun)
                if self._stopping:
                    self._book.end(held, Action.RELEASE)
                else:
                    self._waiting.append(held)
        self._claim_idle = error is None
        self._start()
        self._extend_news.set()
        self._settle_news.set()
        return error

    def _tell_refusals(self) -> None:
        refusals, self._book.refusals = self._book.refusals, []
        for refusal in refusals:
            log.error("settle: %s", refusal)

    async def _pause(self, error: TarryError, backoff: Backoff) -> None:
        if not is_passing(error):
            self._failure = error
            self.stop()
            return
        log.warning("claim: %s", error)
        await asyncio.sleep(backoff.next())

    # -- handlers

    def _start(self) -> None:
        while self._waiting and len(self._running) < self._options.concurrency:
            held = self._waiting.popleft()
            if held.lost or elapsed() >= held.end:
                self._book.end(held, Action.RELEASE)
                self._settle_news.set()
                continue
            held.begun = True
            delivery = Delivery(held.message)
            self._running[held.message.receipt] = delivery
            self._book.counts.delivered += 1
            task = asyncio.ensure_future(self._handle(held, delivery))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _handle(self, held: Held, delivery: Delivery) -> None:
        message = delivery.message
        result: object
        try:
            with tracing.handling(message.queue, message.key, message.headers):
                result = await self._handlers[message.queue](delivery)
        except (Exception, asyncio.CancelledError) as error:
            result = error
        action, item = settlement_of(message.receipt, result)
        del self._running[message.receipt]
        self._book.end(held, action, item)
        self._settle_news.set()
        self._start()
        self._room_news.set()
        self._note_idle()

    # -- settlements and extensions

    async def _settle_all(self) -> None:
        backoff = Backoff()
        while True:
            if not self._book.has_settlements or self._claim_takes_them():
                if self._finished:
                    return
                self._settle_news.clear()
                await self._settle_news.wait()
                continue
            batch = self._book.settlements()
            results = await self._asked(verbs.SETTLE, [one.item for one in batch],
                                        self._client.timeout)
            took = self._book.settled(batch, results, elapsed())
            self._tell_refusals()
            self._room_news.set()
            if took:
                backoff.reset()
            else:
                await asyncio.sleep(backoff.next())

    async def _extend_all(self) -> None:
        while True:
            now = elapsed()
            for held in self._book.overdue(now):
                self._signal_lost(held)
            batch = self._book.extensions(now)
            if not batch:
                at = self._book.next_extension()
                self._extend_news.clear()
                try:
                    await asyncio.wait_for(self._extend_news.wait(),
                                           None if at is None else max(0.001, at - now))
                except asyncio.TimeoutError:
                    pass
                continue
            left = max(0.1, min(held.end for held in batch) - now)
            results = await self._asked(
                verbs.EXTEND, [verbs.extend_body(held.message.receipt, self._options.lease)
                               for held in batch], min(left, self._client.timeout))
            for held in self._book.extended(batch, results, now, elapsed()):
                if held in self._waiting:
                    self._waiting.remove(held)
                    self._book.end(held, Action.RELEASE)
                else:
                    self._signal_lost(held)
            self._room_news.set()

    def _signal_lost(self, held: Held) -> None:
        delivery = self._running.get(held.message.receipt)
        if delivery is not None:
            delivery.lost = True
            delivery.stop.set()

    async def _asked(self, lane: Lane, items: List[bytes], timeout: float
                     ) -> List[Result[Settled]]:
        try:
            return await self._client.run(lane.call(items, verbs.read_settled), patience=0,
                                          timeout=timeout)
        except TarryError as error:
            return [error] * len(items)
