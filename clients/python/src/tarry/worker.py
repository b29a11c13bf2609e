"""Worker: claims due messages and runs a handler for each, in threads."""

from __future__ import annotations

import logging
import signal
import threading
from collections import deque
from dataclasses import replace
from datetime import timedelta
from typing import Any, Deque, Dict, List, Mapping, Optional, Union

from . import tracing, verbs
from .book import Book, Counts, Held, Settlement, is_passing
from .calls import Backoff, Lane
from .client import Client, Queue
from .connection import Connection, NotSent
from .delivery import Delivery, Handler, WorkerOptions
from .errors import TarryError, error_of
from .model import Action, Claim, Result, Settled
from .moments import elapsed
from .verdicts import settlement_of

log = logging.getLogger("tarry")
CLAIM_WAIT = timedelta(seconds=20)


class Worker:
    """Serves queues, each with its handler, until it is stopped.

    A handler returns, which is an ack, or returns or raises a verdict: `retry`, `release`, `bury`.
    Any other exception is a retry with its text as the reason. No handler begins after its
    message's lease. `run` is called once; all other members from any thread.
    """

    def __init__(self, client: Client, handlers: Mapping[str, Handler],
                 options: Optional[WorkerOptions] = None, **more: Any) -> None:
        """`more`: fields of WorkerOptions."""
        if not handlers:
            raise ValueError("a worker needs a handler for at least one queue")
        self._client = client
        self._handlers: Dict[str, Handler] = dict(handlers)
        self._options = replace(options or WorkerOptions(), **more)
        self._lock = threading.Lock()
        self._room_news = threading.Condition(self._lock)
        self._settle_news = threading.Condition(self._lock)
        self._extend_news = threading.Condition(self._lock)
        self._work = threading.Condition(self._lock)
        self._book = Book()
        self._waiting: Deque[Held] = deque()
        self._running: Dict[str, Delivery] = {}
        self._stopping = threading.Event()
        self._finished = False
        self._claiming: Optional[Connection] = None
        self._claim_idle = False
        self._failure: Optional[TarryError] = None
        self._ran = False

    @property
    def counts(self) -> Counts:
        """How deliveries have ended so far."""
        with self._lock:
            return replace(self._book.counts)

    def stop(self) -> None:
        """Claims nothing more; `run` returns once handlers have ended and all is settled."""
        with self._lock:
            self._stopping.set()
            self._book.stop(elapsed())
            if self._claiming is not None:
                self._claiming.abort()
            for delivery in self._running.values():
                delivery.stop.set()
            while self._waiting:
                self._give_back(self._waiting.popleft())
            self._wake()

    def run(self, *, signals: bool = False) -> Counts:
        """Works until `stop`. Raises the error by which the server became unusable.

        With `signals`, SIGTERM and SIGINT stop it (only in the main thread).
        """
        if self._ran:
            raise error_of("misuse", "a worker runs once; make another one")
        self._ran = True
        if signals:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: threading.Thread(target=self.stop).start())
        threads = [threading.Thread(target=self._handle_all, name=f"tarry-handler-{number}",
                                    daemon=True)
                   for number in range(self._options.concurrency)]
        services = [threading.Thread(target=one, name=f"tarry-{one.__name__.strip('_')}",
                                     daemon=True)
                    for one in (self._claim_all, self._settle_all, self._extend_all)]
        for thread in threads + services:
            thread.start()
        # In pieces, so that the main thread sees signals.
        while not self._stopping.wait(3600):
            pass
        end = float("inf") if self._options.drain is None else elapsed() + self._options.drain
        for thread in threads:
            thread.join(None if end == float("inf") else max(0.0, end - elapsed()))
        with self._lock:
            end = elapsed() + 10
            while self._book.is_settling and elapsed() < end:
                self._settle_news.wait(1)
            self._finished = True
            self._wake()
        for thread in services:
            thread.join()
        if self._failure is not None:
            raise self._failure
        return self.counts

    # -- claims

    def _claim_all(self) -> None:
        backoff = Backoff()
        connection: Optional[Connection] = None
        try:
            while True:
                room = self._room()
                if not room:
                    return
                try:
                    if connection is None or not connection.is_open():
                        if connection is not None:
                            connection.close()
                            connection = None
                        self._claims_later()
                        connection = self._client.pool.take()
                    connection = self._claim(connection, room)
                    backoff.reset()
                except NotSent as error:
                    self._pause(error_of("unavailable", str(error)), backoff)
                except TarryError as error:
                    if connection is not None:
                        connection.close()
                    connection = None
                    self._pause(error, backoff)
        finally:
            if connection is not None:
                connection.close()

    def _room(self) -> int:
        """Waits until there is room for more; 0 after a stop."""
        with self._lock:
            self._claim_idle = True
            while not self._stopping.is_set():
                room = self._space()
                if room > 0:
                    return room
                self._room_news.wait()
            return 0

    def _space(self) -> int:
        """How many messages to claim now."""
        options = self._options
        if len(self._waiting) > options.prefetch // 2:
            return 0
        return options.concurrency + options.prefetch - len(self._book.held)

    def _claims_later(self) -> None:
        """Settlements do not wait while the thread of the claims waits."""
        with self._lock:
            self._claim_idle = False
            self._settle_news.notify_all()

    def _claim_takes_them(self) -> bool:
        """Whether the next claim is about to be sent, and takes the settlements with it."""
        takes = (self._claim_idle and self._book.joins and not self._stopping.is_set()
                 and self._space() > 0)
        if takes:
            self._room_news.notify()
        return takes

    def _claim(self, connection: Connection, room: int) -> Optional[Connection]:
        """Claims once; returns the connection if it can be kept."""
        with self._lock:
            if self._stopping.is_set():
                connection.close()
                return None
            batch = self._book.joined()
            self._claim_idle = False
            # A claim that settles does not wait, so a stop need not end it.
            self._claiming = None if batch else connection
        call = verbs.claim(list(self._handlers), room, None, self._options.lease,
                           None if batch else CLAIM_WAIT, settle=[one.item for one in batch])
        sent = elapsed()
        keep = False
        answer: Union[Claim, TarryError]
        try:
            claim, http = self._client.once(connection, call)
            answer, keep = claim, http.keep
        except TarryError as failed:
            answer = failed
        error = self._claimed(batch, answer, sent)
        if error is not None or not keep:
            connection.close()
        if error is not None:
            raise error
        return connection if keep else None

    def _claimed(self, batch: List[Settlement], answer: Union[Claim, TarryError], sent: float
                 ) -> Optional[TarryError]:
        """Takes an answer; the error that the claim has."""
        with self._lock:
            self._claiming = None
            error = self._book.claimed(batch, answer, elapsed())
            refusals, self._book.refusals = self._book.refusals, []
            if isinstance(answer, Claim):
                begun = sent + answer.waited_ms / 1000 if answer.waited_ms >= 0 else elapsed()
                for message in answer.messages:
                    held = self._book.hold(message, begun)
                    if self._stopping.is_set():
                        self._give_back(held)
                    else:
                        self._waiting.append(held)
            self._claim_idle = error is None
            self._wake()
        for refusal in refusals:
            log.error("settle: %s", refusal)
        return error

    def _pause(self, error: TarryError, backoff: Backoff) -> None:
        """Waits before the next claim; an error that waiting does not end stops the worker."""
        if self._stopping.is_set():
            return
        if not is_passing(error):
            self._failure = error
            self.stop()
            return
        log.warning("claim: %s", error)
        self._stopping.wait(backoff.next())

    # -- handlers

    def _handle_all(self) -> None:
        while True:
            with self._lock:
                while not self._waiting and not self._stopping.is_set():
                    self._work.wait()
                if self._stopping.is_set():
                    return
                held = self._waiting.popleft()
                if len(self._waiting) <= self._options.prefetch // 2:
                    self._room_news.notify()
                if held.lost or elapsed() >= held.end:
                    self._give_back(held)
                    self._wake()
                    continue
                held.begun = True
                delivery = Delivery(held.message)
                self._running[held.message.receipt] = delivery
                self._book.counts.delivered += 1
            result = self._handle(delivery)
            action, item = settlement_of(held.message.receipt, result)
            with self._lock:
                del self._running[held.message.receipt]
                self._book.end(held, action, item)
                self._settle_news.notify()
                if not self._waiting:
                    self._room_news.notify()

    def _handle(self, delivery: Delivery) -> object:
        message = delivery.message
        try:
            with tracing.handling(message.queue, message.key, message.headers):
                return self._handlers[message.queue](delivery)
        except BaseException as error:  # whatever a handler raises is its verdict
            if not isinstance(error, Exception):
                log.error("the handler of %s raised %r", message.queue, error)
            return error

    def _give_back(self, held: Held) -> None:
        self._book.end(held, Action.RELEASE)

    def _wake(self) -> None:
        for news in (self._room_news, self._settle_news, self._extend_news, self._work):
            news.notify_all()

    # -- settlements and extensions

    def _settle_all(self) -> None:
        backoff = Backoff()
        while True:
            with self._lock:
                while not self._finished and (
                        not self._book.has_settlements or self._claim_takes_them()):
                    self._settle_news.wait()
                if not self._book.has_settlements:
                    return
                batch = self._book.settlements()
            results = self._asked(verbs.SETTLE, [one.item for one in batch],
                                  self._client.timeout)
            with self._lock:
                took = self._book.settled(batch, results, elapsed())
                refusals, self._book.refusals = self._book.refusals, []
                if self._stopping.is_set():
                    self._settle_news.notify_all()
                self._room_news.notify()
            for refusal in refusals:
                log.error("settle: %s", refusal)
            if took:
                backoff.reset()
            else:
                self._sleep(backoff.next())

    def _extend_all(self) -> None:
        while True:
            with self._lock:
                if self._finished:
                    return
                now = elapsed()
                for held in self._book.overdue(now):
                    self._signal_lost(held)
                batch = self._book.extensions(now)
                if not batch:
                    at = self._book.next_extension()
                    self._extend_news.wait(None if at is None else max(0.0, at - now))
                    continue
                # Not for longer than the leases hold, so that handlers are told in time.
                left = max(0.1, min(held.end for held in batch) - now)
            sent = elapsed()
            results = self._asked(
                verbs.EXTEND, [verbs.extend_body(held.message.receipt, self._options.lease)
                               for held in batch], min(left, self._client.timeout))
            with self._lock:
                for held in self._book.extended(batch, results, sent, elapsed()):
                    if held in self._waiting:
                        self._waiting.remove(held)
                        self._book.end(held, Action.RELEASE)
                    else:
                        self._signal_lost(held)
                self._room_news.notify()

    def _signal_lost(self, held: Held) -> None:
        delivery = self._running.get(held.message.receipt)
        if delivery is not None:
            delivery.lost = True
            delivery.stop.set()

    def _asked(self, lane: Lane, items: List[bytes], timeout: float) -> List[Result[Settled]]:
        try:
            return self._client.run(lane.call(items, verbs.read_settled), patience=0,
                                    timeout=timeout)
        except TarryError as error:
            return [error] * len(items)

    def _sleep(self, seconds: float) -> None:
        end = elapsed() + seconds
        with self._lock:
            while not self._finished and elapsed() < end:
                self._settle_news.wait(end - elapsed())


def work(queue: Queue, handler: Handler, **options: Any) -> Counts:
    """Serves one queue until SIGTERM or SIGINT."""
    return Worker(queue.client, {queue.name: handler}, **options).run(signals=True)


