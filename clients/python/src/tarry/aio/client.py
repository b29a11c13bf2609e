"""Client and Queue, for asyncio."""

from __future__ import annotations

import asyncio
import os
import ssl
from datetime import timedelta
from typing import (
    Any,
    AsyncIterator,
    Callable,
    Dict,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
    Union,
)

from .. import tracing, verbs
from ..address import Address, address_of
from ..calls import Attempts, Call, Done, Lane
from ..client import default_agent
from ..connection import Lost, NotSent
from ..errors import TarryError, UnknownOutcome, error_of
from ..http1 import Answer, common_head, request_bytes
from ..model import (
    Action,
    Bulk,
    Bytes,
    Changed,
    Claimed,
    History,
    IfExists,
    Message,
    Page,
    Pushed,
    QueueInfo,
    Result,
    Settled,
    State,
    Stored,
    Why,
)
from ..moments import Duration, Moment
from .connection import Connection, Pool
from .joiner import Joiner
from .schedule_verbs import ScheduleVerbs

T = TypeVar("T")


class Client(ScheduleVerbs):
    """A server's client: kept connections, and calls that are tried again where that is safe.

    For one event loop; not thread safe.

    - `url`: `http://HOST:PORT`, `https://HOST:PORT` or `http+unix:///PATH`; else TARRY_URL, else
      http://127.0.0.1:7733.
    - `token`: else the environment's TARRY_TOKEN.
    - `ca`, `cert`, `key`: PEM files for https; or `tls`, an SSL context.
    - `timeout`: seconds for one answer, besides the wait of a claim.
    - `patience`: seconds for which a call goes on while nothing was done, because the server is
      away or refuses for the moment.
    """

    def __init__(self, url: Optional[str] = None, *, token: Optional[str] = None,
                 ca: Optional[str] = None, cert: Optional[str] = None, key: Optional[str] = None,
                 tls: Optional[ssl.SSLContext] = None, timeout: float = 30.0,
                 patience: float = 10.0, agent: Optional[str] = None) -> None:
        self.address: Address = address_of(url, ca, cert, key, tls)
        self.timeout = timeout
        self.patience = patience
        self.token = token or os.environ.get("TARRY_TOKEN") or None
        self.agent = agent or default_agent()
        self.head = common_head(self.address.host_header, self.agent, self.token)
        self.pool = Pool(self.address, min(timeout, 10.0))
        self._joiner = Joiner(self._send_lane)
        self._closed = False

    async def close(self) -> None:
        """Closes the connections. Calls under way still end."""
        self._closed = True
        self.pool.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def queue(self, name: str) -> Queue:
        """A handle. It asks the server nothing."""
        return Queue(self, name)

    # -- claims

    async def claim(self, queues: Sequence[str], *, max: Optional[int] = None,
              max_bytes: Optional[int] = None, lease: Optional[Duration] = None,
              wait: Optional[timedelta] = None) -> Tuple[Claimed, ...]:
        """Claims due messages of one or more queues; waits for the first for up to `wait`.

        Measure their leases from before this call. The worker does it for you.
        """
        return (await self.run(verbs.claim(queues, max, max_bytes, lease, wait))).messages

    async def settle(self, receipt: str, action: Union[Action, str] = Action.ACK, *,
               delay: Optional[Duration] = None, reason: Optional[str] = None,
               priority: Optional[int] = None) -> Settled:
        """Ends a claim. `stale`: it had ended before."""
        return await self._single((verbs.SETTLE,
                             verbs.settle_body(receipt, action, delay, reason, priority)),
                            verbs.read_settled)

    async def settle_many(self, items: Sequence[bytes]) -> List[Result[Settled]]:
        """Ends claims; the items are made by `verbs.settle_body`."""
        return await self._batch([(verbs.SETTLE, item) for item in items], verbs.read_settled)

    async def ack(self, receipt: str) -> Settled:
        return await self.settle(receipt)

    async def retry(self, receipt: str, delay: Optional[Duration] = None,
              reason: Optional[str] = None) -> Settled:
        return await self.settle(receipt, Action.RETRY, delay=delay, reason=reason)

    async def release(self, receipt: str) -> Settled:
        return await self.settle(receipt, Action.RELEASE)

    async def bury(self, receipt: str, reason: Optional[str] = None) -> Settled:
        return await self.settle(receipt, Action.BURY, reason=reason)

    async def extend(self, receipt: str, lease: Optional[Duration] = None) -> Settled:
        """The lease begins anew now. `stale`: it has ended."""
        return await self._single((verbs.EXTEND, verbs.extend_body(receipt, lease)),
                            verbs.read_settled)

    async def extend_many(self, receipts: Sequence[str], lease: Optional[Duration] = None
                    ) -> List[Result[Settled]]:
        return await self._batch([(verbs.EXTEND, verbs.extend_body(receipt, lease))
                            for receipt in receipts], verbs.read_settled)

    # -- the server

    async def queues(self) -> List[QueueInfo]:
        return await self.run(verbs.queues())

    async def stats(self, queue: Optional[str] = None) -> Dict[str, Any]:
        return await self.run(verbs.stats(queue))

    async def health(self) -> Dict[str, Any]:
        return await self.run(verbs.health())

    async def ready(self) -> Dict[str, Any]:
        """Raises Unavailable while the server cannot serve."""
        return await self.run(verbs.ready())

    async def advance(self, by: Duration) -> int:
        """Moves the clock of a server with --test-clock; milliseconds."""
        return await self.run(verbs.advance(by))

    # -- how calls are carried out

    async def run(self, call: Call[T], *, patience: Optional[float] = None,
            timeout: Optional[float] = None) -> T:
        """Carries out a call, again and again where that is safe. Raises TarryError."""
        attempts = Attempts(call.repeatable, self.patience if patience is None else patience)
        seconds = (self.timeout if timeout is None else timeout) + call.wait
        request = request_bytes(call.method, call.path, self.head, call.body)
        while True:
            try:
                answer = await self.pool.ask(request, seconds)
            except NotSent as error:
                pause = attempts.again(error_of("unavailable", str(error)))
            except Lost as error:
                pause = attempts.lost(str(error))
            else:
                read = attempts.read(call, answer)
                if isinstance(read, Done):
                    return read.value
                pause = read
            await asyncio.sleep(pause)
            if self._closed:
                raise error_of("closed", "the client was closed")

    async def once(self, connection: Connection, call: Call[T]) -> Tuple[T, Answer]:
        """One try, on that connection. Raises TarryError."""
        request = request_bytes(call.method, call.path, self.head, call.body)
        try:
            answer = await connection.ask(request, self.timeout + call.wait)
        except Lost as error:
            raise error_of("unknown_outcome", str(error)) from error
        read = Attempts(call.repeatable, 0).read(call, answer)
        assert isinstance(read, Done)  # without patience it raises
        return read.value, answer

    async def _single(self, item: verbs.Item, read: Callable[[Any], T]) -> T:
        return await self._joiner.ask(item[0], item[1], read)

    async def _send_lane(self, lane: Lane, items: List[bytes], read: Callable[[Any], Any]
                   ) -> List[Result[Any]]:
        return await self.run(lane.call(items, read))

    async def _batch(self, items: Sequence[verbs.Item], read: Callable[[Any], T]
                     ) -> List[Result[T]]:
        results: List[Optional[Result[T]]] = [None] * len(items)
        for lane, indexes in verbs.by_lane(items).items():
            try:
                said = await self.run(lane.call([items[index][1] for index in indexes], read))
            except UnknownOutcome as error:
                said = [error] * len(indexes)
            except TarryError as error:
                if len(indexes) == len(items):
                    raise
                said = [error] * len(indexes)
            for index, result in zip(indexes, said):
                results[index] = result
        return [result for result in results if result is not None]


class Queue:
    """A queue of a client. Thread safe."""

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self.name = name

    async def push(self, payload: Bytes = b"", *, key: Optional[Bytes] = None,
             delay: Optional[Duration] = None, due: Optional[Moment] = None,
             headers: Optional[Mapping[str, str]] = None, priority: Optional[int] = None,
             if_exists: Optional[Union[IfExists, str]] = None,
             max_attempts: Optional[int] = None, expire: Optional[Duration] = None,
             expire_at: Optional[Moment] = None, spread: Optional[Duration] = None) -> Pushed:
        """Pushes a message, due after `delay` or at `due`. A taken key is an outcome: look at it.

        Raises UnknownOutcome if the answer was lost; with a key you may push again.
        """
        return await self.push_message(Message(payload, key, delay, due, headers, priority,
                                               if_exists, max_attempts, expire, expire_at,
                                               spread))

    async def push_message(self, message: Message) -> Pushed:
        with tracing.sending("push", self.name) as trace:
            return await self.client._single(verbs.push_item(self.name, message, trace),
                                       verbs.read_push)

    async def push_many(self, messages: Sequence[Message]) -> List[Result[Pushed]]:
        """A result for each message, or its error."""
        with tracing.sending("push", self.name) as trace:
            return await self.client._batch([verbs.push_item(self.name, message, trace)
                                       for message in messages], verbs.read_push)

    async def get(self, key: Bytes) -> Stored:
        """Raises NotFound."""
        return await self.client._single(verbs.get_item(self.name, key), verbs.read_stored)

    async def get_many(self, keys: Sequence[Bytes]) -> List[Result[Stored]]:
        return await self.client._batch([verbs.get_item(self.name, key) for key in keys],
                                  verbs.read_stored)

    async def why(self, key: Bytes) -> Why:
        """Why the message has not been delivered, in one sentence. Raises NotFound."""
        return await self.client.run(verbs.why(self.name, key))

    async def history(self, key: Bytes) -> History:
        """What has happened to the message, if the queue has the setting history. Raises
        NotFound."""
        return await self.client.run(verbs.history(self.name, key))

    async def cancel(self, key: Bytes) -> Changed:
        return await self.client._single(verbs.cancel_item(self.name, key), verbs.read_change)

    async def cancel_many(self, keys: Sequence[Bytes]) -> List[Result[Changed]]:
        return await self.client._batch([verbs.cancel_item(self.name, key) for key in keys],
                                  verbs.read_change)

    async def reschedule(self, key: Bytes, *, delay: Optional[Duration] = None,
                   due: Optional[Moment] = None, priority: Optional[int] = None) -> Changed:
        return await self.client._single(
            verbs.reschedule_item(self.name, key, delay, due, priority), verbs.read_change)

    async def reschedule_many(self, items: Sequence[verbs.Item]) -> List[Result[Changed]]:
        """The items are made by `moved`."""
        return await self.client._batch(items, verbs.read_change)

    def moved(self, key: Bytes, *, delay: Optional[Duration] = None,
              due: Optional[Moment] = None, priority: Optional[int] = None) -> verbs.Item:
        """An item for `reschedule_many`."""
        return verbs.reschedule_item(self.name, key, delay, due, priority)

    async def claim(self, *, max: Optional[int] = None, max_bytes: Optional[int] = None,
              lease: Optional[Duration] = None, wait: Optional[timedelta] = None,
              keys: Optional[Sequence[Bytes]] = None, any_state: bool = False
              ) -> Tuple[Claimed, ...]:
        """As `Client.claim`; with `keys` only these messages, with `any_state` whatever their
        state."""
        return (await self.client.run(verbs.claim([self.name], max, max_bytes, lease, wait, keys,
                                           any_state))).messages

    async def list_page(self, *, state: Optional[Union[State, str]] = None,
                  prefix: Optional[str] = None, limit: Optional[int] = None,
                  after: Optional[str] = None) -> Page:
        return await self.client.run(verbs.list_page(self.name, state, prefix, limit, after))

    async def list(self, *, state: Optional[Union[State, str]] = None, prefix: Optional[str] = None,
             limit: Optional[int] = None) -> AsyncIterator[Stored]:
        """All messages, page after page of `limit`, without payloads."""
        after: Optional[str] = None
        while after != "":
            page = await self.list_page(state=state, prefix=prefix, limit=limit, after=after)
            for message in page.messages:
                yield message
            after = page.next

    def dead(self) -> AsyncIterator[Stored]:
        """The dead messages, with their reasons."""
        return self.list(state=State.DEAD)

    async def revive(self, keys: Optional[Sequence[Bytes]] = None) -> int:
        """Revives dead messages: these, or all. How many there were."""
        return await self.client.run(verbs.revive(self.name, keys))

    async def bulk(self, action: str, *, prefix: Optional[str] = None,
             state: Optional[Union[State, str]] = None, due_from: Optional[Moment] = None,
             due_to: Optional[Moment] = None, headers: Optional[Mapping[str, str]] = None,
             reason: Optional[str] = None, due: Optional[Moment] = None,
             by: Optional[timedelta] = None, dry_run: bool = False) -> Bulk:
        """`cancel`, `reschedule`, `revive` or `remove` of all messages that match."""
        body = verbs.bulk_body(action, prefix, state, due_from, due_to, headers, reason, due, by,
                               dry_run)
        matched = failed = 0
        outcomes: Dict[str, int] = {}
        while True:
            page = await self.client.run(verbs.bulk_page(self.name, body))
            matched += page["matched"]
            failed += page["failed"]
            for outcome, count in page["outcomes"].items():
                outcomes[outcome] = outcomes.get(outcome, 0) + count
            if not page.get("next"):
                return Bulk(matched, outcomes, failed)
            body["after"] = page["next"]

    async def configure(self, **settings: Any) -> Dict[str, Any]:
        """Changes settings: lease, max_attempts, backoff_min, backoff_max, remember, dead_keep,
        if_exists, objective (such as "99% within 1s"), expire, on_expiry,
        max_leased, rate (such as "100/1s burst 20"), group (such as "header:tenant"),
        group_max_leased, history, group_order (due or push). Answers all of them."""
        return await self.client.run(verbs.configure(self.name, settings))

    async def info(self) -> QueueInfo:
        return await self.client.run(verbs.info(self.name))

    async def stats(self) -> Dict[str, Any]:
        return await self.client.stats(self.name)

    async def forecast(self, width: Optional[timedelta] = None, buckets: Optional[int] = None,
                       rate: Optional[float] = None, arrivals: Optional[float] = None
                       ) -> Dict[str, Any]:
        """How many messages fall due when. With a rate of claims a second, and of new messages a
        second, also the `projection`: when the backlog is drained, and how late messages come."""
        return await self.client.run(
            verbs.forecast(self.name, width, buckets, rate, arrivals))

    async def pause(self, until: Optional[Moment] = None) -> bool:
        return await self.client.run(verbs.pause(self.name, until))

    async def resume(self) -> bool:
        return await self.client.run(verbs.resume(self.name))

    async def purge(self) -> int:
        return await self.client.run(verbs.purge(self.name))

    async def remove(self, force: bool = False) -> int:
        return await self.client.run(verbs.remove(self.name, force))
